package ops

import (
	"fmt"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// convolution is a convolution with constant filters and everything resolved.
type convolution struct {
	win          kernel.Window
	batch        int
	c, n, groups int
	epi          epilogue
	bias         []float32
	weights      []float32 // the model's, [n, taps, c/groups], until they are packed
	filter       graph.Value
	x            graph.Value
	last         bool   // the model's images are NHWC
	taps, ic, oc int    // taps, channels per group
	at           int    // the node of the graph
	kind         string // of the packed filters, when a node has several
	exact        bool   // sums are of integers: no transform
	planar       bool   // of a first layer: the images are NCHW, the results are not; layout decides it
}

// window turns resolved windows of up to three dimensions into the kernels' form.
func window(ws []op.Window) (w kernel.Window, err error) {
	for d := range 3 {
		w.In[d], w.Kernel[d], w.Stride[d], w.Dilation[d], w.Out[d] = 1, 1, 1, 1, 1
	}
	if len(ws) > 3 {
		return w, fmt.Errorf("%d spatial dimensions", len(ws))
	}
	for i, v := range ws {
		d := 3 - len(ws) + i
		w.In[d], w.Kernel[d], w.Stride[d], w.Dilation[d], w.Out[d], w.Pad[d] =
			int(v.In), int(v.Kernel), int(v.Stride), int(v.Dilation), int(v.Out), int(v.Before)
	}
	return w, nil
}

// pointwise reports whether every output position reads the input position of the same number.
func (c *convolution) pointwise() bool {
	return c.taps == 1 && c.win.In == c.win.Out && c.win.Pad == [3]int{} && c.win.Stride == [3]int{1, 1, 1}
}

func (c *convolution) flat() bool {
	return c.win.In[0] == 1 && c.win.Kernel[0] == 1 && c.win.Out[0] == 1 && c.win.Pad[0] == 0
}

func (c *convolution) depthwise() bool { return c.groups > 1 && c.ic == 1 && c.oc == 1 }

// acrossPlanes is a window that leaves the planes of volumes as they are, over whole planes as rows: of two dimensions.
// Windows of a single plane stay: their rows are divided among threads.
func acrossPlanes(w kernel.Window) kernel.Window {
	if w.Kernel[0] == 1 {
		return w
	}
	for d := 1; d < 3; d++ {
		if w.Kernel[d] != 1 || w.Stride[d] > 1 || w.Pad[d] != 0 || w.In[d] != w.Out[d] {
			return w
		}
	}
	along := func(v [3]int) [3]int { return [3]int{1, v[0], v[1] * v[2]} }
	return kernel.Window{In: along(w.In), Out: along(w.Out), Kernel: along(w.Kernel), Stride: along(w.Stride),
		Dilation: [3]int{1, w.Dilation[0], 1}, Pad: [3]int{0, w.Pad[0], 0}}
}

// phasesOf counts the phases of a transposed convolution in each dimension.
func phasesOf(c *kernel.ConvTranspose) (n [3]int) {
	for d := range n {
		n[d] = min(c.Stride[d], c.Out[d])
	}
	return n
}

// Limits above which a convolution of few channels is divided otherwise: an output row is one chunk, which reads all
// filters.
const (
	smallFlops = 1 << 29 // of an output row
	smallDepth = 1 << 18 // values of a filter
)

// small reports whether the taps of a kernel row and their few channels should be one run.
func (c *convolution) small() bool {
	return c.groups == 1 && c.c <= 4 && c.flat() && c.win.Kernel[2] > 1 && c.win.Dilation[2] == 1 &&
		c.win.Taps()*c.c <= smallDepth && run.Saturated(2, c.win.Taps(), c.c, c.n, c.win.Out[2]) <= smallFlops
}

// winograd reports whether Winograd pays: it saves three quarters of the products and costs transforms of
// input and output, and four times the filters' bytes, which few tiles do not share. Of volumes it serves the planes.
func (c *convolution) winograd() bool {
	w := &c.win
	of := func(v [3]int) [2]int { return [2]int(v[1:]) }
	one := [2]int{1, 1}
	if c.exact || c.groups != 1 || of(w.Kernel) != [2]int{3, 3} || of(w.Stride) != one || of(w.Dilation) != one ||
		c.c < 16 || c.n < 16 {
		return false
	}
	tiles := c.batch * w.Out[0] * ((w.Out[1] + 3) / 4) * ((w.Out[2] + 3) / 4)
	return tiles >= 12 && c.c*c.n <= 256*256 || tiles >= 32
}

// residualOf is the residual's rows, nil when there is none.
func (c *convolution) residualOf(s *run.State, st *run.Step) (v []float32, ld int) {
	if c.epi.res == graph.None {
		return nil, 0
	}
	return s.Rows(st.Reads[1], c.n)
}

// String names the algorithm, the window and the epilogue.
func (c *convolution) String() string {
	name := "GEMM"
	switch {
	case c.depthwise():
		name = "depthwise"
	case c.small():
		name = "few channels"
	case c.winograd():
		name = "Winograd"
	}
	w := &c.win
	t := fmt.Sprintf("%s %v, %d -> %d", name, w.Kernel[3-max(1, dimensions(w)):], c.c, c.n)
	if c.groups > 1 {
		t += fmt.Sprintf(", %d groups", c.groups)
	}
	if w.Stride != [3]int{1, 1, 1} {
		t += fmt.Sprintf(", strides %v", w.Stride[3-max(1, dimensions(w)):])
	}
	if w.Pad != [3]int{} {
		t += fmt.Sprintf(", pads %v", w.Pad[3-max(1, dimensions(w)):])
	}
	return t + epilogueText(c.bias, &c.epi)
}

// dimensions is the number of spatial dimensions that a window has in earnest.
func dimensions(w *kernel.Window) int {
	for d := range 3 {
		if w.In[d] != 1 || w.Kernel[d] != 1 {
			return 3 - d
		}
	}
	return 1
}
