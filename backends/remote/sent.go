package remote

import (
	"bufio"
	"errors"
	"io"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/backends/remote/triton"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/export"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
)

// files are the model as servers get it beside its configuration, in memory that the helper can have.
func (d *Device) files(m *export.Model, c *triton.Config, version string) (mem.Buffer, []link.File, error) {
	fd, err := unix.MemfdCreate("anynpu-remote", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil, fault.As(fault.Memory, err, "memfd")
	}
	f := os.NewFile(uintptr(fd), "anynpu-remote")
	defer f.Close()
	w := &limited{to: f, left: d.config.Remote.Largest}
	b := bufio.NewWriterSize(w, 1<<16)
	err = errors.Join(m.Write(b), b.Flush())
	files := []link.File{{Path: version + "/" + triton.File, Size: w.size}}
	if c.Python() && err == nil {
		_, err = io.WriteString(w, triton.Model)
		files = append(files, link.File{Path: version + "/" + triton.Program, Off: files[0].Size,
			Size: w.size - files[0].Size})
	}
	switch {
	case w.full:
		return nil, nil, fault.New(fault.Memory, "the model %s has more than the %d bytes that are sent (largest_message) "+
			"[remote-load-file-size]", c.Name, d.config.Remote.Largest)
	case err != nil:
		return nil, nil, fault.As(fault.Memory, err, "the model %s", c.Name)
	}
	buf, err := mem.ImportFD(fd, 0, w.size, false)
	return buf, files, err
}

// limited writes no more than is left.
type limited struct {
	to         io.Writer
	size, left int64
	full       bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.full = l.full || int64(len(p)) > l.left; l.full {
		return 0, io.ErrShortWrite
	}
	n, err := l.to.Write(p)
	l.size, l.left = l.size+int64(n), l.left-int64(n)
	return n, err
}

// sentPorts are the ports of a graph as a model.
func sentPorts(g *graph.Graph, m *export.Model) (inputs, outputs []link.Port, err error) {
	ports := func(values []graph.Value, names []string) (list []link.Port) {
		for i, v := range values {
			p, ok := link.PortOf(names[i], g.Fact(v).Type)
			if !ok && err == nil {
				err = fault.New(fault.Unsupported, "%q is %v, which the protocol has no word for [remote-load-type]", names[i],
					g.Fact(v).Type)
			}
			list = append(list, p)
		}
		return list
	}
	inputs, outputs = ports(g.In, m.In), ports(g.Out, m.Out)
	return inputs, outputs, err
}

// sentPlan is how a model stands for a graph that was sent; nil if its ports are others.
func sentPlan(g *graph.Graph, m link.Model, meta *link.Metadata) *plan {
	model, err := export.Of(g, export.Options{})
	if err != nil {
		return nil
	}
	inputs, outputs, err := sentPorts(g, model)
	if err != nil {
		return nil
	}
	bounds := func(values []graph.Value, want, have []link.Port) (list []bound) {
		for i, p := range want {
			same := func(h link.Port) bool { return h.Name == p.Name && h.Type == p.Type && slices.Equal(h.Shape, p.Shape) }
			if len(have) != len(want) || !slices.ContainsFunc(have, same) {
				return nil
			}
			list = append(list, bound{port: p, value: values[i]})
		}
		return list
	}
	p := &plan{model: m, address: meta.Address, core: make([]bool, len(g.Nodes)), sent: true}
	for i := range p.core {
		p.core[i] = true
	}
	p.in, p.out = bounds(g.In, inputs, meta.Inputs), bounds(g.Out, outputs, meta.Outputs)
	if p.in == nil || p.out == nil {
		return nil
	}
	return p
}

// sendable finds the part of a graph that would be sent: all but the nodes that make tensors of images, and the
// nodes before these. An error says why none can be.
func sendable(g *graph.Graph) (core []bool, sub *graph.Graph, err error) {
	core = make([]bool, len(g.Nodes))
	producers := g.Producers()
	here := make([]bool, len(g.Nodes)) // of nodes before: only border nodes lead to it
	order, err := g.Order()
	if err != nil {
		return nil, nil, err
	}
	var images []int
	for _, i := range order {
		n := &g.Nodes[i]
		here[i] = borderOp(n.Op)
		for _, v := range n.In {
			here[i] = here[i] && (v == graph.None || producers[v] < 0 || here[producers[v]])
		}
		if here[i] && (is[*op.DecodeImage](n.Op) || is[*op.ResizeImage](n.Op)) {
			images = append(images, i)
		}
	}
	for i := range core {
		core[i] = true
	}
	for len(images) > 0 {
		i := images[len(images)-1]
		images = images[:len(images)-1]
		core[i] = false
		for _, v := range g.Nodes[i].In {
			if v != graph.None && producers[v] >= 0 && core[producers[v]] {
				images = append(images, producers[v])
			}
		}
	}
	var nodes []int
	for i := range core {
		if core[i] {
			nodes = append(nodes, i)
		}
	}
	sub = g
	if len(nodes) < len(g.Nodes) {
		sub, _, _ = g.Extract(nodes)
	}
	model, err := export.Of(sub, export.Options{})
	if err != nil {
		return nil, nil, err
	}
	inputs, outputs, err := sentPorts(sub, model)
	if err == nil {
		_, err = triton.New("", "", inputs, outputs)
	}
	return core, sub, err
}
