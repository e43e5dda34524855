package cpu

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
	"sync/atomic"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// program is a compiled graph.
type program struct {
	refs    atomic.Int64
	dev     *Device
	unit    device.Unit
	options device.Options
	plan    prepared
	in, out []device.Port
}

// newProgram takes p over and retains u's weights.
func newProgram(d *Device, u device.Unit, o device.Options, p prepared) *program {
	if u.Weights != nil {
		u.Weights.Retain()
	}
	g := u.Graph
	pr := &program{dev: d, unit: u, options: o, plan: p, in: d.ports(g, g.In), out: d.ports(g, g.Out)}
	for i, nhwc := range p.nhwcPorts() {
		if nhwc {
			pr.in[i].Native = tensor.ChannelsLast(pr.in[i].Type.Shape.Rank())
		}
	}
	pr.refs.Store(1)
	return pr
}

func (d *Device) ports(g *graph.Graph, vs []graph.Value) []device.Port {
	out := make([]device.Port, len(vs))
	for i, v := range vs {
		t := g.Fact(v).Type
		p := device.Port{Name: g.Values[v].Name, Type: t}
		for _, dim := range t.Shape.Dims {
			lo, hi := dim.N, dim.N
			if !dim.Known() {
				lo, hi = d.info.DimMin, d.info.DimMax
			}
			p.Min, p.Max = append(p.Min, lo), append(p.Max, hi)
		}
		out[i] = p
	}
	return out
}

// Ports describes inputs and outputs.
func (p *program) Ports() (in, out []device.Port) { return p.in, p.out }

// New returns an execution.
func (p *program) New(o device.ExecOptions) (device.Execution, error) {
	if o.Priority == device.PriorityDefault {
		o.Priority = p.options.Priority
	}
	inst, err := p.plan.instance(o)
	if err != nil {
		return nil, err
	}
	p.Retain()
	return newExecution(p, inst), nil
}

// Retain adds a reference.
func (p *program) Retain() {
	if p.refs.Add(1) <= 1 {
		panic("cpu: a freed program was retained")
	}
}

// Release drops a reference; the last one frees the program.
func (p *program) Release() {
	switch n := p.refs.Add(-1); {
	case n > 0:
		return
	case n < 0:
		panic("cpu: a program was released more often than retained")
	}
	p.plan.release()
	if p.unit.Weights != nil {
		p.unit.Weights.Release()
	}
}

// A saved program: magic, version, build hash, options, the encoded graph with its constants, and a CRC-32C of all
// that. Integers are little-endian. The graph starts at a multiple of 64 bytes.
const (
	savedMagic   = "ANPUCPU\x00"
	savedVersion = 1
	savedHeader  = 64
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Save writes the graph, its constants and the options; Load prepares it anew.
func (p *program) Save(w io.Writer) error {
	if p.options.Unsaved {
		return fault.New(fault.Unsupported, "save program: it was compiled not to be saved")
	}
	g, done, err := p.plan.originals()
	if err != nil {
		return fault.Wrap(err, "save program")
	}
	defer done()
	head := make([]byte, savedHeader)
	copy(head, savedMagic)
	binary.LittleEndian.PutUint32(head[8:], savedVersion)
	copy(head[12:44], p.dev.info.BuildHash)
	if p.options.Float16 {
		head[44] = 1
	}
	head[45], head[46] = byte(p.options.Performance), byte(p.options.Priority)
	sum := crc32.New(castagnoli)
	out := io.MultiWriter(w, sum)
	if _, err := out.Write(head); err != nil {
		return fault.As(fault.File, err, "save program")
	}
	if err := graph.Encode(out, g, graph.EncodeOptions{}); err != nil {
		return fault.Wrap(err, "save program")
	}
	if _, err := w.Write(binary.LittleEndian.AppendUint32(nil, sum.Sum32())); err != nil {
		return fault.As(fault.File, err, "save program")
	}
	return nil
}

// Constants implements device.ConstantHolder.
func (p *program) Constants(add func(h tensor.Hash, data []byte) error) error {
	g, done, err := p.plan.originals()
	if err != nil {
		return fault.Wrap(err, "constants")
	}
	defer done()
	encode := graph.Encode(io.Discard, g, graph.EncodeOptions{External: func(h tensor.Hash, data []byte) bool {
		if err == nil {
			err = add(h, data)
		}
		return true
	}})
	if err == nil {
		err = encode
	}
	return fault.Wrap(err, "constants")
}

// Held implements device.GraphHolder.
func (p *program) Held() (*graph.Graph, func(), error) { return p.plan.originals() }

// Kept implements device.Keeper. Without a plan each node makes its values, and with several they differ.
func (p *program) Kept() (names []string, known bool) {
	if k, planned := p.plan.(*plannedGraph); planned {
		return k.kept()
	}
	return nil, false
}

// Load restores what Save wrote; the options are the saved ones. Kind fault.File for anything else: damaged, of
// another build or of another kind.
func (d *Device) Load(ctx context.Context, data []byte) (device.Program, error) {
	switch {
	case len(data) < savedHeader+4 || string(data[:8]) != savedMagic:
		return nil, fault.New(fault.File, "load program: not a saved program of the CPU")
	case binary.LittleEndian.Uint32(data[8:]) != savedVersion:
		return nil, fault.New(fault.File, "load program: version %d, want %d", binary.LittleEndian.Uint32(data[8:]),
			savedVersion)
	case string(bytes.TrimRight(data[12:44], "\x00")) != d.info.BuildHash:
		return nil, fault.New(fault.File, "load program: saved by build %q, this is %q", data[12:44], d.info.BuildHash)
	}
	body, tail := data[:len(data)-4], data[len(data)-4:]
	if got, want := crc32.Checksum(body, castagnoli), binary.LittleEndian.Uint32(tail); got != want {
		return nil, fault.New(fault.File, "load program: damaged: checksum %08x, want %08x", got, want)
	}
	weights := mem.NewWeights()
	defer weights.Release()
	g, err := graph.Decode(data[savedHeader:len(data)-4],
		graph.DecodeOptions{Const: func(h tensor.Hash, data []byte, n int64) ([]byte, error) {
			if data == nil {
				return nil, fault.New(fault.File, "constant %v is missing", h)
			}
			return weights.Add(h, data)
		}})
	if err != nil {
		return nil, fault.Wrap(err, "load program")
	}
	o := device.Options{Float16: data[44] == 1, Performance: device.Performance(data[45]),
		Priority: device.Priority(data[46])}
	p, err := d.compile(ctx, device.Unit{Graph: g, Weights: weights, Exclusive: true}, o)
	if err != nil {
		kind := fault.KindOf(err)
		if kind != fault.Canceled && kind != fault.Memory {
			kind = fault.File
		}
		return nil, fault.As(kind, err, "load program")
	}
	return p, nil
}
