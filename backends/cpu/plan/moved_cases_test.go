package plan

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// sizedTypes has a type of each size.
var sizedTypes = []tensor.DType{tensor.Uint8, tensor.Float16, tensor.Float32, tensor.Int64}

// ofSizes makes a case of each of the types of build.
func ofSizes(name string, build func(m *maker, d tensor.DType) []graph.Value) (cases []testCase) {
	for _, d := range sizedTypes {
		cases = append(cases, testCase{fmt.Sprintf("%s of %v", name, d), 0, func(m *maker) []graph.Value { return build(m, d) }})
	}
	return cases
}

// blockCases are graphs that move cells of images between channels and blocks.
var blockCases = ofSizes("blocks", func(m *maker, d tensor.DType) (out []graph.Value) {
	for _, block := range []int64{2, 3, 4, 5, 8} {
		for _, s := range [][2]int64{{1, 1}, {2, 7}, {3, 9}, {2, 33}, {5, 16}, {1, 530}} {
			for _, mode := range []op.DepthMode{op.DCR, op.CRD} {
				for _, last := range []bool{false, true} {
					space := []int64{2, 3, s[0] * block, s[1] * block}
					depth := []int64{2, 2 * block * block, s[0], s[1]}
					if last {
						space, depth = []int64{2, s[0] * block, s[1] * block, 3}, []int64{2, s[0], s[1], 2 * block * block}
					}
					out = append(out, m.Add(&op.SpaceToDepth{Block: block, Mode: mode, ChannelsLast: last}, m.of(d, space...)),
						m.Add(&op.DepthToSpace{Block: block, Mode: mode, ChannelsLast: last}, m.of(d, depth...)))
				}
			}
		}
	}
	return out
})

// repeatCases are graphs that repeat dimensions: of few bytes and of many, within others that are repeated.
var repeatCases = ofSizes("repeated", func(m *maker, d tensor.DType) (out []graph.Value) {
	for _, c := range [][2][]int64{
		{{1000, 2}, {1, 3}}, {{5, 3}, {2, 3}}, {{128, 16}, {4, 4}}, {{2, 3, 20, 7}, {1, 3, 2, 2}},
		{{1, 64, 1, 1}, {1, 1, 20, 19}}, {{3, 1, 5}, {1, 70000, 1}}, {{1}, {300001}}, {{2, 100003}, {3, 2}},
		{{7, 5, 1, 2, 3}, {2, 1, 3, 1, 5}},
		{{3, 9}, {1, 4}}, {{40, 33}, {1, 2}}, {{4, 300}, {1, 5}}, {{17, 1}, {1, 700}}, {{1, 1}, {1, 1}},
	} {
		out = append(out, m.Add(&op.Tile{}, m.of(d, c[0]...), m.Int64s(c[1]...)))
	}
	for _, c := range [][2][]int64{
		{{3, 1, 4}, {2, 1, 5, 4}}, {{5}, {3, 5}}, {{1}, {7, 11}}, {{}, {4}}, {{6, 1}, {6, 50}}, {{1, 9, 1}, {8, 9, 33}},
	} {
		out = append(out, m.Add(&op.Expand{}, m.of(d, c[0]...), m.Int64s(c[1]...)))
	}
	return out
})

// chosenCases are graphs that choose between two operands, and that make one element of many differ.
var chosenCases = ofSizes("chosen", func(m *maker, d tensor.DType) (out []graph.Value) {
	for _, s := range [][3][]int64{
		{{1, 1, 9, 130}, {2, 3, 9, 130}, {1}}, {{1, 1, 9, 130}, {}, {2, 3, 9, 130}}, {{2, 700}, {1, 1}, {700}},
		{{5, 1}, {5, 300}, {5, 300}}, {{5, 1}, {5, 300}, {1}}, {{5, 1}, {}, {300}}, {{5, 1}, {1}, {1, 300}},
		{{7}, {1}, {1}},
		{{3, 1, 5}, {1, 4, 5}, {3, 4, 1}}, {{1}, {3000}, {3000}}, {{1}, {3000}, {1}}, {{40000}, {40000}, {1}},
	} {
		out = append(out, m.Add(&op.Where{}, m.of(tensor.Bool, s[0]...), m.of(d, s[1]...), m.of(d, s[2]...)))
	}
	for _, off := range []int64{0, 3} {
		for _, axis := range []int64{-1, 0, 1} {
			for _, s := range []struct{ depth, a, b int64 }{{4, 3, 5}, {1000, 40, 3}, {1, 2, 2}, {33, 1, 700}} {
				out = append(out, m.Add(&op.OneHot{Axis: axis, Outside: op.OneHotWraps}, m.of(tensor.Int32, s.a, s.b),
					m.scalar(tensor.Int64, s.depth), m.scalar(d, 1), m.scalar(d, off)))
			}
		}
	}
	return out
})

func TestBuild_movesAreTheReferences(t *testing.T) {
	cases := slices.Concat(blockCases, repeatCases, chosenCases)
	equalsReference(t, cases, func(t *testing.T, _ testCase, p *run.Plan, want, got []tensor.Tensor) {
		assert.Empty(t, byReference(p))
		for i := range want {
			require.Equal(t, want[i].Type(), got[i].Type())
			require.Equal(t, want[i].Data, got[i].Data, "output %d", i)
		}
	})
}
