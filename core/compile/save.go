package compile

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"io"
	"slices"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// A saved program: magic, version, the length and bytes of an encoded graph in which each part is one node of operator
// "anynpu.part", per part the length and bytes of its device's saved form, and a CRC-32C of all that. Integers are
// uint64, little-endian. The graph's metadata carries the placement report as JSON.
const (
	savedMagic    = "ANPUPROG"
	savedVersion  = 1
	placementMeta = "anynpu.placement"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// part stands for a whole part in the graph of a saved program.
type part struct {
	Device string // Info.ID and Info.BuildHash of the device that compiled it
	Build  string
}

func init() {
	graph.Register[*part]("anynpu.part", graph.Traits{Impure: true, DataDependent: true, Effect: true})
}

// Infer returns what is declared.
func (*part) Infer(_ []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out := make([]tensor.Fact, len(declared))
	for i, t := range declared {
		out[i].Type = t
	}
	return out, nil
}

// skeleton returns the program as a graph with one node per part.
func (p *Program) skeleton() *graph.Graph {
	g := &graph.Graph{
		Name: p.placement.Model,
		Meta: map[string]string{placementMeta: string(p.placement.JSON())},
		In:   values(p.plan.InSlot), Out: values(p.plan.OutSlot),
	}
	for _, s := range p.plan.Slots {
		v := graph.ValueInfo{Fact: tensor.Fact{Type: s.Type}}
		if s.Const != nil {
			v.Fact.Const = tensor.NewConst(s.Const)
		}
		g.Values = append(g.Values, v)
	}
	for i, s := range p.plan.InSlot {
		g.Values[s].Name = p.plan.In[i].Name
	}
	for i, s := range p.plan.OutSlot {
		g.Values[s].Name = p.plan.Out[i].Name
	}
	for i := range p.plan.Stages {
		s := &p.plan.Stages[i]
		info := s.Device.Info()
		g.Nodes = append(g.Nodes, graph.Node{Op: &part{info.ID, info.BuildHash}, Origin: i, In: values(s.In),
			Out: values(s.Out)})
	}
	return g
}

// Save implements device.Program. Kind fault.Unsupported when a device has no saved form, fault.File when w fails.
func (p *Program) Save(w io.Writer) error {
	if p.plain != nil {
		plain, err := p.plain()
		if err != nil {
			return fault.Wrap(err, "save program")
		}
		defer plain.Release()
		return plain.Save(w)
	}
	var head bytes.Buffer
	if err := graph.Encode(&head, p.skeleton(), graph.EncodeOptions{}); err != nil {
		return fault.Wrap(err, "save program")
	}
	sum := crc32.New(castagnoli)
	out := io.MultiWriter(w, sum)
	write := func(data []byte) error {
		if _, err := out.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(data)))); err != nil {
			return fault.As(fault.File, err, "save program")
		}
		_, err := out.Write(data)
		return fault.As(fault.File, err, "save program")
	}
	if _, err := out.Write(binary.LittleEndian.AppendUint64([]byte(savedMagic), savedVersion)); err != nil {
		return fault.As(fault.File, err, "save program")
	}
	if err := write(head.Bytes()); err != nil {
		return err
	}
	for i := range p.plan.Stages {
		var blob bytes.Buffer
		if err := p.plan.Stages[i].Program.Save(&blob); err != nil {
			return fault.Wrap(err, "save program: part %d on %s", i, p.plan.Stages[i].Device.Info().ID)
		}
		if err := write(blob.Bytes()); err != nil {
			return err
		}
	}
	_, err := w.Write(binary.LittleEndian.AppendUint32(nil, sum.Sum32()))
	return fault.As(fault.File, err, "save program")
}

// Load restores what Save wrote; every device it was compiled for must be among devices, in the same build. Kind
// fault.File for anything that cannot be restored: damaged, foreign, of another build, without its device. data may
// change or end afterwards.
func Load(ctx context.Context, data []byte, devices []device.Device) (p *Program, err error) {
	defer func() {
		if v := recover(); v != nil {
			p, err = nil, fault.New(fault.File, "load program: panic: %v", v)
		}
	}()
	p, err = load(ctx, data, devices)
	if err == nil && Tensors != nil && !Tensors.Ended() {
		p = p.exposedAgain(ctx, devices)
	}
	return p, fault.Wrap(err, "load program")
}

func load(ctx context.Context, data []byte, devices []device.Device) (p *Program, err error) {
	const fixed = len(savedMagic) + 8
	switch {
	case len(data) < fixed+4 || string(data[:len(savedMagic)]) != savedMagic:
		return nil, fault.New(fault.File, "not a saved program")
	case binary.LittleEndian.Uint64(data[8:]) != savedVersion:
		return nil, fault.New(fault.File, "version %d, want %d", binary.LittleEndian.Uint64(data[8:]), savedVersion)
	}
	body, tail := data[:len(data)-4], data[len(data)-4:]
	if got, want := crc32.Checksum(body, castagnoli), binary.LittleEndian.Uint32(tail); got != want {
		return nil, fault.New(fault.File, "damaged: checksum %08x, want %08x", got, want)
	}
	body = body[fixed:]
	next := func() ([]byte, error) {
		if len(body) < 8 || binary.LittleEndian.Uint64(body) > uint64(len(body)-8) {
			return nil, fault.New(fault.File, "a section is longer than the file")
		}
		n := binary.LittleEndian.Uint64(body)
		s := body[8 : 8+n : 8+n]
		body = body[8+n:]
		return s, nil
	}
	head, err := next()
	if err != nil {
		return nil, err
	}
	g, err := graph.Decode(head, graph.DecodeOptions{})
	if err != nil {
		return nil, err
	}
	order, err := g.Order()
	if err != nil {
		return nil, err
	}
	if !slices.IsSorted(order) {
		return nil, fault.New(fault.File, "parts are out of order")
	}
	p = newProgram()
	defer func() {
		if err != nil {
			p.Release()
			p = nil
		}
	}()
	if err = json.Unmarshal([]byte(g.Meta[placementMeta]), p.placement); err != nil {
		return p, fault.As(fault.File, err, "placement")
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		var blob []byte
		if blob, err = next(); err != nil {
			return p, err
		}
		var s exec.Stage
		if s, err = loadPart(ctx, n, blob, devices); err != nil {
			return p, fault.Wrap(err, "part %d", i)
		}
		p.plan.Stages = append(p.plan.Stages, s)
	}
	if len(body) > 0 {
		return p, fault.New(fault.File, "%d bytes behind the end", len(body))
	}
	return p, fault.As(fault.File, p.connect(g, ranges(devices)), "")
}

