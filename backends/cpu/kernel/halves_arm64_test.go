//go:build !noasm

package kernel

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Arithmetic of binary16 has the results of float32 rounded once: for every number alone, beside numbers of each
// exponent, and for scalars and bounds that binary16 does not have.
func TestFP16_equalsFloat32Rounded(t *testing.T) {
	isa, err := ParseISA("fp16")
	require.NoError(t, err)
	if isa > best {
		t.Skip("SKIP: this processor has no arithmetic of binary16")
	}
	plain, err := Select(Generic)
	require.NoError(t, err)
	defer plain()
	work := make([]float32, HalvesWork)
	var all []uint16
	var wide []float32
	for h := range 1 << 16 {
		all, wide = append(all, uint16(h)), append(wide, halfToFloat(uint16(h)))
	}
	dst, want, line := make([]uint16, len(all)), make([]float32, len(all)), make([]uint16, len(all))
	for _, op := range []UnaryOp{Relu, Relu6, Clamp, Sqrt, Abs, Neg, Floor, Ceil, Round} {
		for _, bounds := range [][2]float32{{-0.5, 0.75}, {0.1, 1e6}, {0x1p-24, 0x1p-20}, {-1e-9, 1e-9}} {
			Unary(op, want, wide, bounds[0], bounds[1])
			restore, err := Select(isa)
			require.NoError(t, err)
			UnaryHalves(Binary16, op, dst, all, bounds[0], bounds[1], work)
			restore()
			checkHalves(t, Binary16, op.String(), dst, want)
		}
	}
	restore, err := Select(isa)
	require.NoError(t, err)
	defer restore()
	for op := range Pow {
		for h := 0; h < 1<<16; h += 331 {
			b := halfToFloat(uint16(h))
			for i := range line {
				line[i] = uint16(h)
			}
			for i, x := range wide {
				want[i] = scalarBinary[op](x, b)
			}
			BinaryHalvesVV(Binary16, op, dst, all, line, work)
			checkHalves(t, Binary16, fmt.Sprint(op, " with ", b), dst, want)
			BinaryHalvesVS(Binary16, op, dst, all, b, false, work)
			checkHalves(t, Binary16, fmt.Sprint(op, " by ", b), dst, want)
			for i, x := range wide {
				want[i] = scalarBinary[op](b, x)
			}
			BinaryHalvesVS(Binary16, op, dst, all, b, true, work)
			checkHalves(t, Binary16, fmt.Sprint(op, " of ", b), dst, want)
		}
		for _, s := range []float32{0.1, 1e-9, 1e6} {
			for i, x := range wide {
				want[i] = scalarBinary[op](s, x)
			}
			BinaryHalvesVS(Binary16, op, dst, all, s, true, work)
			checkHalves(t, Binary16, fmt.Sprint(op, " of ", s), dst, want)
		}
	}
}
