package networks

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/model"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/profile"
	"github.com/anynpu/anynpu/internal/session"
)

// NewDevice makes the device that computes a network.
type NewDevice func() (device.Device, error)

// Shares prints, for every network of an archive that bench/outline.py has written and whose name contains filter,
// which share of its nodes and of its arithmetic fast kernels compute, and what a run allocates; for quantized ones
// also when the integers cross the border. It returns how many networks have less than all of their arithmetic on fast
// kernels, are quantized and have any node without, or allocate in a run.
func Shares(w io.Writer, archive, filter string, newDevice NewDevice) (bad int, err error) {
	c, err := Open(archive)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	found := 0
	for _, name := range c.Names() {
		if !strings.Contains(name, filter) {
			continue
		}
		found++
		data, err := c.Model(name)
		if err != nil {
			return bad, err
		}
		for _, integers := range []bool{false, true} {
			f, err := look(data, integers, newDevice)
			if err != nil {
				return bad, fault.Wrap(err, "network %s", name)
			}
			if f == nil {
				continue
			}
			complaint := f.complaint()
			if complaint != "" {
				bad++
				complaint = "  FAILED: " + complaint
			}
			label := name
			if integers {
				label += ", integers"
			}
			fmt.Fprintf(w, "%-40s %s%s\n", label, f, complaint)
		}
	}
	if found == 0 {
		return 0, fault.New(fault.Argument, "no network's name contains %q", filter)
	}
	return bad, nil
}

// findings are what was seen of a network.
type findings struct {
	share     profile.Share
	quantized bool
	bytes     uint64 // allocated by a run, at least
}

func (f *findings) String() string {
	return fmt.Sprintf("fast kernels %3d of %3d nodes (%5.1f %%), %6.2f %% of %8.4f GFLOP, %6.2f %% of %8.3f million "+
		"elements, %d bytes per run", f.share.FastNodes, f.share.Nodes, f.share.NodePercent(), f.share.FLOPPercent(),
		1e-9*float64(f.share.FLOPs), f.share.ElementPercent(), 1e-6*float64(f.share.Elements), f.bytes)
}

// complaint says what is not as it must be, empty when all is.
func (f *findings) complaint() string {
	var parts []string
	if f.share.FastFLOPs < f.share.FLOPs || f.share.FastElements < f.share.Elements ||
		f.quantized && f.share.FastNodes < f.share.Nodes {
		ops := []string{}
		for i := range f.share.Slow {
			n := &f.share.Slow[i]
			ops = append(ops, fmt.Sprintf("operator %d %s", n.Node, n.OpText()))
		}
		parts = append(parts, "by reference: "+strings.Join(ops, ", "))
	}
	if f.bytes > 0 {
		parts = append(parts, "a run allocates")
	}
	return strings.Join(parts, "; ")
}

// look runs a model with and without profiling; integers says that these cross the border of a quantized model. No
// findings when that changes nothing.
func look(data []byte, integers bool, newDevice NewDevice) (*findings, error) {
	w := mem.NewWeights()
	defer w.Release()
	m, err := onnx.Import(data, onnx.Options{Weights: w})
	if err != nil {
		return nil, err
	}
	d, err := newDevice()
	if err != nil {
		return nil, err
	}
	f := &findings{quantized: slices.ContainsFunc(m.Graph.Nodes,
		func(n graph.Node) bool { _, is := n.Op.(*op.Quantize); return is })}
	if integers {
		in, out := model.ExposeQuantized(m.Graph, nil)
		if !slices.ContainsFunc(slices.Concat(in, out), func(q *tensor.Quant) bool { return q != nil }) {
			return nil, nil
		}
	}
	for _, profiling := range []bool{true, false} {
		err := func() error {
			s, err := session.Open(context.Background(), m.Graph, []device.Device{d}, compile.Options{Weights: w},
				device.ExecOptions{Profiling: profiling})
			if err != nil {
				return err
			}
			defer s.Close()
			in, err := inputs(s)
			if err != nil {
				return err
			}
			if err := s.Bind(in); err != nil {
				return err
			}
			if !profiling {
				f.bytes, err = allocated(s)
				return err
			}
			if err := s.Repeat(time.Time{}); err != nil {
				return err
			}
			nodes, err := profile.Join(m.Graph, in, s.Stats().Nodes)
			f.share = profile.ShareOf(nodes)
			return err
		}()
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

func inputs(s *session.Session) ([]tensor.Tensor, error) {
	ports, _ := s.Ports()
	var in []tensor.Tensor
	for _, p := range ports {
		dims, ok := p.Type.Shape.Ints()
		if !ok || p.Type.DType != tensor.Float32 && p.Type.DType.Bits() != 8 {
			return nil, fault.New(fault.Unsupported, "input %q is %v", p.Name, p.Type)
		}
		if p.Type.DType != tensor.Float32 {
			in = append(in, tensor.New(p.Type.DType, dims...))
			continue
		}
		x := bytes.Repeat([]byte{0, 0, 0, 63}, int(product(dims))) // 0.5
		in = append(in, tensor.Tensor{DType: tensor.Float32, Dims: dims, Data: x})
	}
	return in, nil
}

func product(dims []int64) int64 {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	return n
}

// allocated returns the fewest bytes that a run allocates on Go's heap, of several runs: the Go runtime itself
// allocates at times.
func allocated(s *session.Session) (uint64, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	least := ^uint64(0)
	for range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := s.Repeat(time.Time{})
		runtime.ReadMemStats(&after)
		if err != nil {
			return 0, err
		}
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least, nil
}
