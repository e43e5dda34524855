package export

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func signalRules() []rule {
	return []rule{
		on(func(n *node, o *op.BlackmanWindow) error { return n.window("BlackmanWindow", o.Periodic) }),
		on(func(n *node, o *op.HammingWindow) error { return n.window("HammingWindow", o.Periodic) }),
		on(func(n *node, o *op.HannWindow) error { return n.window("HannWindow", o.Periodic) }),
		on(func(n *node, o *op.MelWeightMatrix) error {
			in := []string{n.scalar(0), n.scalar(1), n.scalar(2), n.x(3), n.x(4)}
			for i := 3; i < 5; i++ {
				if n.fact(i).Shape.Rank() != 0 {
					in[i] = n.reshape(in[i])
				}
			}
			n.put(0, n.one("MelWeightMatrix", in, elementType("output_datatype", n.made(0).DType)))
			return nil
		}),
		on(func(n *node, o *op.DFT) error {
			return n.plain("DFT", []string{n.x(0), n.scalar(1), n.scalar(2)}, flag("inverse", o.Inverse),
				flag("onesided", o.OneSided))
		}),
		on(func(n *node, o *op.STFT) error {
			return n.plain("STFT", []string{n.x(0), n.scalar(1), n.as(2, n.dtype(0)), n.scalar(3)},
				flag("onesided", o.OneSided))
		}),
	}
}

func (n *node) window(name string, periodic bool) error {
	n.put(0, n.one(name, []string{n.scalar(0)}, flag("periodic", periodic),
		elementType("output_datatype", n.made(0).DType)))
	return nil
}

// randomRules: the runtime decides which numbers a seed gives.
func randomRules() []rule {
	return []rule{
		on(func(n *node, o *op.RandomNormal) error {
			return n.drawn("RandomNormal", o.Seed, o.Seeded, real("mean", o.Mean), real("scale", o.Scale))
		}),
		on(func(n *node, o *op.RandomUniform) error {
			return n.drawn("RandomUniform", o.Seed, o.Seeded, real("low", o.Low), real("high", o.High))
		}),
		on(func(n *node, o *op.RandomNormalLike) error {
			return n.drawnLike("RandomNormalLike", n.x(0), o.Seed, o.Seeded, real("mean", o.Mean), real("scale", o.Scale))
		}),
		on(func(n *node, o *op.RandomUniformLike) error {
			return n.drawnLike("RandomUniformLike", n.x(0), o.Seed, o.Seeded, real("low", o.Low), real("high", o.High))
		}),
		on(func(n *node, o *op.Bernoulli) error { return n.drawnLike("Bernoulli", n.x(0), o.Seed, o.Seeded) }),
		on(func(n *node, o *op.Multinomial) error {
			samples, err := n.known(1, "the number of samples")
			if err != nil {
				return err
			}
			seed, seeded := o.Seed, o.Seeded
			if n.has(2) {
				s, err := n.known(2, "the seeds")
				if err != nil {
					return err
				}
				if seeded = s[0] != 0 || s[1] != 0; seeded {
					seed = int64(math.Float32bits(float32(s[0]*31 + s[1])))
				}
			}
			return n.drawnLike("Multinomial", n.as(0, tensor.Float32), seed, seeded, number("sample_size", samples[0]))
		}),
	}
}

// seed is the attribute of a seed, a float with the same bits.
func seed(s int64, seeded bool) []attr {
	if !seeded {
		return nil
	}
	return []attr{real("seed", math.Float32frombits(uint32(s)))}
}

// drawnType is the type of the numbers that are drawn.
func (n *node) drawnType() tensor.DType {
	if f := n.made(0); f.Quant == nil && !narrow(f.DType) {
		return f.DType
	}
	return tensor.Float32
}

// drawn fills the shape that input 0 says.
func (n *node) drawn(name string, s int64, seeded bool, attrs ...attr) error {
	attrs = append(attrs, seed(s, seeded)...)
	if shape, ok := n.fact(0).KnownInts(); ok {
		d := n.drawnType()
		return n.set(0, n.one(name, nil, append(attrs, numbers("shape", shape...), elementType("dtype", d))...), d)
	}
	return n.drawnLike(name+"Like", n.one("ConstantOfShape", []string{n.vector(0)}), 0, false, attrs...)
}

func (n *node) drawnLike(name, x string, s int64, seeded bool, attrs ...attr) error {
	d := n.drawnType()
	attrs = append(append(attrs, seed(s, seeded)...), elementType("dtype", d))
	return n.set(0, n.one(name, []string{x}, attrs...), d)
}
