package ops

import "github.com/anynpu/anynpu/backends/cpu/kernel"

// paddedImage is a batch of NHWC images with the border that a window reads.
type paddedImage struct {
	batch, rows, row   int // of the images, in bytes
	before, left, full int // rows above, bytes to the left, bytes of a whole row
	height             int
}

func newPaddedImage(w kernel.Window, batch, channels int) *paddedImage {
	reach := func(d int) int {
		return max(w.In[d]+w.Pad[d], (w.Out[d]-1)*max(1, w.Stride[d])+(w.Kernel[d]-1)*max(1, w.Dilation[d])+1)
	}
	return &paddedImage{batch: batch, rows: w.In[1], row: w.In[2] * channels, before: w.Pad[1], left: w.Pad[2] * channels,
		full: reach(2) * channels, height: reach(1)}
}

func (f *paddedImage) size() int { return f.batch * f.height * f.full }

// window is w over the padded images, a row of taps at once.
func (f *paddedImage) window(w kernel.Window) kernel.Window {
	w.In[1], w.In[2] = f.height, f.full*w.In[2]/f.row
	w.Pad, w.Kernel[2] = [3]int{}, 1
	return w
}

// fill copies the images; the border holds zero.
func (f *paddedImage) fill(dst, src []byte, zero byte) {
	for i := range f.batch {
		d := dst[i*f.height*f.full:][:f.height*f.full]
		for y := range f.height {
			line := d[y*f.full:][:f.full]
			r := y - f.before
			if r < 0 || r >= f.rows {
				fillBytes(line, zero)
				continue
			}
			fillBytes(line[:f.left], zero)
			copy(line[f.left:], src[(i*f.rows+r)*f.row:][:f.row])
			fillBytes(line[f.left+f.row:], zero)
		}
	}
}

func fillBytes(b []byte, v byte) {
	for i := range b {
		b[i] = v
	}
}
