package rknn

import (
	"context"
	"encoding/binary"
	"io"
	"math"
	"time"
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
	"github.com/anynpu/anynpu/core/tensor"
)

// products is a program of products. Its executions share the driver's contexts and memory, one run at a time.
type products struct {
	driver.GraphProgram
	dev   *Device
	steps []*step // in executable order
	lane  driver.Lane
}

// step is one product in a context of the driver's.
type step struct {
	product
	node    int
	context uintptr
	memory  [3]*driver.Memory // of A, B and C
	added   []float32         // the bias
}

// products makes a program of a graph whose nodes are all products.
func (d *Device) products(u device.Unit, o device.Options) (device.Program, error) {
	g := u.Graph
	order, err := g.Order()
	if err != nil {
		return nil, err
	}
	p := &products{dev: d, lane: driver.NewLane()}
	p.Hold(u, o, p.end)
	for _, i := range order {
		one, _ := d.productOf(g, &g.Nodes[i], o)
		s := &step{product: one, node: i}
		p.steps = append(p.steps, s)
		if err := d.make(s, g); err != nil {
			p.Release()
			return nil, g.Nodes[i].Err(err)
		}
	}
	return p, nil
}

// make makes the context and the memory of a step, and writes what is constant.
func (d *Device) make(s *step, g *graph.Graph) error {
	info := spec.MatmulInfo{M: int32(s.m), K: int32(s.k), N: int32(s.n), Kind: spec.MatmulFloat16ToFloat32}
	var shape spec.MatmulIOAttr
	code, err := d.driver.MatmulCreate(unsafe.Pointer(&s.context), unsafe.Pointer(&info), unsafe.Pointer(&shape))
	if err = call("rknn_matmul_create", code, err); err != nil {
		return err
	}
	if s.context == 0 {
		return fault.New(fault.Device, "rknn_matmul_create succeeds without a context")
	}
	sizes := [3]int64{2 * s.m * s.k, 2 * s.k * s.n, 4 * s.m * s.n}
	for i, a := range []*spec.MatmulTensorAttr{&shape.A, &shape.B, &shape.C} {
		if int64(a.Size) != sizes[i] {
			return fault.New(fault.Device, "rknn_matmul_create says that matrix %c takes %d bytes, want %d", 'A'+i, a.Size,
				sizes[i])
		}
		if s.memory[i], err = d.create(s.context, sizes[i]); err != nil {
			return err
		}
		code, err := d.driver.MatmulSetIoMem(s.context, driver.Pointer(s.memory[i].At), unsafe.Pointer(a))
		if err = call("rknn_matmul_set_io_mem", code, err); err != nil {
			return err
		}
	}
	if c := g.Fact(s.b).Const; c != nil {
		copy(s.memory[1].Bytes, s.matrix(g.Fact(s.b).DType, c.Data))
		if err := d.sync(s.context, s.memory[1], spec.SyncToDevice); err != nil {
			return err
		}
	}
	if s.bias != graph.None {
		s.added = floats(g.Fact(s.bias).DType, g.Fact(s.bias).Const.Data)
	}
	return nil
}

// Save implements device.Program.
func (p *products) Save(w io.Writer) error {
	return fault.New(fault.Unsupported, "device %s: products of matrices have no saved form", p.dev.Info().ID)
}

// New implements device.Program.
func (p *products) New(o device.ExecOptions) (device.Execution, error) {
	if err := p.dev.Alive(); err != nil {
		return nil, err
	}
	p.Retain()
	e := &productRun{Base: exec.Base{Bound: exec.NewBindings(p.In, p.Out)}, prog: p, profiling: o.Profiling}
	e.Result = e.result
	return e, nil
}

func (p *products) end() {
	for _, s := range p.steps {
		for _, m := range s.memory {
			m.Release()
		}
		if s.context != 0 && p.dev.Life.Alive() == nil {
			_, _ = p.dev.driver.MatmulDestroy(s.context) // nothing is left to do with an error
		}
	}
}

// productRun is an execution of products.
type productRun struct {
	exec.Base
	prog      *products
	profiling bool
	done      bool
	data      [][]byte // of the unbound outputs of the last run
}

