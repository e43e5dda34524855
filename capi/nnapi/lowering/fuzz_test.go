package lowering

import (
	"context"
	"testing"
	"time"

	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op/optest"
	"github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

// FuzzGraph makes a model of one operation out of bytes: any that Check takes gets a graph or a refusal, which is no
// fault of ours, and a graph that can be run gives results or fails.
func FuzzGraph(f *testing.F) {
	for c := range nnapi.OperationCode(nnapi.Operations) {
		f.Add([]byte{byte(c)})
		f.Add([]byte{byte(c), 1, 2, 3, 1, 4, 2, 1, 5, 1, 3, 2, 1, 1, 2, 2, 3, 1, 1, 2, 7, 1, 3, 4, 1, 6, 2, 9, 1, 2, 1, 1})
		f.Add([]byte{byte(c), 2, 3, 200, 2, 220, 255, 2, 4, 210, 3, 3, 1, 0, 0, 0, 230, 2, 2, 1, 0, 240, 3, 3, 3, 3, 3})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := optest.NewSource(data)
		m := anyModel(s)
		if m == nil || nnapi.Check(m, m.Operations[0], nnapi.Level8) != nil {
			return
		}
		g, err := Graph(m)
		if err != nil {
			if fault.KindOf(err) == fault.Internal {
				t.Fatal(err)
			}
			return
		}
		var in []tensor.Tensor
		for _, v := range g.In {
			typ := g.Fact(v).Type
			dims := []int64{}
			for _, d := range typ.Shape.Dims {
				if !d.Known() {
					d.N = 2
				}
				dims = append(dims, d.N)
			}
			if !typ.Shape.Ranked {
				dims = []int64{2, 2}
			}
			if n, ok := tensor.Count(dims); !ok || n > 4096 {
				return
			}
			x := tensor.New(typ.DType, dims...)
			x.Quant = typ.Quant
			for i := range x.Data {
				if size := typ.DType.Bits() / 8; !typ.DType.IsInt() || i%size == 0 { // integers may be sizes: small ones
					x.Data[i] = s.Byte() & 1
				}
			}
			in = append(in, x)
		}
		for _, v := range g.Values {
			for _, d := range v.Fact.Shape.Dims {
				if d.Known() && d.N > 256 { // also where there are no elements: weights of a resize are per size
					return
				}
			}
			if n, ok := v.Fact.Shape.Count(); ok && n > 1<<16 {
				return
			}
		}
		ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
		defer stop()
		if _, err := ref.Run(ctx, g, in); err != nil && fault.KindOf(err) == fault.Internal {
			t.Fatal(err)
		}
	})
}

// anyModel makes operands by the types of a signature, with sizes, scales and values out of bytes; nil for control
// flow.
func anyModel(s *optest.Source) *nnapi.Model {
	c := nnapi.OperationCode(s.Below(nnapi.Operations))
	if c == nnapi.If || c == nnapi.While {
		return nil
	}
	sig := nnapi.SignatureOf(c)
	form := &sig.Forms[s.Below(len(sig.Forms))]
	row := sig.Types[s.Below(len(sig.Types))]
	m := &nnapi.Model{}
	o := nnapi.Operation{Code: c}
	add := func(a *nnapi.Argument, out bool) uint32 {
		x := nnapi.Operand{Type: a.Type.Fixed}
		switch v := a.Type.Variable; {
		case v >= 0:
			x.Type = row.Of[v]
		case v == nnapi.FloatScalar && row.Of[0] == nnapi.TensorFloat16:
			x.Type = nnapi.Float16
		case v == nnapi.FloatScalar:
			x.Type = nnapi.Float32
		}
		facts, _ := x.Type.Facts()
		k := uint32(len(m.Operands))
		if !facts.Scalar {
			rank := max(a.RankMin, 1)
			if a.RankMax == 0 || a.RankMax > a.RankMin {
				rank += s.Below(3)
			}
			if a.RankMax > 0 {
				rank = min(rank, a.RankMax)
			}
			for range rank {
				x.Dims = append(x.Dims, uint32(s.Below(4)))
			}
		}
		if p := facts.Parameters; p == nnapi.ScaleAndZero || p == nnapi.ScaleOnly {
			x.Scale = []float32{0.5, 0.125, 1. / 256, 1. / 128}[s.Below(4)]
		}
		if x.Type == nnapi.TensorQuant8SymmPerChannel {
			x.Channel = &nnapi.PerChannel{Scales: make([]float32, 1+s.Below(4))}
			for i := range x.Channel.Scales {
				x.Channel.Scales[i] = 0.5
			}
		}
		size, _ := x.Size()
		switch {
		case out:
			x.Lifetime = nnapi.Output
			x.Dims = nil
			m.Outputs = append(m.Outputs, k)
		case a.Omitted && s.Below(2) == 0:
			x.Lifetime = nnapi.NoValue
		case size > 0 && (facts.Scalar || s.Below(2) == 0):
			x.Lifetime = nnapi.Constant
			x.Data = make([]byte, size)
			for i := range x.Data {
				x.Data[i] = s.Byte()
			}
			if x.Type == nnapi.TensorInt32 { // small: they say how large results are
				for i := range size / 4 {
					copy(x.Data[4*i:], tensor.Int32s(int32(s.Below(8)-2)))
				}
			}
			if x.Type == nnapi.Int32 && s.Below(4) > 0 {
				copy(x.Data, tensor.Int32s(int32(s.Below(8)-2)))
			}
			if x.Type == nnapi.Float32 {
				copy(x.Data, tensor.Float32s(float32(s.Float())))
			}
		default:
			x.Lifetime = nnapi.Input
			m.Inputs = append(m.Inputs, k)
		}
		m.Operands = append(m.Operands, x)
		return k
	}
	pick := func(a *nnapi.Arguments) int {
		n := a.Counts[s.Below(len(a.Counts))]
		if a.Repeated >= 0 {
			n += s.Below(3)
		}
		return n
	}
	ins, outs := pick(&form.Inputs), pick(&form.Outputs)
	for i := range ins {
		o.Inputs = append(o.Inputs, add(form.Inputs.At(i, ins), false))
	}
	for i := range outs {
		o.Outputs = append(o.Outputs, add(form.Outputs.At(i, outs), true))
	}
	m.Operations = []nnapi.Operation{o}
	return m
}
