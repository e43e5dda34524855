package op

import (
	"math/rand"
	"runtime/metrics"
	"testing"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op/optest"
	"github.com/anynpu/anynpu/core/tensor"
)

// FuzzInfer gives every registered operator arbitrary attributes and facts: inference returns facts or an error, one
// fact per output, no negative sizes out of sane inputs, and never panics or allocates by a size that a model claims.
// Forgetting sizes or values of the inputs makes no error and nothing in the result that was not there before.
func FuzzInfer(f *testing.F) {
	rnd := rand.New(rand.NewSource(1))
	for i := range len(graph.OpNames()) {
		for range 40 {
			data := make([]byte, 160)
			rnd.Read(data)
			f.Add(uint16(i), data)
		}
	}
	heap := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	f.Fuzz(func(t *testing.T, n uint16, data []byte) {
		names := graph.OpNames()
		o, _ := graph.NewOp(names[int(n)%len(names)])
		s := optest.NewSource(data)
		wild := s.Byte()&1 == 1
		optest.Fill(o, s, wild)
		in := optest.Facts(s, 7, wild)
		declared := make([]tensor.Type, s.Below(5))
		for i := range declared {
			if s.Byte() > 200 {
				declared[i] = optest.Fact(s, wild).Type
			}
		}
		metrics.Read(heap)
		before := heap[0].Value.Uint64()
		out, err := o.Infer(in, declared)
		metrics.Read(heap)
		if used := heap[0].Value.Uint64() - before; used > 16<<20 {
			t.Fatalf("%s %+v: inference allocates %d bytes: %+v", graph.NameOf(o), o, used, in)
		}
		if err != nil {
			return
		}
		if len(out) != len(declared) {
			t.Fatalf("%s %+v: %d facts for %d outputs: %+v", graph.NameOf(o), o, len(out), len(declared), in)
		}
		if wild {
			return
		}
		monotone(t, o, in, declared, out, s)
		for i, f := range out {
			for _, d := range f.Shape.Dims {
				if d.Known() && d.N < 0 {
					t.Fatalf("%s %+v: output %d: %v of %+v", graph.NameOf(o), o, i, f.Type, in)
				}
			}
		}
	})
}

// monotone infers again with less known of the inputs.
func monotone(t *testing.T, o graph.Op, in []tensor.Fact, declared []tensor.Type, sharp []tensor.Fact,
	s *optest.Source) {
	weak := make([]tensor.Fact, len(in))
	for i, f := range in {
		weak[i] = f
		weak[i].Shape = f.Shape.Clone()
		how := s.Byte()
		if how&1 != 0 {
			weak[i].Const, weak[i].Ints = nil, nil
		}
		if how&2 != 0 {
			for k := range weak[i].Shape.Dims {
				if s.Byte()&1 != 0 {
					weak[i].Shape.Dims[k] = tensor.AnyDim()
				}
			}
		}
		if how&12 == 12 && f.DType != tensor.Invalid {
			weak[i].Shape = tensor.AnyShape()
		}
		if weak[i].Const != nil && !weak[i].Shape.Equal(f.Shape) {
			weak[i].Const = nil
		}
	}
	out, err := o.Infer(weak, declared)
	if err != nil {
		if fault.KindOf(err) != fault.Unsupported {
			t.Fatalf("%s %+v: %v with less known: %+v, was fine with %+v", graph.NameOf(o), o, err, weak, in)
		}
		return
	}
	for i, f := range out {
		m, ok := sharp[i].Shape.Merge(f.Shape)
		if !ok || m.String() != sharp[i].Shape.String() || f.DType != tensor.Invalid && f.DType != sharp[i].DType {
			t.Fatalf("%s %+v: output %d: %v of %+v, with more known %v of %+v", graph.NameOf(o), o, i, f.Type, weak,
				sharp[i].Type, in)
		}
	}
}