// Start implements device.Execution.
func (e *productRun) Start(r device.RunRequest) error {
	if err := e.prog.dev.Alive(); err != nil {
		return err
	}
	return e.Task.Start(r, func() error {
		e.done = false
		return e.Bound.Ready()
	}, e.run)
}

func (e *productRun) run(ctx context.Context) error {
	p, begin := e.prog, time.Now()
	g := p.Unit.Graph
	values := map[graph.Value][]byte{}
	for i, v := range g.In {
		view, err := e.Bound.In[i].Input()
		if err == nil {
			values[v] = make([]byte, p.bytes(v))
			err = view.Load(values[v])
		}
		if err != nil {
			return fault.Wrap(err, "input %d", i)
		}
		e.Counts.CopiedIn += int64(len(values[v]))
	}
	leave, err := p.lane.Enter(ctx, p.dev.Life)
	if err != nil {
		return err
	}
	defer func() { leave() }()
	var times []device.NodeTime
	for _, s := range p.steps {
		from := time.Since(begin)
		if values[s.y], err = e.step(ctx, s, values, &leave); err != nil {
			return err
		}
		if n := &g.Nodes[s.node]; e.profiling {
			times = append(times, device.NodeTime{Node: n.Origin, Name: n.Name, Op: graph.NameOf(n.Op), Device: p.dev.Info().ID,
				Start: from, Length: time.Since(begin) - from})
		}
	}
	data := make([][]byte, len(g.Out))
	for i, v := range g.Out {
		if e.Bound.Out[i].View.Buf == nil {
			data[i] = values[v]
			continue
		}
		view, err := e.Bound.Out[i].Output(g.Fact(v).Type)
		if err == nil {
			views := []mem.View{view}
			mem.Begin(views)
			err = view.Store(values[v])
			mem.End(views)
		}
		if err != nil {
			return fault.Wrap(err, "output %d", i)
		}
		e.Counts.CopiedOut += int64(len(values[v]))
	}
	e.data, e.done = data, true
	e.Counts.Runs++
	e.Counts.Nodes, e.Counts.LastRun = times, time.Since(begin)
	return nil
}

func (p *products) bytes(v graph.Value) int64 {
	n, _ := p.Unit.Graph.Fact(v).ByteSize()
	return n
}

// step computes one product.
func (e *productRun) step(ctx context.Context, s *step, values map[graph.Value][]byte, leave *func()) ([]byte, error) {
	p, d := e.prog, e.prog.dev
	g := p.Unit.Graph
	kind := g.Fact(s.a).DType
	of := func(v graph.Value) []byte {
		if c := g.Fact(v).Const; c != nil {
			return c.Data
		}
		return values[v]
	}
	halves(s.memory[0].Bytes, kind, of(s.a))
	if g.Fact(s.b).Const == nil {
		halves(s.memory[1].Bytes, kind, of(s.b))
		if err := d.sync(s.context, s.memory[1], spec.SyncToDevice); err != nil {
			return nil, err
		}
	}
	if err := d.sync(s.context, s.memory[0], spec.SyncToDevice); err != nil {
		return nil, err
	}
	p.Retain() // a product that is given up has the memory
	err := p.lane.Call(ctx, d.Life, "rknn_matmul_run", func() error {
		code, err := d.driver.MatmulRun(s.context)
		return call("rknn_matmul_run", code, err)
	}, leave, p.Release)
	if err != nil {
		return nil, err
	}
	if err := d.sync(s.context, s.memory[2], spec.SyncFromDevice); err != nil {
		return nil, err
	}
	out := make([]byte, p.bytes(s.y))
	for i := range s.m * s.n {
		x := float32At(s.memory[2].Bytes, int(i))
		if s.added != nil {
			x += s.added[i%s.n]
		}
		if kind == tensor.Float16 {
			binary.LittleEndian.PutUint16(out[2*i:], tensor.Float32To16(x))
		} else {
			binary.LittleEndian.PutUint32(out[4*i:], math.Float32bits(x))
		}
	}
	return out, nil
}

func (e *productRun) result(i int) (t tensor.Type, data []byte, done bool) {
	if !e.done {
		return t, nil, false
	}
	return e.prog.Out[i].Type, e.data[i], true
}

// Release implements device.Execution.
func (e *productRun) Release() {
	if e.Close() {
		e.prog.Release()
	}
}