// loadPart has the device of node n restore its part.
func loadPart(ctx context.Context, n *graph.Node, blob []byte, devices []device.Device) (exec.Stage, error) {
	op, ok := n.Op.(*part)
	if !ok {
		return exec.Stage{}, fault.New(fault.File, "operator %s is no part", graph.NameOf(n.Op))
	}
	if slices.Contains(n.In, graph.None) || slices.Contains(n.Out, graph.None) {
		return exec.Stage{}, fault.New(fault.File, "a port has no value")
	}
	for _, d := range devices {
		info := d.Info()
		if info.ID != op.Device {
			continue
		}
		if info.BuildHash != op.Build {
			return exec.Stage{}, fault.New(fault.File, "saved by build %q of device %s, this is %q", op.Build, op.Device,
				info.BuildHash)
		}
		prog, err := d.Load(ctx, blob)
		if err != nil {
			return exec.Stage{}, err
		}
		return exec.Stage{Device: d, Program: prog, In: slots(n.In), Out: slots(n.Out)}, nil
	}
	return exec.Stage{}, fault.New(fault.File, "device %q is not here", op.Device)
}

// exposedAgain takes over a program that was loaded and returns one whose runs are dumped: it is compiled again from
// the graphs of its parts. The program stays as it is where a part has none, such as a vendor's compiled model.
func (p *Program) exposedAgain(ctx context.Context, devices []device.Device) *Program {
	g, done, ok := p.joined()
	defer done()
	if !ok {
		return p
	}
	weights := mem.NewWeights()
	defer weights.Release()
	again, err := Compile(ctx, g, devices, Options{Weights: weights})
	if err != nil {
		return p
	}
	p.Release()
	return again
}

// joined is the graph that the parts of a program make together, ok false where a part gives none. It is valid until
// done is called.
func (p *Program) joined() (g *graph.Graph, done func(), ok bool) {
	var ends []func()
	done = func() {
		for _, f := range ends {
			f()
		}
	}
	j := joint{graph: &graph.Graph{Name: p.placement.Model}}
	for _, s := range p.plan.Slots {
		v := graph.ValueInfo{Fact: tensor.Fact{Type: s.Type}}
		if s.Const != nil {
			v.Fact.Const = tensor.NewConst(s.Const)
		}
		j.graph.Values = append(j.graph.Values, v)
	}
	j.graph.In, j.graph.Out = values(p.plan.InSlot), values(p.plan.OutSlot)
	for i := range p.plan.Stages {
		s := &p.plan.Stages[i]
		held, is := s.Program.(device.GraphHolder)
		if !is {
			return nil, done, false
		}
		part, end, err := held.Held()
		if err != nil {
			return nil, done, false
		}
		ends = append(ends, end)
		j.add(part, values(s.In), values(s.Out))
	}
	for i, v := range j.graph.In {
		j.graph.Values[v].Name = p.plan.In[i].Name
	}
	for i, v := range j.graph.Out {
		j.graph.Values[v].Name = p.plan.Out[i].Name
	}
	return j.graph, done, true
}

// joint is a graph that is made of parts.
type joint struct{ graph *graph.Graph }

// add adds the nodes of a part whose inputs and outputs are values of the whole.
func (j *joint) add(part *graph.Graph, in, out []graph.Value) {
	to := make([]graph.Value, len(part.Values))
	for v := range to {
		to[v] = graph.None
	}
	for i, v := range part.In {
		to[v] = in[i]
	}
	var copies [][2]graph.Value // outputs that are an input, a constant or another output
	producers := part.Producers()
	for i, v := range part.Out {
		if to[v] != graph.None || producers[v] < 0 {
			copies = append(copies, [2]graph.Value{v, out[i]})
			continue
		}
		to[v] = out[i]
		j.graph.Values[out[i]].Name = part.Values[v].Name
	}
	for v := range to {
		if to[v] == graph.None {
			to[v] = graph.Value(len(j.graph.Values))
			j.graph.Values = append(j.graph.Values, part.Values[v])
		}
	}
	moved := func(list []graph.Value) []graph.Value {
		list = slices.Clone(list)
		for i, v := range list {
			if v != graph.None {
				list[i] = to[v]
			}
		}
		return list
	}
	for _, n := range part.Nodes {
		n.In, n.Out = moved(n.In), moved(n.Out)
		j.graph.Nodes = append(j.graph.Nodes, n)
	}
	for _, c := range copies {
		j.graph.Nodes = append(j.graph.Nodes, graph.Node{Op: &op.Identity{}, Origin: -1, In: []graph.Value{to[c[0]]},
			Out: []graph.Value{c[1]}})
	}
}

func values(slots []int) []graph.Value {
	out := make([]graph.Value, len(slots))
	for i, s := range slots {
		out[i] = graph.Value(s)
	}
	return out
}
