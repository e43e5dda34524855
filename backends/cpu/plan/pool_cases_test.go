package plan

import (
	"fmt"
	"math"
	"testing"

	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/stretchr/testify/assert"
)

// windowCase are the attributes of a pooling of images.
type windowCase struct{ kernel, strides, pads, dilations []int64 }

// windowCases are of two dimensions: small ones, those beyond the image, and those of each way to join lines.
var windowCases = []windowCase{
	{[]int64{1, 1}, nil, nil, nil}, {[]int64{1, 1}, []int64{2, 3}, nil, nil}, {[]int64{2, 2}, []int64{2, 2}, nil, nil},
	{[]int64{3, 3}, []int64{2, 2}, []int64{1, 1, 1, 1}, nil}, {[]int64{5, 4}, nil, []int64{2, 3, 2, 0}, nil},
	{[]int64{8, 7}, nil, []int64{7, 3, 0, 6}, nil}, {[]int64{9, 1}, nil, []int64{8, 0, 8, 0}, nil},
	{[]int64{1, 6}, []int64{1, 4}, []int64{0, 5, 0, 2}, nil}, {[]int64{3, 2}, []int64{3, 5}, nil, nil},
	{[]int64{4, 3}, []int64{3, 1}, []int64{1, 2, 3, 0}, []int64{2, 3}},
	{[]int64{3, 3}, []int64{2, 2}, []int64{2, 0, 1, 1}, []int64{3, 1}},
	{[]int64{2, 3}, []int64{4, 4}, []int64{0, 1, 1, 0}, []int64{2, 2}}, {[]int64{2, 2}, []int64{9, 10}, nil, nil},
	{[]int64{30, 50}, nil, []int64{29, 49, 29, 49}, nil},
}

// images are inputs of a type, of one to many lines, in both orders.
func (m *maker) images(d tensor.DType, last bool) []graph.Value {
	if last {
		return []graph.Value{m.numbers(d, 2, 19, 23, 3), m.numbers(d, 1, 12, 20, 33)}
	}
	return []graph.Value{m.numbers(d, 2, 3, 19, 23), m.numbers(d, 1, 1, 60, 150), m.numbers(d, 1, 1, 12, 2501)}
}

func TestBuild_poolingOfIntegersEqualsReference(t *testing.T) {
	var cases []testCase
	for _, d := range []tensor.DType{tensor.Uint8, tensor.Int8, tensor.Int16, tensor.Uint32, tensor.Int64} {
		for _, last := range []bool{false, true} {
			cases = append(cases, testCase{fmt.Sprint(d, " channels last ", last), 0, func(m *maker) (out []graph.Value) {
				for k, x := range m.images(d, last) {
					if k > 0 && d.Bits() > 8 && testing.Short() {
						continue
					}
					for _, w := range windowCases {
						if k > 0 && w.kernel[0] > 12 {
							continue
						}
						out = append(out, m.Add(&op.MaxPool{Kernel: w.kernel, Strides: w.strides, Pads: w.pads, Dilations: w.dilations,
							ChannelsLast: last}, x))
					}
				}
				return append(out, m.Add(&op.MaxPool{Kernel: []int64{3}, Strides: []int64{2}}, m.numbers(d, 2, 3, 77)),
					m.Add(&op.MaxPool{Kernel: []int64{3, 2, 3}, Strides: []int64{2, 1, 2}, Pads: []int64{2, 1, 1, 1, 0, 0}},
						m.numbers(d, 2, 2, 7, 9, 13)),
					m.Add(&op.MaxPool{Kernel: []int64{2, 5, 1}, Dilations: []int64{3, 1, 1}}, m.numbers(d, 1, 2, 8, 9, 13)))
			}})
		}
	}
	equalsReference(t, cases, func(t *testing.T, c testCase, p *run.Plan, want, got []tensor.Tensor) {
		assert.Empty(t, byReference(p))
		for k := range want {
			assert.True(t, assert.ObjectsAreEqual(want[k], got[k]), "output %d", k)
		}
	})
}

// special are numbers near 1, with zeros of both signs, infinities and NaN here and there.
func (m *maker) special(dims ...int64) graph.Value {
	x := tensor.New(tensor.Float32, dims...)
	odd := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1))}
	for i, v := 0, run.Floats(x.Data); i < len(v); i++ {
		if v[i] = float32(i*37%101)/50 - 1; i%61 == 7 {
			v[i] = odd[i/61%len(odd)]
		}
	}
	m.in = append(m.in, x)
	return m.Input("", x.Type())
}

func TestBuild_poolingOfPowersEqualsReference(t *testing.T) {
	var cases []testCase
	for _, power := range []int64{0, 1, 3} {
		for _, last := range []bool{false, true} {
			cases = append(cases, testCase{fmt.Sprint("power ", power, " channels last ", last), 0,
				func(m *maker) (out []graph.Value) {
					images := []graph.Value{m.special(2, 3, 19, 23), m.special(1, 1, 60, 107)}
					if last {
						images = []graph.Value{m.special(2, 19, 23, 3), m.special(1, 12, 15, 33)}
					}
					for k, x := range images {
						for _, w := range windowCases {
							if k > 0 && w.kernel[0] > 12 {
								continue
							}
							out = append(out, m.Add(&op.LpPool{P: power, Kernel: w.kernel, Strides: w.strides, Pads: w.pads,
								Dilations: w.dilations, ChannelsLast: last}, x))
						}
					}
					return append(out, m.Add(&op.LpPool{Kernel: []int64{2, 2, 2}, P: power, Pads: []int64{1, 1, 1, 0, 0, 0}},
						m.special(2, 2, 7, 9, 13)), m.Add(&op.LpPool{Kernel: []int64{3}, P: power}, m.special(2, 2, 7)))
				}})
		}
	}
	equalsReference(t, cases, func(t *testing.T, c testCase, p *run.Plan, want, got []tensor.Tensor) {
		assert.Empty(t, byReference(p))
		for k := range want {
			near(t, want[k], got[k], 2e-5)
		}
	})
}

func TestBuild_poolingOfOddNumbersEqualsReference(t *testing.T) {
	var cases []testCase
	for _, last := range []bool{false, true} {
		cases = append(cases, testCase{fmt.Sprint("channels last ", last), 0, func(m *maker) (out []graph.Value) {
			images := []graph.Value{m.special(2, 3, 19, 23), m.special(1, 1, 60, 108), m.special(1, 1, 12, 600)}
			if last {
				images = []graph.Value{m.special(2, 19, 23, 3), m.special(1, 12, 15, 33)}
			}
			for _, x := range images {
				for _, w := range append(windowCases, windowCase{[]int64{3, 3}, []int64{2, 2}, []int64{0, 0, 1, 1}, nil},
					windowCase{[]int64{2, 2}, []int64{2, 2}, []int64{0, 1, 0, 1}, nil},
					windowCase{[]int64{1, 4}, []int64{2, 2}, nil, nil}) {
					out = append(out, m.Add(&op.MaxPool{Kernel: w.kernel, Strides: w.strides, Pads: w.pads, Dilations: w.dilations,
						ChannelsLast: last}, x))
				}
			}
			return out
		}})
	}
	equalsReference(t, cases, func(t *testing.T, c testCase, p *run.Plan, want, got []tensor.Tensor) {
		assert.Empty(t, byReference(p))
		for k := range want {
			near(t, want[k], got[k], 0)
		}
	})
}
