package kernel

import "fmt"

// Window describes how a kernel slides over NHWC input of up to three
// spatial dimensions. A dimension that is not used has In, Kernel and Out 1;
// zero strides and dilations count as 1. Pad is the padding before the first
// element; what lies outside the input reads as zero.
type Window struct {
	In, Kernel, Stride, Dilation, Pad, Out [3]int
}

// at is the input coordinate of output o and kernel tap k in dimension d.
func (w *Window) at(d, o, k int) int {
	return o*max(1, w.Stride[d]) - w.Pad[d] + k*max(1, w.Dilation[d])
}

// Taps is the number of positions of the kernel.
func (w *Window) Taps() int { return w.Kernel[0] * w.Kernel[1] * w.Kernel[2] }

// Outputs is the number of output positions of one image.
func (w *Window) Outputs() int { return w.Out[0] * w.Out[1] * w.Out[2] }

// valid is the range of taps k0 <= k < k1 in dimension dim that lie inside the
// input for output position o.
func (w *Window) valid(dim, o int) (k0, k1 int) {
	start, step := w.at(dim, o, 0), max(1, w.Dilation[dim])
	if start < 0 {
		k0 = (-start + step - 1) / step
	}
	if start < w.In[dim] {
		k1 = min(w.Kernel[dim], (w.In[dim]-start+step-1)/step)
	}
	return k0, k1
}

// interior is the range of output positions whose taps all lie inside.
func (w *Window) interior(dim int) (o0, o1 int) {
	stride := max(1, w.Stride[dim])
	o0 = max(0, (w.Pad[dim]+stride-1)/stride)
	last := w.In[dim] - 1 - (w.Kernel[dim]-1)*max(1, w.Dilation[dim]) + w.Pad[dim]
	if last < 0 {
		return o0, o0
	}
	return o0, max(o0, min(w.Out[dim], last/stride+1))
}

// volume is the number of positions of three dimensions.
func volume(v [3]int) int { return v[0] * v[1] * v[2] }

// places are the coordinates of position i of a volume.
func places(i int, volume [3]int) [3]int {
	return [3]int{i / (volume[1] * volume[2]), i / volume[2] % volume[1], i % volume[2]}
}

// checkWindow checks a window of NHWC images and its input, checkFlatWindow that it has two dimensions besides, and its
// output.
func checkWindow(fn string, w *Window, batch, c, in, ldi, ldo int) {
	for d := range 3 {
		if w.In[d] < 0 || w.Out[d] < 0 || w.Kernel[d] < 1 || w.Stride[d] < 0 || w.Dilation[d] < 0 {
			panic(fmt.Sprintf("kernel: %s: bad window %+v", fn, *w))
		}
	}
	if ldi < c || ldo < c || c < 0 || batch < 0 {
		panic(fmt.Sprintf("kernel: %s: want strides of at least C: window %+v C=%d LDI=%d LDO=%d", fn, *w, c, ldi, ldo))
	}
	need(fn, "In", in, extent(batch*volume(w.In), c, ldi))
}

func checkFlatWindow(fn string, w *Window, batch, c, in, ldi, out, ldo int) {
	if w.In[0] != 1 || w.Kernel[0] != 1 || w.Out[0] != 1 || w.Pad[0] != 0 {
		panic(fmt.Sprintf("kernel: %s: want a two-dimensional window, got %+v", fn, *w))
	}
	checkWindow(fn, w, batch, c, in, ldi, ldo)
	need(fn, "Out", out, extent(batch*w.Outputs(), c, ldo))
}
