package tensor

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestByteSize_packsSmallTypesAndRefusesOverflow(t *testing.T) {
	for _, c := range []struct {
		d    DType
		n    int64
		want int64
		ok   bool
	}{{Float32, 3, 12, true}, {Int4, 3, 2, true}, {Bool, 0, 0, true}, {Invalid, 1, 0, false}, {Int64, -1, 0, false},
		{Int64, math.MaxInt64 / 8, 0, false}} {
		got, ok := c.d.ByteSize(c.n)
		assert.Equal(t, c.ok, ok, "%v x %d", c.d, c.n)
		assert.Equal(t, c.want, got, "%v x %d", c.d, c.n)
	}
}

func TestBroadcast_table(t *testing.T) {
	s := func(d ...Dim) Shape { return OfDims(d...) }
	k := Dim{Sym: 3}
	for _, c := range []struct{ a, b, want Shape }{
		{Of(2, 3), Of(3), Of(2, 3)},
		{Of(2, 1), Of(1, 3), Of(2, 3)},
		{Of(), Of(4), Of(4)},
		{Of(0, 3), Of(1, 3), Of(0, 3)},
		{s(k, D(3)), s(k, D(1)), s(k, D(3))},
		{s(k), Of(1), s(k)},
		{s(k), Of(5), Of(5)},
	} {
		got, err := Broadcast(c.a, c.b)
		require.NoError(t, err)
		assert.Equal(t, c.want, got)
	}
	_, err := Broadcast(Of(2, 3), Of(2))
	assert.ErrorContains(t, err, "[2,3] with [2]")
}

func TestMerge_sharpensAndContradicts(t *testing.T) {
	m, ok := OfDims(AnyDim(), D(3)).Merge(OfDims(D(2), AnyDim()))
	require.True(t, ok)
	assert.Equal(t, Of(2, 3), m)
	_, ok = Of(2).Merge(Of(3))
	assert.False(t, ok)
	m, ok = AnyShape().Merge(Of())
	assert.True(t, ok)
	assert.Equal(t, 0, m.Rank())
}

func TestCount_zeroOverflowAndNegative(t *testing.T) {
	n, ok := Count([]int64{math.MaxInt64, 0, math.MaxInt64})
	assert.True(t, ok)
	assert.Zero(t, n)
	_, ok = Count([]int64{math.MaxInt64, 2})
	assert.False(t, ok)
	_, ok = Count([]int64{-1})
	assert.False(t, ok)
}

func TestReadInts_smallTypes(t *testing.T) {
	v, err := ReadInts(Int4, []byte{0x7f, 0x08}, 3)
	require.NoError(t, err)
	assert.Equal(t, []int64{-1, 7, -8}, v)
	v, err = ReadInts(Uint4, []byte{0xf1}, 2)
	require.NoError(t, err)
	assert.Equal(t, []int64{1, 15}, v)
	_, err = ReadInts(Int32, []byte{1, 2, 3}, 1)
	assert.Error(t, err)
	_, err = ReadInts(Float32, make([]byte, 4), 1)
	assert.Error(t, err)
}

func TestFact_intValuesFromConstAndPartly(t *testing.T) {
	f := Fact{Type: T(Int64, 2), Const: NewConst(Int64s(-1, 4))}
	v, ok := f.KnownInts()
	assert.True(t, ok)
	assert.Equal(t, []int64{-1, 4}, v)
	f = Fact{Type: T(Int64, 2), Ints: []Dim{D(1), {Sym: 7}}}
	_, ok = f.KnownInts()
	assert.False(t, ok)
	assert.Len(t, f.IntValues(), 2)
}

// Every half-precision number survives the way to float32 and back; the values are checked against the definition.
func TestFloat16_roundTripAndValue(t *testing.T) {
	for i := 0; i <= 0xffff; i++ {
		h := uint16(i)
		f := Float16To32(h)
		e, m := int(h>>10)&31, float64(h&0x3ff)
		if e == 31 {
			if m == 0 {
				require.True(t, math.IsInf(float64(f), 0))
				require.Equal(t, h, Float32To16(f))
			} else {
				require.True(t, math.IsNaN(float64(f)))
				require.Equal(t, uint16(0x7c00), Float32To16(f)&0x7c00)
			}
			continue
		}
		want := m * 0x1p-24
		if e > 0 {
			want = (1 + m/1024) * math.Ldexp(1, e-15)
		}
		if h&0x8000 != 0 {
			want = -want
		}
		require.Equal(t, want, float64(f), "%04x", h)
		require.Equal(t, h, Float32To16(f), "%04x", h)
	}
}

// Between two neighbours of the half grid, the nearer one wins and the middle goes to the even one.
func TestFloat32To16_roundsToNearestEven(t *testing.T) {
	for i := 0; i < 0x7bff; i++ {
		a, b := float64(Float16To32(uint16(i))), float64(Float16To32(uint16(i+1)))
		mid := (a + b) / 2
		even := uint16(i)
		if i&1 == 1 {
			even++
		}
		require.Equal(t, even, Float32To16(float32(mid)), "middle after %04x", i)
		require.Equal(t, uint16(i), Float32To16(math.Nextafter32(float32(mid), 0)), "below the middle after %04x", i)
		require.Equal(t, uint16(i+1), Float32To16(math.Nextafter32(float32(mid), 1e9)), "above the middle after %04x", i)
	}
	assert.Equal(t, uint16(0x7c00), Float32To16(65520))
	assert.Equal(t, uint16(0x7bff), Float32To16(65519.996))
}

func TestBFloat16_roundsToNearestEven(t *testing.T) {
	for _, c := range []struct {
		f    float32
		want uint16
	}{{1, 0x3f80}, {math.Float32frombits(0x3f808000), 0x3f80}, {math.Float32frombits(0x3f818000), 0x3f82},
		{float32(math.Inf(1)), 0x7f80}, {math.MaxFloat32, 0x7f80}} {
		assert.Equal(t, c.want, Float32ToBFloat16(c.f))
	}
	assert.True(t, math.IsNaN(float64(BFloat16To32(Float32ToBFloat16(float32(math.NaN()))))))
}
