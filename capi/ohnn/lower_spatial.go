package ohnn

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// Images are [N,H,W,C] whatever the format field says; filters [O,H,W,I/group], which is core's layout.

func init() {
	lowerAll(map[string]func(n *node) error{
		"CONV2D":                  lowerConv,
		"DEPTHWISE_CONV2D_NATIVE": lowerDepthwise,
		"MAX_POOL":                lowerMaxPool,
		"AVG_POOL":                lowerAveragePool,
		"FULL_CONNECTION":         lowerFullConnection,
		"MATMUL":                  lowerMatMul,
		"CONV2D_TRANSPOSE":        lowerConvTranspose,
	})
}

// padding returns the window's padding, operator notes, section 3: a mode, or a list of top, bottom, left, right that
// counts while the mode stays explicit.
func (n *node) padding() (op.AutoPad, []int64) {
	if n.has("PAD_MODE") {
		if n.int("PAD_MODE", 0) == 0 {
			return op.PadSameUpper, nil
		}
		return op.PadValid, nil
	}
	p := n.ints("PAD")
	if len(p) != 4 {
		return op.PadExplicit, nil
	}
	return op.PadExplicit, []int64{p[0], p[2], p[1], p[3]}
}

// checkWindow checks the lists of numbers of a convolution or a pooling operator over an image.
func (n *node) checkWindow(strides, dilations string) error {
	if err := n.wantRank(0, 4, 4); err != nil {
		return err
	}
	if err := n.wantList(strides, true, 2, "vertical and horizontal", 1); err != nil {
		return err
	}
	if dilations != "" {
		if err := n.wantList(dilations, true, 2, "vertical and horizontal", 1); err != nil {
			return err
		}
	}
	if n.has("PAD_MODE") {
		return nil // the list does not count
	}
	return n.wantList("PAD", true, 4, "top, bottom, left, right", 0)
}

func lowerConv(n *node) error {
	if err := n.checkWindow("STRIDES", "DILATION"); err != nil {
		return err
	}
	if err := n.wantWithin("GROUP", 1, 1, math.MaxInt32); err != nil {
		return err
	}
	auto, pads := n.padding()
	groups := n.int("GROUP", 1)
	return n.emitFused(n.int("ACTIVATION_TYPE", 0), &op.Conv{
		Strides: n.ints("STRIDES"), Dilations: n.ints("DILATION"), Pads: pads, AutoPad: auto, Groups: groups,
		ChannelsLast: true}, n.ins()...)
}

// lowerConvTranspose takes filters as the header describes them, [O,H,W,I/group], or as the sample driver wants them,
// [I,H,W,O/group]: the first reading that agrees with the lengths of bias and channels, operator notes, section 6.
func lowerConvTranspose(n *node) error {
	if err := n.checkWindow("STRIDES", "DILATION"); err != nil {
		return err
	}
	if err := n.wantWithin("GROUP", 1, 1, math.MaxInt32); err != nil {
		return err
	}
	auto, pads := n.padding()
	groups := n.int("GROUP", 1)
	if err := n.checkOutputPaddings(); err != nil {
		return err
	}
	for i, rank := range []int{4, 4, 1} {
		if err := n.wantRank(i, rank, rank); err != nil {
			return err
		}
	}
	x, w, bias := n.fact(0).Shape, n.fact(1).Shape, n.fact(2).Shape
	in := n.ins()
	agree := func(whole, perGroup tensor.Dim) bool { // the first and the last dimension of the filter
		first, last := w.Dims[0], w.Dims[3]
		return (!whole.Known() || !first.Known() || first.N == whole.N) && (!perGroup.Known() || !last.Known() ||
			last.N*groups == perGroup.N)
	}
	if outputs, channels := bias.Dims[0], x.Dims[3]; !agree(outputs, channels) {
		if !agree(channels, outputs) {
			return fault.New(fault.Shape, "input 1: with GROUP %d, filter %v fits neither as [O,H,W,I/%d] nor as [I,H,W,O/%d] "+
				"to image %v and bias %v [ohnn-input-group-filter]", groups, w, groups, groups, x, bias)
		}
		var err error
		if in[1], err = n.swapFilters(in[1], groups); err != nil {
			return err
		}
	}
	return n.emitFused(n.int("ACTIVATION_TYPE", 0), &op.ConvTranspose{Strides: n.ints("STRIDES"),
		Dilations: n.ints("DILATION"), Pads: pads,
		AutoPad: auto, OutputPads: n.ints("OUTPUT_PADDINGS"), Groups: groups, ChannelsLast: true}, in...)
}

