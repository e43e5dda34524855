package ref

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// ofFew is n numbers of a type, of which below many differ, with those that are equal though their bits are not.
func ofFew(rnd *rand.Rand, d tensor.DType, n, below int) tensor.Tensor {
	v := make([]float64, n)
	for i := range v {
		switch v[i] = float64(rnd.IntN(below)); {
		case d.IsFloat() && rnd.IntN(4) == 0:
			v[i] = []float64{math.NaN(), math.Copysign(0, -1), math.Inf(1), math.Inf(-1), -2.5}[rnd.IntN(5)]
		case d.IsFloat() || !d.IsUnsigned():
			v[i] -= float64(below / 2)
		}
	}
	if d.IsFloat() {
		return floats(d, v)
	}
	whole := make([]int64, n)
	for i := range v {
		whole[i] = int64(v[i])
	}
	return ints(d, whole)
}

func TestUnique_ofElementsIsThatOfEachByItself(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	types := append(append([]tensor.DType{tensor.Bool}, allInts...), allFloats...)
	for _, d := range types {
		for _, c := range [][2]int{{1, 1}, {7, 3}, {500, 100}, {1000, 1 << 14}} {
			if d.Bits() < 16 {
				c[1] = min(c[1], 4)
			}
			x := ofFew(rnd, d, c[0], c[1])
			for _, unsorted := range []bool{false, true} {
				for _, flatten := range []bool{false, true} {
					y, err := Compute(&op.Unique{Unsorted: unsorted, Flatten: flatten}, []tensor.Tensor{x}, make([]tensor.Type, 4))
					require.NoError(t, err)
					wantUnique(t, x, y, !unsorted, fmt.Sprintf("%v %v", d, c))
				}
			}
		}
	}
}

// wantUnique compares results with those of looking for each element among the ones before it.
func wantUnique(t *testing.T, x tensor.Tensor, y []tensor.Tensor, sorted bool, name string) {
	t.Helper()
	var first []int
	of := make([]int, x.Count())
	for i := range of {
		of[i] = slices.IndexFunc(first, func(k int) bool { return scalarAt(x, k).order(scalarAt(x, i)) == 0 })
		if of[i] < 0 {
			of[i], first = len(first), append(first, i)
		}
	}
	order := make([]int, len(first))
	for k := range order {
		order[k] = k
	}
	if sorted {
		slices.SortStableFunc(order, func(g, h int) int { return scalarAt(x, first[g]).order(scalarAt(x, first[h])) })
	}
	places, inverse, counts := []int64{}, make([]int64, len(of)), make([]int64, len(first))
	for at, k := range order {
		places = append(places, int64(first[k]))
		for i, g := range of {
			if g == k {
				inverse[i] = int64(at)
				counts[at]++
			}
		}
	}
	assert.Equal(t, places, mem.Elements[int64](y[1].Data), name)
	assert.Equal(t, inverse, mem.Elements[int64](y[2].Data), name)
	assert.Equal(t, counts, mem.Elements[int64](y[3].Data), name)
	want := tensor.New(x.DType, int64(len(places)))
	for i, k := range places {
		move(want, i, x, int(k), 1)
	}
	assert.Equal(t, want.Data, y[0].Data, name)
}

func TestNonZero_passesOverBlocks(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, d := range append(append([]tensor.DType{tensor.Bool}, allInts...), allFloats...) {
		for _, n := range []int{1, 7, 63, 64, 65, 8191, 8192, 8193, 9000} {
			for _, oneIn := range []int{1, 2, 100, 5000} {
				x := ofFew(rnd, d, n, 2)
				for i := range n {
					if rnd.IntN(oneIn) > 0 {
						move(x, i, tensor.New(d, 1), 0, 1)
					}
				}
				want := []int64{}
				for i := range n {
					if scalarAt(x, i).isTrue() {
						want = append(want, int64(i))
					}
				}
				y := run(t, &op.NonZero{}, x)
				require.Equal(t, []int64{1, int64(len(want))}, y.Dims)
				require.True(t, slices.Equal(want, mem.Elements[int64](y.Data)), "%v of %d", d, n)
			}
		}
	}
}
