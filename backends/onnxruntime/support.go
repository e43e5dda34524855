package onnxruntime

import (
	"context"
	"time"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/export"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Support implements device.Device: nodes that ONNX has, of known sizes, and that the provider takes in a session in
// which nothing may go to the runtime's own processor.
func (d *Device) Support(g *graph.Graph, _ device.Options) ([]device.NodeSupport, error) {
	if err := d.Alive(); err != nil {
		return nil, err
	}
	leave, err := d.Building.Enter(context.Background(), d.Life)
	if err != nil {
		return nil, err
	}
	defer leave()
	q := &question{d: d, g: g, why: make([]string, len(g.Nodes))}
	var nodes []int
	for i := range g.Nodes {
		if err := d.exportable(g, i); err != nil {
			q.why[i] = err.Error()
		} else {
			nodes = append(nodes, i)
		}
	}
	if err := q.ask(nodes); err != nil {
		return nil, d.Note(err)
	}
	out := make([]device.NodeSupport, len(g.Nodes))
	for i, why := range q.why {
		if why != "" {
			out[i].Reason = why
		} else {
			out[i] = device.NodeSupport{OK: true, Cost: time.Nanosecond, Least: true} // the runtime has no word for speed
		}
	}
	return out, nil
}

// exportable returns the objection to node i before the provider is asked: its values need sizes that are known and
// element types that ONNX has, and it has to be an operator of ONNX.
func (d *Device) exportable(g *graph.Graph, i int) error {
	n := &g.Nodes[i]
	for _, v := range append(append([]graph.Value(nil), n.In...), n.Out...) {
		if v == graph.None {
			continue
		}
		if err := value(g.Fact(v).Type); err != nil {
			return err
		}
	}
	if why := d.defect(g, n); why != "" {
		return fault.New(fault.Unsupported, "%s", why)
	}
	return export.Support(g, i)
}

// value says why a tensor cannot be one of a session.
func value(t tensor.Type) error {
	if _, known := t.ByteSize(); !known {
		return fault.New(fault.Unsupported, "%v: its sizes are not known before the run", t)
	}
	if proto.ElementType(t.DType) == 0 {
		return fault.New(fault.Unsupported, "%v: ONNX has no such elements", t)
	}
	return nil
}

// question finds the nodes of a graph that a provider takes.
type question struct {
	d   *Device
	g   *graph.Graph
	why []string // by node, why it is refused
}

// maxRounds bounds how often a provider is asked again for the nodes that it has not refused by name.
const maxRounds = 4

// ask looks for refusals among nodes. The provider's answer is one for all of them: if it takes them all, none is
// refused. Else it is asked which it leaves to the runtime's processor, and where there is no answer either, for
// halves.
func (q *question) ask(nodes []int) error {
	var last error
	for range maxRounds {
		if len(nodes) == 0 {
			return nil
		}
		m, err := q.model(nodes)
		if err != nil {
			return q.halves(nodes, err)
		}
		err = q.takes(m)
		if err == nil {
			return nil
		}
		if fault.KindOf(err) != fault.Unsupported {
			return err
		}
		last = err
		if q.d.provider.Name == CPUProvider {
			break
		}
		left, known, err := q.left(m, nodes)
		if err != nil {
			return err
		}
		if !known || len(left) == 0 {
			break
		}
		for _, i := range left {
			q.why[i] = "the provider " + q.d.provider.Name + " does not take it"
		}
		nodes = q.rest(nodes)
	}
	return q.halves(nodes, last)
}

// halves asks for each half of nodes, or refuses the one that there is.
func (q *question) halves(nodes []int, why error) error {
	if len(nodes) == 1 {
		q.why[nodes[0]] = oneLine(why.Error())
		return nil
	}
	if err := q.ask(nodes[:len(nodes)/2]); err != nil {
		return err
	}
	return q.ask(nodes[len(nodes)/2:])
}

// rest are the nodes that are not refused.
func (q *question) rest(nodes []int) (out []int) {
	for _, i := range nodes {
		if q.why[i] == "" {
			out = append(out, i)
		}
	}
	return out
}

// asked is a model of nodes of a graph.
type asked struct {
	data  []byte
	owner map[string]int // by the name of a node of the model: the place in the list of nodes
}

func (q *question) model(nodes []int) (asked, error) {
	g := q.g
	if len(nodes) < len(q.g.Nodes) || len(q.g.Out) == 0 {
		g = part(q.g, nodes)
	}
	m, err := export.Of(g, export.Options{ReadInputs: true, OwnConstants: true})
	if err != nil {
		return asked{}, err
	}
	data, err := m.Bytes()
	return asked{data, m.Owner}, err
}

// part is the graph of some nodes. A value without a reader is a result too.
func part(g *graph.Graph, nodes []int) *graph.Graph {
	p, _, _ := g.Extract(nodes)
	read := map[graph.Value]bool{}
	for i := range p.Nodes {
		for _, v := range p.Nodes[i].In {
			read[v] = true
		}
	}
	for _, v := range p.Out {
		read[v] = true
	}
	for i := range p.Nodes {
		for _, v := range p.Nodes[i].Out {
			if v != graph.None && !read[v] {
				p.Out = append(p.Out, v)
			}
		}
	}
	return p
}

// takes asks whether the provider takes a model.
func (q *question) takes(m asked) error {
	session, err := q.d.lib.session(m.data, q.d.provider, q.d.Info().ID, forAnswer)
	if err == nil {
		q.d.lib.end(session)
	}
	return err
}

// left are the nodes that the provider leaves to the runtime's processor; known is false where there is no session even
// so.
func (q *question) left(m asked, nodes []int) (left []int, known bool, err error) {
	session, err := q.d.lib.session(m.data, q.d.provider, q.d.Info().ID, forNames)
	if fault.KindOf(err) == fault.Unsupported {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer q.d.lib.end(session)
	by, err := q.d.lib.assigned(session)
	if err != nil {
		return nil, false, err
	}
	seen := map[int]bool{}
	for _, name := range by[CPUProvider] {
		if k, ours := m.owner[name]; ours && !seen[k] {
			seen[k] = true
			left = append(left, nodes[k])
		}
	}
	return left, true, nil
}
