package lowering

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

func init() {
	lowerAll(map[nnapi.OperationCode]func(n *node){
		nnapi.Conv2D:          lowerConv,
		nnapi.DepthwiseConv2D: lowerDepthwise,
		nnapi.GroupedConv2D:   lowerGrouped,
		nnapi.TransposeConv2D: lowerTransposeConv,
		nnapi.FullyConnected:  lowerFullyConnected,
		nnapi.BatchMatMul:     lowerBatchMatMul,
	})
}

// window is how a filter moves over an image: padding and strides, which stand in the arguments from first on.
type window struct {
	auto    op.AutoPad
	pads    []int64 // top, left, bottom, right
	strides []int64 // height, width
	next    int     // the argument after them
}

// window reads four paddings (left, right, top, bottom) or a scheme, and two strides (width, height).
func (n *node) window(first int) window {
	w := window{next: first}
	if n.argument(first) == "padding scheme" {
		w.auto = n.scheme(first)
		w.next++
	} else {
		p := [4]int64{}
		for k := range p {
			p[k] = n.int(first + k)
		}
		w.pads = []int64{p[2], p[0], p[3], p[1]}
		w.next += 4
	}
	w.strides = n.rightWay(w.next, 1)
	w.next += 2
	return w
}

// scheme reads an implicit padding.
func (n *node) scheme(i int) op.AutoPad {
	switch v := n.int(i); v {
	case nnapi.PaddingSame:
		return op.PadSameUpper
	case nnapi.PaddingValid:
		return op.PadValid
	default:
		n.fail(fault.Argument, "%s: want %d (SAME) or %d (VALID), got %d "+
			"[nnapi-valid-got]", n.term(i), nnapi.PaddingSame, nnapi.PaddingValid,
			v)
		return op.PadValid
	}
}

// rightWay reads a width and a height of at least lo from inputs i and i+1 and returns height and width.
func (n *node) rightWay(i int, lo int64) []int64 {
	w, h := n.int(i), n.int(i+1)
	n.within(i, w, lo, 1<<31-1)
	n.within(i+1, h, lo, 1<<31-1)
	return []int64{h, w}
}

// dilations reads the optional width and height from input i on.
func (n *node) dilations(i int) []int64 {
	if !n.given(i) {
		return []int64{1, 1}
	}
	return n.rightWay(i, 1)
}

// checkPads wants explicit paddings that are not negative and smaller than the filter, whose height and width are
// kernel where they are known, 0 elsewhere.
func (n *node) checkPads(w window, kernel, dilations []int64) {
	for k, p := range w.pads {
		side := [...]string{"top", "left", "bottom", "right"}[k]
		if p < 0 {
			n.fail(fault.Argument, "padding %s: want 0 or more, got %d [nnapi-padding-got]", side, p)
		}
		if size := (kernel[k%2]-1)*dilations[k%2] + 1; kernel[k%2] > 0 && p >= size {
			n.fail(fault.Argument, "padding %s: want less than the filter's %d cells, got %d "+
				"[nnapi-padding-less-filter]", side, size, p)
		}
	}
}

// kernel returns height and width of a filter [..., height, width, ...], 0 where they are unknown.
func (n *node) kernel(filter graph.Value) []int64 {
	k := make([]int64, 2)
	for i := range k {
		if d := n.dim(filter, 1+i); d.Known() {
			k[i] = d.N
		}
	}
	return k
}

func lowerConv(n *node) {
	w := n.window(3)
	layout := w.next + 1
	o := &op.Conv{Strides: w.strides, Dilations: n.dilations(layout + 1), Pads: w.pads, AutoPad: w.auto,
		ChannelsLast: n.channelsLast(layout)}
	n.checkPads(w, n.kernel(n.in(1)), o.Dilations)
	n.emitFused(w.next, o, n.in(0), n.in(1), n.in(2))
}

// lowerDepthwise turns the filter [1,h,w,channels] into one filter [h,w,1] for each channel of the output.
func lowerDepthwise(n *node) {
	w := n.window(3)
	multiplier, act, layout := n.int(w.next), w.next+1, w.next+2
	n.within(w.next, multiplier, 1, 1<<31-1)
	o := &op.Conv{Strides: w.strides, Dilations: n.dilations(layout + 1), Pads: w.pads, AutoPad: w.auto,
		ChannelsLast: n.channelsLast(layout)}
	n.checkPads(w, n.kernel(n.in(1)), o.Dilations)
	_, _, c := imageDims(o.ChannelsLast)
	in, out := n.dim(n.in(0), c), n.dim(n.in(1), 3)
	switch {
	case !n.ok():
		return
	case in.Known() && out.Known() && in.N*multiplier != out.N:
		n.fail(fault.Shape, "%s: want %d channels, %d for each of %s, got %d "+
			"[nnapi-channels-got]", n.term(1), in.N*multiplier, multiplier,
			n.term(0),
			out.N)
		return
	case in.Known():
		o.Groups = in.N
	case out.Known():
		o.Groups = out.N / multiplier
	default:
		n.fail(fault.Unsupported, "%s: the library needs its number of channels, or that of the filter, in the "+
			"model [nnapi-library-needs-number]",
			n.term(0))
		return
	}
	if d := n.dim(n.in(1), 0); d.Known() && d.N != 1 {
		n.fail(fault.Shape, "%s: want dimension 0 of size 1, got %d [nnapi-dimension-size-got]", n.term(1), d.N)
	}
	filter := n.add(&op.Transpose{}, n.in(1), n.int64s(3, 1, 2, 0))
	n.emitFused(act, o, n.in(0), filter, n.in(2))
}