// checkOutputPaddings wants less than a stride, or a dilation where that is longer.
func (n *node) checkOutputPaddings() error {
	if err := n.wantList("OUTPUT_PADDINGS", true, 2, "vertical and horizontal", 0); err != nil {
		return err
	}
	strides, dilations := n.ints("STRIDES"), n.ints("DILATION")
	for i, p := range n.ints("OUTPUT_PADDINGS") {
		limit := int64(1)
		for _, list := range [][]int64{strides, dilations} {
			if i < len(list) {
				limit = max(limit, list[i])
			}
		}
		if p < 0 || p >= limit {
			return fault.New(fault.Argument, "OUTPUT_PADDINGS: %v: want at most %d at %d, less than the stride "+
				"or the dilation [ohnn-output-paddings-less]",
				n.ints("OUTPUT_PADDINGS"), limit-1, i)
		}
	}
	return nil
}

// swapFilters turns [I,H,W,O/groups] into [O,H,W,I/groups].
func (n *node) swapFilters(w graph.Value, groups int64) (graph.Value, error) {
	d, ok := n.b.Fact(w).Shape.Ints()
	if !ok || d[0]%groups != 0 {
		return graph.None, fault.New(fault.Shape, "input 1: filter %v: want a first dimension that GROUP, %d, "+
			"divides [ohnn-input-filter-dimension]",
			n.b.Fact(w).Shape, groups)
	}
	steps := []struct {
		o    graph.Op
		list []int64
	}{
		{&op.Reshape{}, []int64{groups, d[0] / groups, d[1], d[2], d[3]}},
		{&op.Transpose{}, []int64{0, 4, 2, 3, 1}},
		{&op.Reshape{}, []int64{groups * d[3], d[1], d[2], d[0] / groups}},
	}
	for _, s := range steps {
		var err error
		if w, err = n.add(s.o, w, n.b.Int64s(s.list...)); err != nil {
			return graph.None, err
		}
	}
	return w, nil
}

// lowerDepthwise: output channel o reads input channel o / multiplier, which is a convolution of as many groups as
// there are channels.
func lowerDepthwise(n *node) error {
	if err := n.checkWindow("STRIDES", "DILATION"); err != nil {
		return err
	}
	in, groups := n.ins(), n.fact(0).Shape.Dims[3]
	if !groups.Known() {
		var err error
		if groups = n.fact(1).Shape.Dims[0]; !groups.Known() {
			return fault.New(fault.Unsupported, "input 0: %v: the channels of the image or of the filter must be known when "+
				"the model is built [ohnn-input-channels-image]", n.fact(0).Shape)
		}
		if in[0], err = n.repeatChannels(groups.N); err != nil {
			return err
		}
	}
	auto, pads := n.padding()
	return n.emitFused(n.int("ACTIVATION_TYPE", 0), &op.Conv{
		Strides: n.ints("STRIDES"), Dilations: n.ints("DILATION"), Pads: pads, AutoPad: auto, Groups: groups.N,
		ChannelsLast: true}, in...)
}

// repeatChannels gives image input 0 as many channels as a depthwise filter has outputs: each of its channels, as many
// as the run shows, as often as there are filters for it.
func (n *node) repeatChannels(outputs int64) (graph.Value, error) {
	var err error
	do := func(o graph.Op, in ...graph.Value) graph.Value {
		var v graph.Value
		if err == nil {
			v, err = n.add(o, in...)
		}
		return v
	}
	shape := do(&op.Shape{}, n.in(0))
	channels := do(&op.Slice{}, shape, n.b.Int64s(3), n.b.Int64s(4))
	times := do(&op.Div{Rounding: op.DivTrunc}, n.called("input 1", n.b.Int64s(outputs)), channels)
	x := do(&op.Unsqueeze{}, n.in(0), n.b.Int64s(4))
	x = do(&op.Expand{}, x, do(&op.Concat{}, shape, times))
	// The number of elements fits only if the channels divide the outputs.
	return do(&op.Reshape{ZeroCopies: true}, x, n.called("input 1", n.b.Int64s(0, 0, 0, outputs))), err
}

// kernel returns kernel and strides of a pooling operator; with GLOBAL they do not count.
func (n *node) kernel() (kernel, strides []int64, global bool, err error) {
	if n.flag("GLOBAL", false) {
		return nil, nil, true, n.wantRank(0, 4, 4)
	}
	if err = n.wantList("KERNEL_SIZE", false, 2, "height and width, or GLOBAL", 1); err == nil {
		err = n.checkWindow("STRIDE", "")
	}
	return n.ints("KERNEL_SIZE"), n.ints("STRIDE"), false, err
}

