// Package toy is a device for tests: it computes one operator, float32 additions, in memory that the host cannot map,
// and misbehaves on demand. NewHost makes its partner, which adds and multiplies in the host's memory. Both share no
// arithmetic with real devices.
package toy

import (
	"bytes"
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// Mode is how the device behaves from the next call on.
type Mode int32

// The modes.
const (
	Normal       Mode = iota
	FailCompile       // Compile and Load: fault.Device
	FailRun           // the run ends with fault.Device
	Block             // the run waits until it is cancelled or its deadline passes
	PanicRun          // the run panics
	WrongType         // OutputType reports another element type after a run
	WrongSize         // OutputType reports sizes that the port does not allow
	UnknownSize       // OutputType reports unknown sizes after a run
	ShortData         // OutputData returns one byte less
	ShortAnswer       // Support answers for one node less
	MissingPorts      // programs compiled now have no ports
	FailAlloc         // Alloc: fault.Memory
	Dead              // everything ends with device.ErrDied; runs that block end with it as well
	WrongSupport      // Support claims every node, Compile then refuses
)

// Device is the toy. ID must be unique in a registry.
type Device struct {
	id      string
	build   string
	host    bool
	mode    atomic.Int32
	died    chan struct{}
	Blocked chan struct{}                // receives one value for each run that begins to block
	InPlace atomic.Int64                 // bindings that were read or written without a copy
	Limit   atomic.Int64                 // the limit of loops of the last run, nanoseconds
	Burst   atomic.Pointer[device.Burst] // of the last run
}

// New returns a toy device in normal mode.
func New(id string) *Device {
	return &Device{id: id, build: "toy build 1", died: make(chan struct{}), Blocked: make(chan struct{}, 64)}
}

// NewHost returns a device that adds and multiplies float32 in host memory.
func NewHost(id string) *Device {
	d := New(id)
	d.host = true
	return d
}

// Set changes the mode. Dead is for ever.
func (d *Device) Set(m Mode) {
	if Mode(d.mode.Swap(int32(m))) != Dead && m == Dead {
		close(d.died)
	}
}

// SetBuild changes the build hash, as an update of the device would.
func (d *Device) SetBuild(b string) { d.build = b }

func (d *Device) is(m Mode) bool { return Mode(d.mode.Load()) == m }

func (d *Device) alive() error {
	if d.is(Dead) {
		return fault.As(fault.Device, device.ErrDied, "%s", d.id)
	}
	return nil
}

// Info describes the device.
func (d *Device) Info() device.Info {
	return device.Info{
		ID: d.id, Name: "Toy", Vendor: "AnyNPU", Kind: d.kind(), BuildHash: d.build,
		Float16: d.float16(), Cache: true, Dynamic: true, DimMin: 1, DimMax: 1 << 20, Cores: d.cores(),
	}
}

func (d *Device) kind() device.Kind {
	if d.host {
		return device.CPU
	}
	return device.Accelerator
}

// float16 and cores are abilities of the toy that its partner lacks.
func (d *Device) float16() device.Ability {
	if d.host {
		return device.Lacks
	}
	return device.Honours
}

func (d *Device) cores() int {
	if d.host {
		return 0
	}
	return 2
}

// Support claims float32 additions. An element costs a nanosecond.
func (d *Device) Support(g *graph.Graph, _ device.Options) ([]device.NodeSupport, error) {
	if err := d.alive(); err != nil {
		return nil, err
	}
	out := make([]device.NodeSupport, len(g.Nodes))
	for i := range g.Nodes {
		reason := d.refuse(g, &g.Nodes[i])
		out[i] = device.NodeSupport{OK: reason == "" || d.is(WrongSupport), Reason: reason}
		if n, known := g.Fact(g.Nodes[i].Out[0]).Shape.Count(); known && out[i].OK {
			out[i].Cost = time.Duration(n)
		}
	}
	if d.is(ShortAnswer) && len(out) > 0 {
		out = out[1:]
	}
	return out, nil
}

func (d *Device) refuse(g *graph.Graph, n *graph.Node) string {
	_, add := n.Op.(*op.Add)
	_, mul := n.Op.(*op.Mul)
	if !add && !(mul && d.host) {
		return "the toy only adds"
	}
	for _, v := range n.In {
		if f := g.Fact(v); f.DType != tensor.Float32 || f.Quant != nil {
			return "the toy only knows float32"
		}
	}
	return ""
}

// Compile makes a program.
func (d *Device) Compile(ctx context.Context, u device.Unit, o device.Options) (device.Program, error) {
	if err := d.alive(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fault.As(fault.Canceled, err, "toy: compile")
	}
	if d.is(FailCompile) {
		return nil, fault.New(fault.Device, "toy: the compiler failed")
	}
	for i := range u.Graph.Nodes {
		if reason := d.refuse(u.Graph, &u.Graph.Nodes[i]); reason != "" {
			return nil, fault.New(fault.Unsupported, "%s: %s", u.Graph.Nodes[i].Label(), reason)
		}
	}
	order, err := u.Graph.Order()
	if err != nil {
		return nil, err
	}
	if u.Weights != nil {
		u.Weights.Retain()
	}
	p := &program{dev: d, unit: u, order: order, half: o.Float16 && d.float16() == device.Honours}
	if !d.is(MissingPorts) {
		p.in, p.out = ports(u.Graph, u.Graph.In), ports(u.Graph, u.Graph.Out)
	}
	p.refs.Store(1)
	return p, nil
}

func ports(g *graph.Graph, vs []graph.Value) []device.Port {
	out := make([]device.Port, len(vs))
	for i, v := range vs {
		out[i] = device.Port{Name: g.Values[v].Name, Type: g.Fact(v).Type}
		for _, d := range g.Fact(v).Shape.Dims {
			lo, hi := d.N, d.N
			if !d.Known() {
				lo, hi = 1, 1<<20
			}
			out[i].Min, out[i].Max = append(out[i].Min, lo), append(out[i].Max, hi)
		}
	}
	return out
}

const magic = "TOY1"

// Load restores what Save wrote.
func (d *Device) Load(ctx context.Context, data []byte) (device.Program, error) {
	if !bytes.HasPrefix(data, []byte(magic)) {
		return nil, fault.New(fault.File, "toy: not a saved program")
	}
	weights := mem.NewWeights()
	defer weights.Release()
	g, err := graph.Decode(data[len(magic):],
		graph.DecodeOptions{Const: func(h tensor.Hash, data []byte, _ int64) ([]byte, error) {
			return weights.Add(h, data)
		}})
	if err != nil {
		return nil, err
	}
	return d.Compile(ctx, device.Unit{Graph: g, Weights: weights}, device.Options{})
}

// Alloc returns memory that the host cannot map, or host memory.
func (d *Device) Alloc(size int64) (mem.Buffer, error) {
	if err := d.alive(); err != nil {
		return nil, err
	}
	if d.is(FailAlloc) || size < 0 {
		return nil, fault.New(fault.Memory, "toy: no %d bytes left", size)
	}
	if d.host {
		return mem.Host(size, mem.Options{})
	}
	return newMemory(d, size), nil
}

// reaches counts a binding that the device uses in place: buffers that have a file descriptor, and its own; the host's
// partner takes all that can be mapped.
func (d *Device) reaches(b mem.Buffer) bool {
	_, _, shared := b.FD()
	_, err := b.Map()
	if m, own := b.(*memory); shared || own && m.dev == d || d.host && err == nil {
		d.InPlace.Add(1)
		return true
	}
	return false
}

// memory is the device's own.
type memory struct {
	dev  *Device
	refs atomic.Int64
	data []byte
}

var live atomic.Int64

// LiveCounters count the toy's memory, programs and executions, for package leak.
var LiveCounters = map[string]func() int64{"toy objects": live.Load}

func newMemory(d *Device, n int64) *memory {
	m := &memory{dev: d, data: make([]byte, n)}
	m.refs.Store(1)
	live.Add(1)
	return m
}

func (m *memory) Size() int64            { return int64(len(m.data)) }
func (m *memory) Map() ([]byte, error)   { return nil, mem.ErrUnmappable }
func (m *memory) FD() (int, int64, bool) { return -1, 0, false }
func (m *memory) Retain()                { m.refs.Add(1) }

func (m *memory) inside(off, n int64) error {
	if off < 0 || n < 0 || off > m.Size() || n > m.Size()-off {
		return fault.New(fault.Argument, "toy: %d bytes at %d of %d", n, off, m.Size())
	}
	return m.dev.alive()
}

func (m *memory) Sync(_ mem.Direction, off, n int64) error { return m.inside(off, n) }

func (m *memory) CopyIn(off int64, src []byte) error {
	if err := m.inside(off, int64(len(src))); err != nil {
		return err
	}
	copy(m.data[off:], src)
	return nil
}

func (m *memory) CopyOut(dst []byte, off int64) error {
	if err := m.inside(off, int64(len(dst))); err != nil {
		return err
	}
	copy(dst, m.data[off:])
	return nil
}

func (m *memory) Release() {
	if n := m.refs.Add(-1); n == 0 {
		live.Add(-1)
	} else if n < 0 {
		panic("toy: memory released too often")
	}
}

// program is a compiled graph.
type program struct {
	refs    atomic.Int64
	dev     *Device
	unit    device.Unit
	order   []int
	half    bool // results are rounded to float16
	in, out []device.Port
}

func (p *program) Ports() (in, out []device.Port) { return p.in, p.out }
func (p *program) Retain()                        { p.refs.Add(1) }

func (p *program) Release() {
	if n := p.refs.Add(-1); n == 0 && p.unit.Weights != nil {
		p.unit.Weights.Release()
	} else if n < 0 {
		panic("toy: a program released too often")
	}
}

// Held implements device.GraphHolder.
func (p *program) Held() (*graph.Graph, func(), error) { return p.unit.Graph, func() {}, nil }

func (p *program) Save(w io.Writer) error {
	if err := p.dev.alive(); err != nil {
		return err
	}
	if _, err := io.WriteString(w, magic); err != nil {
		return fault.As(fault.File, err, "toy: save")
	}
	return graph.Encode(w, p.unit.Graph, graph.EncodeOptions{})
}
