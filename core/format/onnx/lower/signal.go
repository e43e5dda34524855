package lower

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

var signalOperators = []Operator{
	{"", "DFT", 17, lowerDFT},
	{"", "STFT", 17, lowerSTFT},
	{"", "HannWindow", 17, typed("output_datatype", func(n *node, d tensor.DType) graph.Op {
		return &op.HannWindow{Periodic: n.int("periodic", 1) != 0, To: d}
	})},
	{"", "HammingWindow", 17, typed("output_datatype", func(n *node, d tensor.DType) graph.Op {
		return &op.HammingWindow{Periodic: n.int("periodic", 1) != 0, To: d}
	})},
	{"", "BlackmanWindow", 17, typed("output_datatype", func(n *node, d tensor.DType) graph.Op {
		return &op.BlackmanWindow{Periodic: n.int("periodic", 1) != 0, To: d}
	})},
	{"", "MelWeightMatrix", 17, typed("output_datatype",
		func(_ *node, d tensor.DType) graph.Op { return &op.MelWeightMatrix{To: d} })},
	{"", "RandomNormal", 1, drawn(func(n *node, d tensor.DType, seed int64, seeded bool) graph.Op {
		return &op.RandomNormal{Mean: n.float("mean", 0), Scale: n.float("scale", 1), To: d, Seed: seed, Seeded: seeded}
	})},
	{"", "RandomUniform", 1, drawn(func(n *node, d tensor.DType, seed int64, seeded bool) graph.Op {
		return &op.RandomUniform{Low: n.float("low", 0), High: n.float("high", 1), To: d, Seed: seed, Seeded: seeded}
	})},
	{"", "RandomNormalLike", 1, drawn(func(n *node, d tensor.DType, seed int64, seeded bool) graph.Op {
		return &op.RandomNormalLike{Mean: n.float("mean", 0), Scale: n.float("scale", 1), To: d, Seed: seed, Seeded: seeded}
	})},
	{"", "RandomUniformLike", 1, drawn(func(n *node, d tensor.DType, seed int64, seeded bool) graph.Op {
		return &op.RandomUniformLike{Low: n.float("low", 0), High: n.float("high", 1), To: d, Seed: seed, Seeded: seeded}
	})},
	{"", "Bernoulli", 15, drawn(func(_ *node, d tensor.DType, seed int64, seeded bool) graph.Op {
		return &op.Bernoulli{To: d, Seed: seed, Seeded: seeded}
	})},
	{"", "Multinomial", 7, lowerMultinomial},
}

// lowerSTFT: a signal [batch, length] is real, as ONNX Runtime takes it and exporters write it; the specification has
// the dimension of 1 behind it.
func lowerSTFT(n *node) error {
	if n.has(0) && n.fact(0).Shape.Rank() == 2 {
		n.in[0] = n.b.Add(&op.Unsqueeze{}, n.in[0], n.b.Int64s(2))
	}
	return n.emit(&op.STFT{OneSided: n.int("onesided", 1) != 0}, n.in...)
}

// typed lowers an operator with an attribute that names the result's element type.
func typed(attr string, f func(n *node, d tensor.DType) graph.Op) lowering {
	return func(n *node) error {
		d, err := n.dtype(attr)
		if err != nil {
			return err
		}
		return n.emit(f(n, d), n.in...)
	}
}

// drawn lowers random numbers. Those whose shape is an attribute get it as an input. A seed is a float; its bits
// decide.
func drawn(f func(n *node, d tensor.DType, seed int64, seeded bool) graph.Op) lowering {
	return func(n *node) error {
		d, err := n.dtype("dtype")
		if err != nil {
			return err
		}
		seed, seeded := n.seed()
		in := n.in
		if n.p.Attrs["shape"] != nil {
			in = []graph.Value{n.b.Int64s(n.ints("shape")...)}
		}
		return n.emit(f(n, d, seed, seeded), in...)
	}
}

func (n *node) seed() (int64, bool) {
	a := n.p.Attrs["seed"]
	if a == nil {
		return 0, false
	}
	return int64(math.Float32bits(a.F)), true
}

func lowerMultinomial(n *node) error {
	to, err := n.dtype("dtype")
	if err != nil {
		return err
	}
	if to == 0 {
		to = tensor.Int32
	}
	seed, seeded := n.seed()
	samples := n.b.Const("", tensor.T(tensor.Int64), tensor.Int64s(n.int("sample_size", 1)))
	return n.emit(&op.Multinomial{To: to, Seed: seed, Seeded: seeded}, n.arg(0), samples)
}

// lowerDFT: the axis is an attribute (default 1) before opset 20, an input (default -2) since.
func lowerDFT(n *node) error {
	if err := n.want(1, 3); err != nil {
		return err
	}
	o := &op.DFT{Inverse: n.int("inverse", 0) != 0, OneSided: n.int("onesided", 0) != 0}
	if n.version >= 20 {
		return n.emit(o, n.in...)
	}
	if n.has(2) {
		return fault.New(fault.File, "opset %d has the axis as an attribute, the node gives input 2", n.version)
	}
	axis := n.b.Const("", tensor.T(tensor.Int64), tensor.Int64s(n.int("axis", 1)))
	return n.emit(o, n.arg(0), n.arg(1), axis)
}
