package plan

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// image adds an input of random bytes.
func (m *maker) image(dims ...int64) graph.Value {
	t := tensor.New(tensor.Uint8, dims...)
	for i := range t.Data {
		t.Data[i] = byte(m.rnd.Uint32())
	}
	m.in = append(m.in, t)
	return m.Input("", t.Type())
}

// regions adds an input of numbers.
func (m *maker) regions(d tensor.DType, v ...int64) graph.Value {
	t := tensor.New(d, int64(len(v))/4, 4)
	for i, x := range v {
		tensor.PutInt(d, t.Data, i, x)
	}
	m.in = append(m.in, t)
	return m.Input("", t.Type())
}

// imageCases are graphs of operators on images.
var imageCases = func() (list []testCase) {
	mean, scale := []float32{123.7, 116.3, 103.5}, []float32{0.017, 0.0175, 0.0174}
	add := func(name string, steps int, build func(m *maker) []graph.Value) {
		list = append(list, testCase{name, steps, build})
	}
	for pixel := op.PixelGray; pixel <= op.PixelNV21; pixel++ {
		for _, interleaved := range []bool{false, true} {
			for _, last := range []bool{false, true} {
				for _, size := range [][2]int64{{6, 16}, {7, 533}} {
					h, w, c := size[0], size[1], pixel.Components()
					o := &op.DecodeImage{Pixel: pixel, Interleaved: interleaved, ChannelsLast: last, Mean: mean, Scale: scale}
					if pixel == op.PixelGray {
						o.Order, o.Mean, o.Scale = op.OrderGray, mean[:1], scale[:1]
					}
					if pixel.Semiplanar() {
						o.Range = op.RangeVideo
					}
					r := &op.ResizeImage{Pixel: pixel, Interleaved: interleaved, Height: h, Width: w}
					add(fmt.Sprintf("%v, interleaved %v, last %v, %d x %d", pixel, interleaved, last, h, w), 2,
						func(m *maker) []graph.Value {
							regions := func() graph.Value { return m.regions(tensor.Int32, 3, 2, 40, 30, -5, 1, 16, 900) }
							switch {
							case pixel.Semiplanar() && interleaved: // two planes
								x := []graph.Value{m.image(2, 31, 43), m.image(2, 15, 21, 2), regions()}
								return []graph.Value{m.Add(o, m.AddN(r, 2, x...)...)}
							case pixel.Semiplanar():
								return []graph.Value{m.Add(o, m.Add(r, m.image(2, 46, 43), graph.None, regions()))}
							case interleaved:
								return []graph.Value{m.Add(o, m.Add(r, m.image(2, 31, 43, c), graph.None, regions()))}
							}
							return []graph.Value{m.Add(o, m.Add(r, m.image(2, c, 31, 43), graph.None, regions()))}
						})
				}
			}
		}
	}
	add("luma of nv12", 1, func(m *maker) []graph.Value {
		return []graph.Value{m.Add(&op.DecodeImage{Pixel: op.PixelNV12, Order: op.OrderGray}, m.image(1, 9, 40))}
	})
	add("luma of two planes", 1, func(m *maker) []graph.Value {
		return []graph.Value{m.Add(&op.DecodeImage{Pixel: op.PixelNV12, Order: op.OrderGray}, m.image(1, 6, 40),
			m.image(1, 3, 20, 2))}
	})
	add("resizing alone, odd width", 1, func(m *maker) []graph.Value {
		return []graph.Value{m.Add(&op.ResizeImage{Pixel: op.PixelNV12, Height: 7, Width: 37}, m.image(1, 60, 50))}
	})
	add("resizing alone, two planes", 1, func(m *maker) []graph.Value {
		return m.AddN(&op.ResizeImage{Pixel: op.PixelNV12, Height: 8, Width: 36}, 2, m.image(1, 40, 50),
			m.image(1, 20, 25, 2))
	})
	add("copy of a region", 1, func(m *maker) []graph.Value {
		return []graph.Value{m.Add(&op.ResizeImage{Pixel: op.PixelRGB, Interleaved: true, Height: 20, Width: 30},
			m.image(1, 40, 50, 3), graph.None, m.regions(tensor.Int64, 11, 7, 40, 26))}
	})
	add("in front of a network", 0, func(m *maker) []graph.Value {
		x := m.Add(&op.DecodeImage{Pixel: op.PixelNV12, Scale: []float32{0.004}}, m.image(1, 36, 24))
		o := &op.Conv{Strides: []int64{2, 2}, Pads: []int64{1, 1, 1, 1}}
		x = m.Add(&op.Relu{}, m.Add(o, x, m.weights(8, 3, 3, 3), m.weights(8)))
		return []graph.Value{m.Add(&op.Conv{}, x, m.weights(4, 3, 3, 8))}
	})
	return list
}()

// The plan computes images to the bit as the reference does, but for a network behind.
func TestImage_equalsReference(t *testing.T) {
	equalsReference(t, imageCases, func(t *testing.T, c testCase, p *run.Plan, want, got []tensor.Tensor) {
		_, slow := p.Fast()
		assert.Zero(t, slow, "nodes by reference")
		if c.steps == 0 {
			near(t, want[0], got[0], 2e-5)
			return
		}
		assert.Len(t, p.Steps, c.steps)
		for i := range want {
			require.Equal(t, want[i].Type().String(), got[i].Type().String())
			if want[i].DType == tensor.Float32 {
				require.Equal(t, run.Floats(want[i].Data), run.Floats(got[i].Data))
			} else {
				require.Equal(t, want[i].Data, got[i].Data)
			}
		}
	})
}

func TestImage_wrongRegionFailsTheRun(t *testing.T) {
	m := newMaker()
	x := m.Add(&op.ResizeImage{Height: 4, Width: 4}, m.image(2, 1, 9, 9), graph.None,
		m.regions(tensor.Int32, 0, 0, 8, 8, 9, 0, 12, 8))
	g := m.graph(t, x)
	s, release := stateOf(t, g)
	defer release()
	_, err := runOnce(s, m.in, false)
	assert.Equal(t, fault.Data, fault.KindOf(err))
	assert.ErrorContains(t, err, "input 2: image 1: the region from column 9 to 12")
}