func lowerGrouped(n *node) {
	w := n.window(3)
	groups := n.int(w.next)
	n.within(w.next, groups, 1, 1<<31-1)
	o := &op.Conv{Strides: w.strides, Pads: w.pads, AutoPad: w.auto, Groups: groups,
		ChannelsLast: n.channelsLast(w.next + 2)}
	n.checkPads(w, n.kernel(n.in(1)), []int64{1, 1})
	n.emitFused(w.next+1, o, n.in(0), n.in(1), n.in(2))
}

func lowerTransposeConv(n *node) {
	first := 3
	if n.form.Name == "implicit padding" {
		first = 4
	}
	w := n.window(first)
	o := &op.ConvTranspose{Strides: w.strides, Pads: w.pads, AutoPad: w.auto, ChannelsLast: n.channelsLast(w.next + 1)}
	sizes := graph.None
	switch {
	case first == 3:
		if len(w.pads) == 4 && (w.pads[0] < 0 || w.pads[1] < 0) {
			n.fail(fault.Argument, "padding top and left: want 0 or more, got %d and %d "+
				"[nnapi-padding-top-left]", w.pads[0], w.pads[1])
		}
	case w.auto == op.PadSameUpper:
		sizes = n.outputSizes(o, w)
	}
	n.emitFused(w.next, o, n.in(0), n.in(1), n.in(2), sizes)
}

// outputSizes applies the output shape in input 3 with padding SAME. Where filter and shape are known it becomes
// explicit padding, ceil(out/stride) cells being what the input has; else it is left to the run.
func (n *node) outputSizes(o *op.ConvTranspose, w window) graph.Value {
	h, _, _ := imageDims(o.ChannelsLast)
	kernel := n.kernel(n.in(1))
	dims, known := n.vector(3)
	if known && len(dims) != 4 {
		n.fail(fault.Shape, "%s: want 4 sizes, got %d [nnapi-sizes-got]", n.term(3), len(dims))
		return graph.None
	}
	if !known {
		n.demand(n.add(&op.Equal{}, n.add(&op.Shape{}, n.in(3)), n.int64s(4)), n.in(3))
	}
	if !n.ok() { // strides of 0
		return graph.None
	}
	if known && kernel[0] > 0 && kernel[1] > 0 {
		o.AutoPad, o.Pads = op.PadExplicit, make([]int64, 4)
		for k := range 2 {
			out := dims[h+k]
			if out < 1 {
				n.fail(fault.Argument, "%s: want sizes of 1 or more, got %v "+
					"[nnapi-sizes-got-output-sizes]", n.term(3), dims)
				return graph.None
			}
			cells := (out + w.strides[k] - 1) / w.strides[k]
			total := (cells-1)*w.strides[k] + kernel[k] - out
			head := max(0, total) / 2
			o.Pads[k], o.Pads[2+k] = head, total-head
		}
		return graph.None
	}
	return n.add(&op.Slice{}, n.wide(n.in(3)), n.int64s(int64(h)), n.int64s(int64(h+2)))
}

// lowerFullyConnected makes a matrix of the input, whose rows are as long as those of the weights.
func lowerFullyConnected(n *node) {
	x, weights := n.in(0), n.in(1)
	if k := n.dim(weights, 1); !(n.rank(x) == 2 && k.Known() && n.dim(x, 1).Same(k)) {
		x = n.add(&op.Reshape{}, x, n.join(n.int64s(-1), n.size(weights, 1)))
	}
	n.emitFused(3, &op.FullyConnected{}, x, weights, n.in(2))
}

func lowerBatchMatMul(n *node) {
	a, b := n.fact(n.in(0)).Shape, n.fact(n.in(1)).Shape
	if a.Ranked && b.Ranked {
		same := a.Rank() == b.Rank()
		for i := 0; same && i < a.Rank()-2; i++ {
			same = !a.Dims[i].Known() || !b.Dims[i].Known() || a.Dims[i].N == b.Dims[i].N
		}
		if !same {
			n.fail(fault.Shape, "%s and %s: want as many dimensions, equal but the last two, got %v and %v "+
				"[nnapi-dimensions-equal-last]", n.term(0),
				n.term(1),
				a, b)
		}
	}
	n.emit(&op.MatMul{TransposeA: n.flag(2), TransposeB: n.flag(3)}, n.in(0), n.in(1))
}
