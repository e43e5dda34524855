package bombs

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx"
	network "github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/session"
)

// The stages of a bomb.
const (
	Import  = "import"
	Build   = "build"
	Compute = "run"
	Done    = "done"
)

// maxWork is the work of one operator from which a bomb is built but not run: it would end, but not soon.
const maxWork = 1 << 31

// Outcome says how far a model came and what stopped it.
type Outcome struct {
	Stage     string
	Err       error
	Build     time.Duration // import and compilation
	Run       time.Duration
	CostlyRun bool // not run: it would take long
}

// Trial says what Try does.
type Trial struct {
	Seed   uint64        // of the inputs
	Limit  time.Duration // of the run, 0: there is none
	Costly bool          // run it also when that takes long
}

// Try loads a model, builds it for d and runs it once.
func Try(model []byte, d device.Device, t Trial) Outcome {
	begin := time.Now()
	w := mem.NewWeights()
	defer w.Release()
	m, err := onnx.Import(model, onnx.Options{Weights: w})
	if err != nil {
		return Outcome{Stage: Import, Err: err, Build: time.Since(begin)}
	}
	heavy := costly(m.Graph)
	s, err := session.Open(context.Background(), m.Graph, []device.Device{d}, compile.Options{Weights: w, Consume: true},
		device.ExecOptions{})
	o := Outcome{Stage: Build, Err: err, Build: time.Since(begin), CostlyRun: heavy}
	if err != nil {
		return o
	}
	defer s.Close()
	if heavy && !t.Costly || t.Limit == 0 {
		return o
	}
	in, err := inputs(s, rand.New(rand.NewPCG(t.Seed, 1)))
	if err == nil {
		o.Stage = Compute
		begin = time.Now()
		_, err = s.Run(context.Background(), in, begin.Add(t.Limit))
		o.Run = time.Since(begin)
	}
	if o.Err = err; err == nil {
		o.Stage = Done
	}
	return o
}

// costly reports whether an operator of g takes long by reference.
func costly(g *network.Graph) bool {
	if g.Infer() != nil {
		return false
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if c, ok := n.Op.(network.Control); ok {
			for _, b := range c.Bodies() {
				if costly(b) {
					return true
				}
			}
			continue
		}
		in, out := make([]tensor.Tensor, len(n.In)), make([]tensor.Type, len(n.Out))
		for k, v := range n.In {
			if v == network.None {
				continue
			}
			t := g.Fact(v).Type
			if dims, ok := t.Shape.Ints(); ok {
				in[k] = tensor.Tensor{DType: t.DType, Dims: dims}
			}
		}
		for k, v := range n.Out {
			if v != network.None {
				out[k] = g.Fact(v).Type
			}
		}
		if ref.Work(n.Op, in, out) > maxWork {
			return true
		}
	}
	return false
}

// inputs returns tensors for the inputs of s: shapes get large numbers, images small ones.
func inputs(s *session.Session, r *rand.Rand) ([]tensor.Tensor, error) {
	ports, _ := s.Ports()
	in := make([]tensor.Tensor, len(ports))
	for i, p := range ports {
		dims := []int64{}
		for _, d := range p.Type.Shape.Dims {
			n := d.N
			if !d.Known() {
				n = int64(1 + r.IntN(4))
			}
			dims = append(dims, n)
		}
		if n, ok := tensor.Count(dims); !ok || n > 1<<24 {
			return nil, fault.New(fault.Memory, "input %d: %v", i, dims)
		}
		in[i] = tensor.New(p.Type.DType, dims...)
		for k := range in[i].Count() {
			switch p.Type.DType {
			case tensor.Int64:
				binary.LittleEndian.PutUint64(in[i].Data[8*k:], uint64(sizes[r.IntN(len(sizes))]))
			case tensor.Float32:
				tensor.PutFloat(tensor.Float32, in[i].Data, k, r.Float64(), false)
			}
		}
	}
	return in, nil
}
