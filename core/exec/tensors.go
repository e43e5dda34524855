package exec

import (
	"slices"
	"sync"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/core/tensordump"
)

// Exposed are the values of a program that are dumped. A value without a name is not written.
type Exposed struct {
	Dump    *tensordump.Dump
	Model   string
	Visible int // of the outputs, those that the program's ports show
	In, Out []tensordump.Value
}

// dumping is an execution whose runs are written.
type dumping struct {
	device.Execution
	exposed *Exposed

	mu      sync.Mutex
	in, out []mem.View
	sizes   [][]int64 // of inputs, as the program has set them
}

// Execution is an execution of the program whose runs are written.
func (s *Exposed) Execution(e device.Execution) device.Execution {
	return &dumping{Execution: e, exposed: s, in: make([]mem.View, len(s.In)), out: make([]mem.View, s.Visible),
		sizes: make([][]int64, len(s.In))}
}

// SetShape implements device.Execution.
func (d *dumping) SetShape(in int, dims []int64) error {
	err := d.Execution.SetShape(in, dims)
	if err == nil {
		d.mu.Lock()
		d.sizes[in] = slices.Clone(dims)
		d.mu.Unlock()
	}
	return err
}

// BindInput implements device.Execution.
func (d *dumping) BindInput(i int, v mem.View) error {
	return d.bind(d.in, i, v, d.Execution.BindInput(i, v))
}

// BindOutput implements device.Execution.
func (d *dumping) BindOutput(i int, v mem.View) error {
	return d.bind(d.out, i, v, d.Execution.BindOutput(i, v))
}

func (d *dumping) bind(list []mem.View, i int, v mem.View, err error) error {
	if err == nil {
		d.mu.Lock()
		list[i] = v
		d.mu.Unlock()
	}
	return err
}

// Start implements device.Execution.
func (d *dumping) Start(r device.RunRequest) error {
	var inputs []tensor.Tensor
	if len(r.Fences) == 0 { // results may be written over inputs
		inputs = d.inputs()
	}
	done := r.Done
	r.Done = func(err error) {
		if err == nil {
			if inputs == nil {
				inputs = d.inputs()
			}
			d.write(inputs)
		}
		if done != nil {
			done(err)
		}
	}
	return d.Execution.Start(r)
}

// inputs are copies of the inputs; one that cannot be read has no type.
func (d *dumping) inputs() []tensor.Tensor {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := make([]tensor.Tensor, len(d.in))
	for i, v := range d.in {
		if d.exposed.In[i].Name == "" || v.Buf == nil {
			continue
		}
		if _, known := v.Type.Shape.Ints(); !known && d.sizes[i] != nil {
			v.Type.Shape = tensor.Of(d.sizes[i]...)
		}
		list[i] = read(v)
	}
	return list
}

// read copies what a view shows. Who starts the run has begun to use its memory (mem.Begin).
func read(v mem.View) (t tensor.Tensor) {
	size, known := v.Type.ByteSize()
	if !known || size > v.Buf.Size() { // a device may report sizes that are wrong
		return t
	}
	data := make([]byte, size)
	if err := v.Load(data); err != nil {
		return t
	}
	t.DType, t.Data = v.Type.DType, data
	t.Dims, _ = v.Type.Shape.Ints()
	return t
}

// write writes a run that has ended.
func (d *dumping) write(inputs []tensor.Tensor) {
	run := d.exposed.Dump.Run(d.exposed.Model)
	if run == nil {
		return
	}
	for i, t := range inputs {
		if v := d.exposed.In[i]; v.Name != "" && !t.Absent() {
			run.Add(v, t)
		}
	}
	for i, v := range d.exposed.Out {
		if v.Name == "" {
			continue
		}
		if t := d.result(i); !t.Absent() {
			run.Add(v, t)
		}
	}
	run.End()
}

// result is an output of the last run; one that cannot be read has no type.
func (d *dumping) result(i int) (t tensor.Tensor) {
	typ, err := d.Execution.OutputType(i)
	if err != nil {
		return t
	}
	var bound mem.View
	d.mu.Lock()
	if i < len(d.out) {
		bound = d.out[i]
	}
	d.mu.Unlock()
	if bound.Buf != nil {
		if bound.Type.DType == tensor.Invalid {
			bound.Strides = nil
		}
		bound.Type = typ
		return read(bound)
	}
	data, err := d.Execution.OutputData(i)
	if err != nil {
		return t
	}
	t.DType, t.Data = typ.DType, data
	t.Dims, _ = typ.Shape.Ints()
	return t
}
