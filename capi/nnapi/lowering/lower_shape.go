package lowering

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	lowerAll(map[nnapi.OperationCode]func(n *node){
		nnapi.Reshape:         pair(&op.Reshape{}),
		nnapi.Squeeze:         func(n *node) { n.put(0, n.atLeastOne(n.addAs(0, &op.Squeeze{}, n.in(0), n.in(1)))) },
		nnapi.ExpandDims:      pair(&op.Unsqueeze{}),
		nnapi.Transpose:       pair(&op.Transpose{}),
		nnapi.Concatenation:   lowerConcat,
		nnapi.Split:           lowerSplit,
		nnapi.Pack:            lowerPack,
		nnapi.Slice:           lowerSlice,
		nnapi.StridedSlice:    lowerStridedSlice,
		nnapi.Tile:            lowerTile,
		nnapi.Gather:          func(n *node) { n.emit(&op.Gather{}, n.in(0), n.in(2), n.in(1)) },
		nnapi.EmbeddingLookup: func(n *node) { n.emit(&op.Gather{}, n.in(1), n.in(0)) },
		nnapi.HashtableLookup: func(n *node) { n.emit(&op.HashtableLookup{}, n.in(0), n.in(1), n.in(2)) },
		nnapi.Pad:             func(n *node) { n.emit(&op.Pad{}, n.in(0), n.paddings(1)) },
		nnapi.PadV2:           lowerPadV2,
		nnapi.MirrorPad:       lowerMirrorPad,
		nnapi.Reverse:         lowerReverse,
		nnapi.ChannelShuffle:  lowerChannelShuffle,
		nnapi.Fill:            func(n *node) { n.emit(&op.Fill{}, n.in(0), n.in(1)) },
		nnapi.DepthToSpace: func(n *node) {
			n.emit(&op.DepthToSpace{Block: n.block(), ChannelsLast: n.channelsLast(2)}, n.in(0))
		},
		nnapi.SpaceToDepth: func(n *node) {
			n.emit(&op.SpaceToDepth{Block: n.block(), ChannelsLast: n.channelsLast(2)}, n.in(0))
		},
		nnapi.BatchToSpaceND: func(n *node) {
			n.blocks()
			n.emit(&op.BatchToSpace{ChannelsLast: n.channelsLast(2)}, n.in(0), n.in(1))
		},
		nnapi.SpaceToBatchND: func(n *node) {
			n.blocks()
			n.emit(&op.SpaceToBatch{ChannelsLast: n.channelsLast(3)}, n.in(0), n.in(1), n.in(2))
		},
	})
}

// lowerConcat joins the inputs before the last, which is the axis and never negative.
func lowerConcat(n *node) {
	last := len(n.op.Inputs) - 1
	in := make([]graph.Value, last)
	for i := range in {
		in[i] = n.in(i)
	}
	n.emit(&op.Concat{Axis: n.axis(last, n.rank(in[0]), true)}, in...)
}

func lowerSplit(n *node) {
	if count := n.int(2); count != int64(len(n.op.Outputs)) {
		n.fail(fault.Argument, "%s: want %d, one for each output, got %d "+
			"[nnapi-output-got]", n.term(2), len(n.op.Outputs), count)
	}
	n.emit(&op.Split{Axis: n.axis(1, n.rank(n.in(0)), false)}, n.in(0))
}

// lowerPack gives each input a dimension of size 1 and joins them there.
func lowerPack(n *node) {
	axis := n.int(0)
	if axis < 0 {
		n.fail(fault.Argument, "%s: want 0 or more, got %d [nnapi-got-lower-pack]", n.term(0), axis)
	}
	in := make([]graph.Value, len(n.op.Inputs)-1)
	for i := range in {
		in[i] = n.add(&op.Unsqueeze{}, n.in(i+1), n.int64s(axis))
	}
	n.emit(&op.Concat{Axis: axis}, in...)
}

