package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Native, func(o *op.Conv, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		if empty(out[0]) {
			return zeros(out), nil
		}
		x, w := in[0], in[1]
		c := newConvolution(x, w, out[0], o.ChannelsLast, o.Groups)
		windows, err := o.Windows(c.x.spatial, w.Dims[1:len(w.Dims)-1])
		if err != nil {
			return nil, err
		}
		c.cover(windows, sliding, slid)
		return linear(o, in, out[0], 0, c)
	})
}

// convolution is a convolution over the taps of a grid, plain or transposed. A cell of padding contributes nothing, so
// that an infinite weight over padding gives no NaN.
type convolution struct {
	grid   *grid
	x, y   extent
	groups int
}

func newConvolution(x, w tensor.Tensor, out tensor.Type, channelsLast bool, groups int64) *convolution {
	dims, _ := out.Shape.Ints()
	return &convolution{x: extentOf(x.Dims, channelsLast), y: extentOf(dims, channelsLast), groups: int(max(groups, 1))}
}

// cover makes the grid. Without input channels there is nothing to add up and no cell is visited.
func (c *convolution) cover(windows []op.Window, cells func(w op.Window, o int64, f func(in, k int64)),
	most func(op.Window) int64) {
	if c.x.c == 0 {
		cells = func(op.Window, int64, func(in, k int64)) {}
	}
	c.grid = newGrid(windows, cells, most)
}

func (c *convolution) f32(x, w []float32, store func(i, c int, s float64)) { convolve(c, x, w, store) }
func (c *convolution) f64(x, w []float64, store func(i, c int, s float64)) { convolve(c, x, w, store) }
func (c *convolution) i32(x, w []int32, store func(i, c int, s int32))     { convolve(c, x, w, store) }
func (c *convolution) i64(x, w []int64, store func(i, c int, s int64))     { convolve(c, x, w, store) }

func (c *convolution) bias(_, channel int) int { return channel }

func convolve[T, S summable](c *convolution, x, w []T, store func(i, c int, s S)) {
	x = pixels(c.x, x)
	kernel := cellCount(c.grid.kernel)
	inGroup, outGroup := c.x.c/c.groups, c.y.c/c.groups
	column := alloc[T](kernel * inGroup) // what a window wholly inside sees, in the order of a filter
	c.grid.each(func(p int, taps []tap) {
		for n := range c.x.n {
			image := x[n*c.x.cells*c.x.c:]
			for g := range c.groups {
				whole := inGroup > 1 && len(taps) == kernel
				for i := 0; whole && i < kernel; i++ {
					tick()
					copy(column[i*inGroup:], image[taps[i].in*c.x.c+g*inGroup:][:inGroup])
				}
				for o := g * outGroup; o < (g+1)*outGroup; o++ {
					tick()
					filter := w[o*kernel*inGroup:]
					var sum S
					switch {
					case whole:
						sum = inner[T, S](column, filter)
					case inGroup == 1:
						for _, t := range taps {
							tick()
							sum += S(image[t.in*c.x.c+g]) * S(filter[t.k])
						}
					default:
						for _, t := range taps {
							tick()
							sum += inner[T, S](image[t.in*c.x.c+g*inGroup:][:inGroup], filter[t.k*inGroup:])
						}
					}
					store(c.y.index(n, o, p), o, sum)
				}
			}
		}
	})
}
