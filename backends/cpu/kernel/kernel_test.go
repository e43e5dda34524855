package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/internal/leak"
)

// eachISA runs f once for every level this machine has.
func eachISA(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	for _, isa := range Supported() {
		t.Run(isa.String(), func(t *testing.T) {
			restore, err := Select(isa)
			require.NoError(t, err)
			defer restore()
			f(t)
		})
	}
}

func TestMain(m *testing.M) {
	fmt.Println("instruction sets under test:", Supported())
	os.Exit(leak.Run(m, nil))
}

func TestSelect_restoresAndRefuses(t *testing.T) {
	before := Active()
	restore, err := Select(Generic)
	require.NoError(t, err)
	assert.Equal(t, Generic, Active())
	restore()
	assert.Equal(t, before, Active())
	_, err = Select(ISA(len(sets)))
	assert.ErrorContains(t, err, fmt.Sprintf("ISA(%d)", len(sets)))
	for i := range sets {
		got, err := ParseISA(ISA(i).String())
		require.NoError(t, err)
		assert.Equal(t, ISA(i), got)
		assert.Contains(t, ISANames(), got.String())
	}
	_, err = ParseISA("sse2")
	assert.ErrorContains(t, err, `"sse2"`)
}

const guardBits = 0x7fc0dead // a NaN that no kernel produces

// guarded is a buffer of n values with guard values on both sides, starting off
// values after a 64-byte boundary.
type guarded struct {
	all  []float32
	data []float32
	off  int
}

const guardLen = 40

func newGuarded(n, off int) *guarded {
	all := Aligned[float32](n + 2*guardLen + 64)
	for i := range all {
		all[i] = math.Float32frombits(guardBits)
	}
	start := guardLen/16*16 + 16 + off%16
	return &guarded{all: all, data: all[start : start+n : start+n], off: start}
}

func (g *guarded) check(t *testing.T, what string) {
	t.Helper()
	for i, v := range g.all {
		if (i < g.off || i >= g.off+len(g.data)) && math.Float32bits(v) != guardBits {
			t.Fatalf("%s: wrote %v at %d, outside [0, %d)", what, v, i-g.off, len(g.data))
		}
	}
}

func rng(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func fillRand(r *rand.Rand, s []float32) []float32 {
	for i := range s {
		s[i] = r.Float32()*2 - 1
	}
	return s
}

func randSlice(seed uint64, n int) []float32 { return fillRand(rng(seed), make([]float32, n)) }

// lengths are all lengths up to four vectors and three, and some beyond.
func lengths() []int {
	var n []int
	for i := range 4*16 + 4 {
		n = append(n, i)
	}
	return append(n, 127, 128, 129, 255, 1000)
}

var specials = []float32{
	0, float32(math.Copysign(0, -1)), 1, -1, inf32, -inf32, float32(math.NaN()),
	math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, 1e-40, math.MaxFloat32, -math.MaxFloat32,
	0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 8388608.5, 3e9, -3e9, 88.7, 89, -87.3, -88, -103.9, -105, 20, -20,
}

// same reports equality of bits, except that any NaN equals any NaN and, with
// looseZero, zeros of either sign are equal.
func same(a, b float32, looseZero bool) bool {
	if a != a || b != b {
		return a != a && b != b
	}
	if looseZero {
		return a == b
	}
	return math.Float32bits(a) == math.Float32bits(b)
}

// ulps is the distance of got from the exact value want in units of the last
// place of float32 at want.
func ulps(got float32, want float64) float64 {
	w := float32(want)
	switch {
	case math.IsNaN(want) || got != got:
		if math.IsNaN(want) && got != got {
			return 0
		}
		return math.Inf(1)
	case math.IsInf(float64(w), 0) || math.IsInf(float64(got), 0):
		if w == got {
			return 0
		}
		if math.IsInf(float64(w), 0) && !math.IsInf(want, 0) && math.Abs(float64(got)) >= math.MaxFloat32 {
			return 1
		}
		return math.Inf(1)
	}
	a := math.Abs(float64(w))
	_, e := math.Frexp(a)
	unit := math.Ldexp(1, max(e-24, -149))
	return math.Abs(float64(got)-want) / unit
}

func address(s []float32) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(s))) }

func TestAligned_startsAtCacheLine(t *testing.T) {
	for n := range 70 {
		s := Aligned[float32](n)
		require.Len(t, s, n)
		if n > 0 {
			assert.Zero(t, address(s)%64)
		}
		assert.Len(t, Aligned[int8](n), n)
	}
}
