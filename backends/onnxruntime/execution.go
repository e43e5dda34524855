package onnxruntime

import (
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/mem"
)

// execution binds inputs and outputs where they are.
type execution struct {
	driver.Execution
	prog    *program
	binding uintptr
	bound   []*driver.Memory // by slot, as the binding has them
	next    *turn            // of the next run
}

// turn is one run.
type turn struct {
	mu      sync.Mutex
	options uintptr // OrtRunOptions while it is under way, 0: none
	stopped bool
}

// New implements device.Program.
func (p *program) New(device.ExecOptions) (device.Execution, error) {
	if err := p.dev.Alive(); err != nil {
		return nil, err
	}
	binding, err := p.dev.lib.made(fnCreateIoBinding, p.session)
	if err != nil {
		return nil, err
	}
	e := &execution{prog: p, binding: binding}
	e.Host = true
	e.Begin(&p.dev.Device, &p.Program, "RunWithBinding", e)
	e.bound = make([]*driver.Memory, len(e.Slots))
	return e, nil
}

// Own implements driver.Calls: memory of the host's.
func (e *execution) Own(s *driver.Slot) (*driver.Memory, error) {
	buf, err := mem.Host(max(s.Size, 1), mem.Options{Huge: s.Size >= 8<<20})
	if err != nil {
		return nil, err
	}
	m, err := e.memory(s, buf, 0)
	if err != nil {
		buf.Release()
	}
	return m, err
}

// Take implements driver.Calls: memory that the processor reaches, at addresses that suit its elements.
func (e *execution) Take(s *driver.Slot, v mem.View) *driver.Memory {
	if s.Size == 0 || v.Buf.Size() < v.Off+s.Size {
		return nil
	}
	v.Buf.Retain()
	m, err := e.memory(s, v.Buf, v.Off)
	if err != nil {
		v.Buf.Release()
		return nil
	}
	return m
}

// memory is an OrtValue at an offset of a buffer, of which it takes over a reference.
func (e *execution) memory(s *driver.Slot, buf mem.Buffer, off int64) (*driver.Memory, error) {
	data, err := buf.Map()
	if err != nil {
		return nil, err
	}
	l := e.prog.dev.lib
	at := unsafe.Pointer(&data[off])
	if size := uintptr(max(s.Type.DType.Bits()/8, 1)); uintptr(at)%size != 0 {
		return nil, fault.New(fault.Unsupported, "an address that is no multiple of %d", size)
	}
	dims, _ := s.Type.Shape.Ints()
	list := append(dims[:len(dims):len(dims)], 0)
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&list[0])
	const arenaAllocator, defaultMemory = 1, 0
	info, err := l.made(fnCreateCpuMemoryInfo, arenaAllocator, defaultMemory)
	if err != nil {
		return nil, err
	}
	defer l.raw(fnReleaseMemoryInfo, info) // the value has a copy
	value, err := l.made(fnCreateTensorWithDataAsOrtValue, info, uintptr(at), uintptr(s.Size),
		uintptr(unsafe.Pointer(&list[0])), uintptr(len(dims)), uintptr(proto.ElementType(s.Type.DType)))
	if err != nil {
		return nil, err
	}
	d := e.prog.dev
	return &driver.Memory{At: value, Bytes: data[off : off+s.Size], Buf: buf, Off: off, End: func() {
		if d.Life.Alive() == nil {
			d.lib.raw(fnReleaseValue, value)
		}
	}}, nil
}

// Enter implements driver.Calls: it binds the tensors that were bound anew since the last run.
func (e *execution) Enter() error {
	l := e.prog.dev.lib
	for i := range e.Slots {
		s := &e.Slots[i]
		if e.bound[i] == s.Set {
			continue
		}
		fn, name := fnBindInput, (*byte)(nil)
		if s.Output {
			fn, name = fnBindOutput, e.prog.out[s.Index]
		} else {
			name = e.prog.in[s.Index]
		}
		if name == nil {
			continue
		}
		if err := l.call(fn, e.binding, address(name), s.Set.At); err != nil {
			return s.Wrap(err)
		}
		e.bound[i] = s.Set
	}
	return nil
}

// Stopper implements driver.Stopped: the runtime looks at the flag between two nodes, and not within one or within
// nodes that a provider has fused.
func (e *execution) Stopper() (stop func()) {
	d, t := e.prog.dev, &turn{}
	e.next = t
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.stopped = true
		if t.options != 0 && d.Life.Alive() == nil {
			d.lib.raw(fnRunOptionsSetTerminate, t.options)
		}
	}
}

// EndsSoon implements driver.Prompt: the runtime's own provider looks at the flag between two nodes, and its nodes are
// short. Others have been seen to compute on.
func (e *execution) EndsSoon() bool { return e.prog.dev.provider.Name == CPUProvider && roomyStack() }

// Run implements driver.Calls. The flag that ends a run stays set, so that each run has options of its own.
func (e *execution) Run() error {
	if len(e.prog.out) == 0 { // of a part whose results are constants by now; the runtime refuses to run nothing
		return nil
	}
	l, t := e.prog.dev.lib, e.next
	options, err := l.made(fnCreateRunOptions)
	if err != nil {
		return err
	}
	t.mu.Lock()
	t.options = options
	if t.stopped {
		l.raw(fnRunOptionsSetTerminate, options)
	}
	t.mu.Unlock()
	views := e.views()
	mem.Begin(views)
	restore := keepSignalStack() // a provider may put off to a run what it has to make
	err = l.call(fnRunWithBinding, e.prog.session, options, e.binding)
	restore()
	mem.End(views)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.options = 0
	l.raw(fnReleaseRunOptions, options)
	return judged(err)
}

// judged makes the error of a kernel one of the data that it was given: an index outside of a tensor, for example.
func judged(err error) error {
	if fault.KindOf(err) == fault.Device && !isDead(err) && strings.Contains(err.Error(), "while running ") {
		return fault.New(fault.Data, "%v", err)
	}
	return err
}

// views are the buffers that a run reads and writes: they stay where they are meanwhile.
func (e *execution) views() (list []mem.View) {
	for i := range e.Slots {
		list = append(list, mem.View{Buf: e.Slots[i].Set.Buf})
	}
	return list
}

// Leave implements driver.Calls.
func (e *execution) Leave() error { return nil }

// End implements driver.Calls.
func (e *execution) End() {
	if e.prog.dev.Life.Alive() == nil {
		e.prog.dev.lib.raw(fnReleaseIoBinding, e.binding)
	}
}
