package tensor

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The packing against one large number that holds all elements, the first in its low bits.
func TestPutCode_packsWithoutGaps(t *testing.T) {
	for _, d := range []DType{Int2, Uint2, Int4, Uint4, Float4E2M1, Float6E2M3, Float6E3M2, Int8, Float8E8M0} {
		const n = 23
		bits := d.Bits()
		size, ok := d.ByteSize(n)
		require.True(t, ok)
		require.Equal(t, int64(n*bits+7)/8, size)
		all := new(big.Int)
		data := make([]byte, size)
		for i := range n {
			code := (i*37 + 11) % (1 << bits)
			all.Or(all, new(big.Int).Lsh(big.NewInt(int64(code)), uint(i*bits)))
			PutCode(d, data, i, uint8(code)|uint8(255<<bits)) // bits beyond the type are dropped
		}
		want := all.FillBytes(make([]byte, size))
		for i, b := range data {
			require.Equal(t, want[len(want)-1-i], b, "%v byte %d", d, i)
		}
		PutCode(d, data, 5, 0)
		for i := range n {
			want := uint8((i*37 + 11) % (1 << bits))
			if i == 5 {
				want = 0
			}
			require.Equal(t, want, Code(d, data, i), "%v element %d", d, i)
		}
	}
	// ONNX writes 4 numbers of 6 bits as 3 bytes.
	b := make([]byte, 3)
	for i, v := range []float64{1, -7.5, 0.125, 2.5} { // the codes 8, 63, 1 and 18
		PutFloat(Float6E2M3, b, i, v, false)
	}
	assert.Equal(t, []byte{8 | 3<<6, 15 | 1<<4, 0 | 18<<2}, b)
}

func TestFloat8E8M0_everyCode(t *testing.T) {
	b := make([]byte, 1)
	for code := range 255 {
		b[0] = uint8(code)
		want := math.Float32frombits(uint32(code) << 23) // the exponent of a float32
		if code == 0 {
			want = 0x1p-127
		}
		require.Equal(t, float64(want), FloatAt(Float8E8M0, b, 0), "%d", code)
		for _, rule := range []PowerRule{PowerUp, PowerNearest, PowerDown} {
			for _, saturate := range []bool{false, true} {
				require.Equal(t, uint8(code), ToPower(float64(want), rule, saturate), "%d by %d", code, rule)
				require.Equal(t, uint8(code), ToPower(-float64(want), rule, saturate), "%d by %d", code, rule)
			}
		}
	}
	b[0] = 255
	assert.True(t, math.IsNaN(FloatAt(Float8E8M0, b, 0)))
	PutFloat(Float8E8M0, b, 0, 3, false)
	assert.Equal(t, uint8(129), b[0])
	assert.True(t, Float8E8M0.IsFloat() && Float6E2M3.IsFloat() && Float6E3M2.IsFloat())
	assert.True(t, Int2.IsSigned() && Uint2.IsUnsigned())
}

func TestToPower_roundsByRule(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		v                 float64
		up, nearest, down uint8
	}{
		{1, 127, 127, 127}, {1.25, 128, 127, 127}, {1.4999, 128, 127, 127}, {1.5, 128, 128, 127}, {1.75, 128, 128, 127},
		{1 + 0x1p-40, 128, 127, 127}, {-3, 129, 129, 128}, {0x1.8p126, 254, 254, 253}, {0x1.4p126, 254, 253, 253},
		{0x1.8p-128, 0, 0, 0}, {0x1.2p-127, 1, 0, 0},
	} {
		for _, saturate := range []bool{false, true} {
			assert.Equal(t, c.up, ToPower(c.v, PowerUp, saturate), "%g up", c.v)
			assert.Equal(t, c.nearest, ToPower(c.v, PowerNearest, saturate), "%g nearest", c.v)
			if c.v != 0x1.8p-128 {
				assert.Equal(t, c.down, ToPower(c.v, PowerDown, saturate), "%g down", c.v)
			}
		}
	}
	for _, rule := range []PowerRule{PowerUp, PowerNearest, PowerDown} {
		for _, v := range []float64{0, math.Copysign(0, -1), 0x1p-130, 1e-300} {
			assert.Equal(t, uint8(0), ToPower(v, rule, true), "%g", v)
			assert.Equal(t, uint8(255), ToPower(v, rule, false), "%g", v)
		}
		for _, v := range []float64{inf, -inf, 0x1p128, 1e300} {
			assert.Equal(t, uint8(254), ToPower(v, rule, true), "%g", v)
			assert.Equal(t, uint8(255), ToPower(v, rule, false), "%g", v)
		}
		assert.Equal(t, uint8(255), ToPower(math.NaN(), rule, true))
	}
	assert.Equal(t, uint8(254), ToPower(0x1.9p127, PowerDown, false))
	assert.Equal(t, uint8(255), ToPower(0x1.9p127, PowerUp, false))
	assert.Equal(t, uint8(255), ToPower(0x1.8p-128, PowerDown, false))
}