// lowerSlice makes ends of sizes; a size of -1 reaches to the end.
func lowerSlice(n *node) {
	n.wantCount(1)
	n.wantCount(2)
	if begin, ok := n.vector(1); ok {
		if size, ok := n.vector(2); ok && len(size) == len(begin) {
			ends := make([]int64, len(size))
			for i, s := range size {
				ends[i] = begin[i] + s
				if s == -1 {
					ends[i] = math.MaxInt64
				} else if s < 0 {
					n.fail(fault.Argument, "%s: size %d is %d: want -1 or more [nnapi-slice-size]", n.term(2), i, s)
				}
			}
			n.wholeRank(1, len(begin))
			n.emit(&op.Slice{Inside: true}, n.in(0), n.in(1), n.int64s(ends...))
			return
		}
	}
	begin, size := n.wide(n.in(1)), n.wide(n.in(2))
	open := n.add(&op.Equal{}, size, n.scalar(-1))
	ends := n.add(&op.Where{}, open, n.scalar(math.MaxInt64), n.add(&op.Add{}, begin, size))
	n.emit(&op.Slice{Inside: true}, n.in(0), begin, ends)
}

// wholeRank checks that input i has one entry for each dimension of input 0.
func (n *node) wholeRank(i, count int) {
	if r := n.rank(n.in(0)); r >= 0 && r != count {
		n.fail(fault.Shape, "%s: want %d elements, one for each dimension of %s, got %d "+
			"[nnapi-elements-dimension-got]", n.term(i), r, n.term(0), count)
	}
}

// wantCount checks the length of the list in input i against the rank of input 0, as far as both are known.
func (n *node) wantCount(i int) {
	if d := n.dim(n.in(i), 0); d.Known() {
		n.wholeRank(i, int(d.N))
	}
}

// lowerStridedSlice cuts, and then drops the dimensions of the shrink mask: the API wants a slice of size 1 there.
func lowerStridedSlice(n *node) {
	for i := 1; i <= 3; i++ {
		n.wantCount(i)
	}
	begin, end, shrink := n.int(4), n.int(5), n.int(6)
	r := n.rank(n.in(0))
	for i := 1; i <= 3 && r < 0; i++ {
		if d := n.dim(n.in(i), 0); d.Known() { // one for each dimension
			r = int(d.N)
		}
	}
	if r < 0 {
		r = 32
	}
	var axes []int64
	for i := range min(r, 32) {
		if shrink>>i&1 != 0 {
			axes = append(axes, int64(i))
		}
	}
	if strides, ok := n.vector(3); ok {
		for _, i := range axes {
			if i < int64(len(strides)) && strides[i] < 0 {
				n.fail(fault.Argument, "%s: stride %d: want a positive one where the shrink mask has a bit "+
					"[nnapi-stride-positive-shrink]", n.term(3), strides[i])
			}
		}
	} else {
		for _, i := range axes {
			stride := n.add(&op.Slice{}, n.in(3), n.int64s(i), n.int64s(i+1))
			n.demand(n.add(&op.Greater{}, n.wide(stride), n.scalar(0)), stride)
		}
	}
	v := n.addAs(0, &op.StridedSlice{BeginMask: begin, EndMask: end}, n.in(0), n.in(1), n.in(2), n.in(3))
	if len(axes) > 0 {
		v = n.addAs(0, &op.Squeeze{}, v, n.int64s(axes...))
	}
	n.put(0, n.atLeastOne(v))
}

func lowerTile(n *node) {
	n.wantCount(1)
	n.emit(&op.Tile{}, n.in(0), n.in(1))
}

// paddings returns the paddings in input i, [rank,2], in core's order: all before, then all behind. Constants are
// checked here, others by each run.
func (n *node) paddings(i int) graph.Value {
	s := n.fact(n.in(i)).Shape
	if s.Ranked && s.Dims[1].Known() && s.Dims[1].N != 2 {
		n.fail(fault.Shape, "%s: want two for each dimension, got %v [nnapi-two-dimension-got]", n.term(i), s)
	}
	n.wantCount(i)
	if v, ok := n.vector(i); ok && n.ok() {
		out := make([]int64, len(v))
		for k, p := range v {
			if p < 0 {
				n.fail(fault.Argument, "%s: padding of dimension %d: want 0 or more, got %d "+
					"[nnapi-padding-dimension-got]", n.term(i), k/2, p)
			}
			out[k%2*len(v)/2+k/2] = p
		}
		return n.int64s(out...)
	}
	n.demand(n.add(&op.GreaterEqual{}, n.wide(n.in(i)), n.scalar(0)), n.in(i))
	return n.reshape(n.add(&op.Transpose{}, n.in(i), n.int64s(1, 0)), -1)
}

