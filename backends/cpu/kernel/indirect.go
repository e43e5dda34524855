package kernel

import (
	"fmt"
	"math"
)

// Indirection says for every output position and kernel tap where the run of
// input channels starts. It depends on shapes only and can be shared.
type Indirection struct {
	tab        []int32 // [taps][rows], -1 for padding
	taps, rows int
	last       int // largest offset, -1 when there is none
	padded     bool
}

// CheckIndirection tells whether NewIndirection fails.
func CheckIndirection(w Window, batch, ld int) error {
	image := w.In[0] * w.In[1] * w.In[2]
	if batch < 0 || ld < 0 || float64(batch)*float64(image)*float64(ld) > math.MaxInt32 {
		return fmt.Errorf("kernel: indirection: batch %d of %d positions of %d values does not fit 31 bits", batch, image, ld)
	}
	return nil
}

// NewIndirection builds the table of a window over a batch of images whose
// positions are ld values apart (at least the number of channels). Rows are the
// output positions in order, batch first; taps are the kernel positions in
// order. It fails when an offset does not fit 31 bits. Padding is multiplied as
// zeros: an infinite or NaN filter value makes the positions it pads NaN.
func NewIndirection(w Window, batch, ld int) (*Indirection, error) {
	x, err := EmptyIndirection(w, batch, ld)
	if err != nil {
		return nil, err
	}
	x.Extend(x.Fill(&w, batch, ld, 0, x.taps))
	return x, nil
}

// EmptyIndirection is NewIndirection without the offsets, which Fill computes.
func EmptyIndirection(w Window, batch, ld int) (*Indirection, error) {
	if err := CheckIndirection(w, batch, ld); err != nil {
		return nil, err
	}
	x := &Indirection{taps: w.Taps(), rows: batch * w.Outputs(), last: -1}
	x.tab = make([]int32, x.taps*x.rows)
	return x, nil
}

// Fill computes the offsets of taps from <= t < to, and returns the largest and
// whether some positions are padding, for Extend. Calls for different taps can
// run at once.
func (x *Indirection) Fill(w *Window, batch, ld, from, to int) (last int, padded bool) {
	last = -1
	for t := from; t < to; t++ {
		k := [3]int{t / (w.Kernel[1] * w.Kernel[2]), t / w.Kernel[2] % w.Kernel[1], t % w.Kernel[2]}
		l, p := fill(x.tab[t*x.rows:][:x.rows], w, batch, ld, k)
		last, padded = max(last, l), padded || p
	}
	return last, padded
}

// Extend takes the results of a Fill.
func (x *Indirection) Extend(last int, padded bool) {
	x.last, x.padded = max(x.last, last), x.padded || padded
}

func fill(tab []int32, w *Window, batch, ld int, k [3]int) (last int, padded bool) {
	i := 0
	last = -1
	for n := range batch {
		for oz := range w.Out[0] {
			z := w.at(0, oz, k[0])
			for oy := range w.Out[1] {
				y := w.at(1, oy, k[1])
				row := ((n*w.In[0]+z)*w.In[1] + y) * w.In[2]
				inside := z >= 0 && z < w.In[0] && y >= 0 && y < w.In[1]
				for ox := range w.Out[2] {
					c := w.at(2, ox, k[2])
					o := -1
					if inside && c >= 0 && c < w.In[2] {
						o = (row + c) * ld
						last = max(last, o)
					} else {
						padded = true
					}
					tab[i] = int32(o)
					i++
				}
			}
		}
	}
	return last, padded
}

// Taps is the number of runs that make up one row.
func (x *Indirection) Taps() int { return x.taps }

// Rows is the number of rows.
func (x *Indirection) Rows() int { return x.rows }

func (x *Indirection) check(rows, k int, a, zero []float32) {
	if rows > x.rows {
		panic(fmt.Sprintf("kernel: Gemm: want at most %d rows of the indirection, got %d", x.rows, rows))
	}
	if k == 0 {
		return
	}
	need("Gemm", "A", len(a), x.last+k)
	if x.padded {
		need("Gemm", "Zero", len(zero), k)
	}
}