func lowerMaxPool(n *node) error {
	kernel, strides, global, err := n.kernel()
	if err != nil {
		return err
	}
	auto, pads := n.padding()
	o := &op.MaxPool{Kernel: kernel, Strides: strides, Pads: pads, AutoPad: auto, Global: global, ChannelsLast: true}
	o.Ceil = n.rounding(&o.AutoPad)
	return n.emitFused(n.int("ACTIVATION_TYPE", 0), o, n.in(0))
}

// lowerAveragePool: padded cells are not in the divisor.
func lowerAveragePool(n *node) error {
	kernel, strides, global, err := n.kernel()
	if err != nil {
		return err
	}
	auto, pads := n.padding()
	o := &op.AveragePool{Kernel: kernel, Strides: strides, Pads: pads, AutoPad: auto, Global: global, ChannelsLast: true}
	o.Ceil = n.rounding(&o.AutoPad)
	return n.emitFused(n.int("ACTIVATION_TYPE", 0), o, n.in(0))
}

// rounding returns what ROUND_MODE says. Rounding up without padding is the explicit form with a list of zeros.
func (n *node) rounding(auto *op.AutoPad) op.CeilMode {
	if n.int("ROUND_MODE", 0) == 0 {
		return op.RoundFloor
	}
	if *auto == op.PadValid {
		*auto = op.PadExplicit
	}
	return op.RoundCeil
}

// lowerFullConnection flattens x: from AXIS on, with the dimensions before it kept, or to rank 2 with the last
// dimension of the weights.
func lowerFullConnection(n *node) error {
	if len(n.inputs) != 2 && len(n.inputs) != 3 {
		return fault.New(fault.Argument, "inputs: %d: want 2 or 3: x, weights and perhaps a bias "+
			"[ohnn-inputs-weights-perhaps]", len(n.inputs))
	}
	if n.flag("HAS_BIAS", false) && len(n.inputs) != 3 {
		return fault.New(fault.Argument, "HAS_BIAS is true: want a bias as the third input [ohnn-bias-true-bias]")
	}
	x, rank := n.in(0), n.rank(0)
	var err error
	if n.has("AXIS") || n.flag("USE_AXIS", false) {
		var axis int
		if axis, err = op.Axis(n.int("AXIS", 0), rank); err != nil {
			err = fault.Wrap(err, "AXIS")
		} else {
			shape := make([]int64, axis+1) // 0 keeps a dimension
			shape[axis] = -1
			x, err = n.add(&op.Reshape{ZeroCopies: true}, x, n.b.Int64s(shape...))
		}
	} else if rank != 2 {
		x, err = n.rowsLike(1)
	}
	if err != nil {
		return err
	}
	return n.emitFused(n.int("ACTIVATIONTYPE", 0), &op.FullyConnected{}, append([]graph.Value{x}, n.ins()[1:]...)...)
}

// rowsLike returns input 0 in rows as long as those of matrix input i.
func (n *node) rowsLike(i int) (graph.Value, error) {
	if err := n.wantRank(i, 2, 2); err != nil {
		return graph.None, err
	}
	x, length := n.fact(0).Shape, n.fact(i).Shape.Dims[1]
	if !length.Known() { // the run knows
		shape, err := n.add(&op.Shape{Start: 1}, n.in(i))
		if err != nil {
			return graph.None, err
		}
		if shape, err = n.add(&op.Concat{}, n.b.Int64s(-1), shape); err != nil {
			return graph.None, err
		}
		return n.add(&op.Reshape{}, n.in(0), shape)
	}
	if c, ok := x.Count(); ok && length.N > 0 && c%length.N != 0 {
		return graph.None, fault.New(fault.Shape, "input 0: %v does not divide into rows of %d, the last dimension of "+
			"input %d [ohnn-input-divide-rows]", x, length.N, i)
	}
	return n.add(&op.Reshape{}, n.in(0), n.b.Int64s(-1, length.N))
}

func lowerMatMul(n *node) error {
	return n.emitFused(n.int("ACTIVATION_TYPE", 0), &op.MatMul{TransposeA: n.flag("TRANSPOSE_A", false),
		TransposeB: n.flag("TRANSPOSE_B", false)}, n.ins()...)
}