// lowerPadV2 takes the value in the type of input 0: of quantized tensors it is the code itself.
func lowerPadV2(n *node) {
	value := n.in(2)
	if n.operand(2).Type == nnapi.Int32 {
		d := typeOf(n.operand(0)).DType
		lo, hi := tensor.IntLimits(d)
		if v, ok := n.fact(value).KnownInts(); ok && n.ok() {
			n.within(2, v[0], lo, hi)
		}
		value = n.add(&op.Cast{To: d, OutOfRange: op.CastSaturate}, value)
	}
	n.emit(&op.Pad{}, n.in(0), n.paddings(1), value)
}

func lowerMirrorPad(n *node) {
	mode := n.int(2)
	n.within(2, mode, nnapi.MirrorReflect, nnapi.MirrorSymmetric)
	o := &op.Pad{Mode: op.PadReflect}
	if mode == nnapi.MirrorSymmetric {
		o.Mode = op.PadSymmetric
	}
	paddings := n.paddings(1)
	v, known := n.vector(1)
	for k, p := range v {
		d := n.dim(n.in(0), k/2)
		if known = known && d.Known(); d.Known() && p > d.N-1+mode {
			n.fail(fault.Argument, "%s: padding of dimension %d: want at most %d, got %d "+
				"[nnapi-mirror-padding-most]", n.term(1), k/2, d.N-1+mode, p)
		}
	}
	if !known {
		most := n.reshape(n.add(&op.Add{}, n.shape(n.in(0)), n.scalar(mode-1)), -1, 1)
		n.demand(n.add(&op.LessEqual{}, n.wide(n.in(1)), most), n.in(1))
	}
	n.emit(o, n.in(0), paddings)
}

// lowerReverse slices with step -1, from the last cell to before the first.
func lowerReverse(n *node) {
	if v, ok := n.vector(1); !ok {
		n.demand(n.add(&op.GreaterEqual{}, n.wide(n.in(1)), n.scalar(0)), n.in(1))
	} else {
		if len(v) != 1 {
			n.fail(fault.Shape, "%s: want one axis, got %v [nnapi-axis-got]", n.term(1), v)
			return
		}
		if r := n.rank(n.in(0)); v[0] < 0 || r >= 0 && v[0] >= int64(r) {
			n.fail(fault.Argument, "%s: want one axis from 0 to %d, got %v "+
				"[nnapi-axis-got-lower-reverse]", n.term(1), r-1, v)
		}
	}
	n.emit(&op.Slice{}, n.in(0), n.int64s(math.MaxInt64), n.int64s(math.MinInt64), n.in(1), n.int64s(-1))
}

// lowerChannelShuffle gathers the channels in the order of a transposed table of groups x channels of a group.
func lowerChannelShuffle(n *node) {
	groups := n.int(1)
	n.within(1, groups, 1, 1<<31-1)
	axis := n.axis(2, n.rank(n.in(0)), false)
	if !n.ok() {
		return
	}
	var order graph.Value
	at := int(axis)
	if axis < 0 {
		at += max(n.rank(n.in(0)), 0)
	}
	if d := n.dim(n.in(0), max(at, 0)); n.rank(n.in(0)) >= 0 && d.Known() {
		if d.N%groups != 0 {
			n.fail(fault.Shape, "%s: want a divisor of %d channels, got %d "+
				"[nnapi-divisor-channels-got]", n.term(1), d.N, groups)
			return
		}
		v := make([]int64, d.N)
		for k := range v {
			v[k] = int64(k)%groups*(d.N/groups) + int64(k)/groups
		}
		order = n.int64s(v...)
	} else {
		channels := n.add(&op.Gather{NegativeWraps: true}, n.add(&op.Shape{}, n.in(0)), n.scalar(axis))
		table := n.reshape(n.add(&op.Range{}, n.scalar(0), channels, n.scalar(1)), groups, -1)
		order = n.reshape(n.add(&op.Transpose{}, table, n.int64s(1, 0)), -1)
	}
	n.emit(&op.Gather{}, n.in(0), order, n.scalar(axis))
}

// block returns the block size in input 1.
func (n *node) block() int64 {
	b := n.int(1)
	n.within(1, b, 1, 1<<31-1)
	return b
}

// blocks checks the block sizes in input 1: one for height, one for width.
func (n *node) blocks() {
	if d := n.dim(n.in(1), 0); d.Known() && d.N != 2 {
		n.fail(fault.Shape, "%s: want 2 sizes, got %d [nnapi-sizes-got-blocks]", n.term(1), d.N)
	}
}
