package nnapi

import (
	"math"
	"slices"
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/io"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

// slot returns input or output index, which is not bound yet, with its port.
func (e *Execution) slot(output bool, index int32) (*port, *binding, error) {
	if err := e.open(); err != nil {
		return nil, nil, err
	}
	ports, list, what := e.in, e.inputs, "inputs"
	if output {
		ports, list, what = e.out, e.outputs, "outputs"
	}
	if uint64(uint32(index)) >= uint64(len(ports)) {
		return nil, nil, badData("index: %d: the model has %d %s [nnapi-index-model]", index, len(ports), what)
	}
	if list[index].set {
		return nil, nil, badState("index: %d: it is set already [nnapi-index-set-already]", index)
	}
	return &ports[index], &list[index], nil
}

// dimensions joins those of the operand with those that the program gives, nil for none. complete wants all of them.
func dimensions(p *port, t *OperandType, complete bool) (dims []uint32, size uint64, err error) {
	o := *p.operand
	if t != nil {
		open := len(o.Dims) == 0 && !o.Type.IsScalar()
		if !open && uint64(t.dimensionCount) != uint64(len(o.Dims)) {
			return nil, 0, badData("type: dimensionCount %d: the operand is %v%v "+
				"[nnapi-type-dimension-count]", t.dimensionCount, o.Type, o.Dims)
		}
		given, err := t.read()
		if err != nil {
			return nil, 0, refuseFor(BadData, err, "type")
		}
		switch {
		case open:
			o.Dims = given.Dims
		case !completes(o.Dims, given.Dims):
			return nil, 0, badData("type: dimensions %v: the operand is %v%v "+
				"[nnapi-type-dimensions-operand]", given.Dims, o.Type, o.Dims)
		default:
			o.Dims = given.Dims
		}
		if complete && !given.Specified() && !o.Type.IsScalar() {
			return nil, 0, badData("type: dimensions %v: want all of them for an input "+
				"[nnapi-type-dimensions-input]", given.Dims)
		}
	}
	if complete && !o.Specified() {
		return nil, 0, badData("type: NULL: the operand is %v%v: give the dimensions that are open "+
			"[nnapi-type-null-operand]", o.Type, o.Dims)
	}
	if !o.Specified() {
		return o.Dims, 0, nil
	}
	size, err = o.Size()
	if err != nil {
		return nil, 0, refuseFor(BadData, err, "type")
	}
	return o.Dims, size, nil
}

// fits judges the length of bound memory: exactly what the dimensions take, with padding also more.
func (e *Execution) fits(o *nnapi.Operand, dims []uint32, size, length uint64) error {
	switch {
	case length == 0:
		return badData("length: 0: want the bytes of the memory [nnapi-length-bytes-memory]")
	case length > math.MaxUint32:
		return badData("length: %d: want at most %d [nnapi-length-most]", length, uint32(math.MaxUint32))
	case size == 0 || length == size || length > size && e.padding:
		return nil
	case length > size:
		return badData("length: %d: %v%v takes %d bytes; more are for executions with padding enabled "+
			"[nnapi-length-takes-bytes]", length, o.Type,
			dims, size)
	}
	return badData("length: %d: %v%v takes %d bytes [nnapi-length-takes-bytes-fits]", length, o.Type, dims, size)
}

// bindPointer binds memory of the program to an input or output; NULL with length 0 leaves it out.
func (e *Execution) bindPointer(output bool, index int32, t *OperandType, p unsafe.Pointer, length uint64) error {
	if p == nil && length > 0 {
		return null("buffer")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	port, b, err := e.slot(output, index)
	if err != nil {
		return err
	}
	dims, size, err := dimensions(port, t, !output && p != nil)
	if err != nil {
		return err
	}
	if p == nil {
		*b, e.touched = binding{set: true, dims: dims}, true
		return nil
	}
	if err := e.fits(port.operand, dims, size, length); err != nil {
		return err
	}
	if err := boundary.CheckRange(p, length); err != nil {
		return refuseFor(BadData, err, "buffer")
	}
	buf := mem.Borrow(unsafe.Slice((*byte)(p), int(length)), nil)
	*b, e.touched = binding{set: true, buf: buf, length: length, dims: dims, size: size}, true
	return nil
}

func executionSetInput(e *Execution, index int32, t *OperandType, p unsafe.Pointer, length uint64) error {
	return e.bindPointer(false, index, t, p, length)
}

func executionSetOutput(e *Execution, index int32, t *OperandType, p unsafe.Pointer, length uint64) error {
	return e.bindPointer(true, index, t, p, length)
}

// bindMemory binds a part of a file's memory, or a whole memory that a device manages.
func (e *Execution) bindMemory(output bool, index int32, t *OperandType, m *Memory, offset, length uint64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	port, b, err := e.slot(output, index)
	if err != nil {
		return err
	}
	dims, size, err := dimensions(port, t, false)
	if err != nil {
		return err
	}
	if m.managed != nil {
		if offset != 0 || length != 0 {
			return badData("offset %d and length %d: memory of a description is used whole: want 0 and 0 "+
				"[nnapi-offset-length-memory]", offset, length)
		}
		if !slices.Contains(m.managed.roles, role{e.compiled, output, uint32(index)}) {
			return badData("memory: its description does not have this role: index %d of this compilation "+
				"[nnapi-memory-description-role]", index)
		}
		buf, err := m.buffer()
		if err != nil {
			return err
		}
		*b, e.touched = binding{set: true, buf: buf, length: m.size, dims: dims, size: size, device: m}, true
		return nil
	}
	if !output && size == 0 {
		return badData("type: dimensions %v: want all of them for an input [nnapi-type-dimensions-input]", dims)
	}
	use := reading
	if output {
		use = writing
	}
	if err := m.within(offset, length, use); err != nil {
		return err
	}
	if err := e.fits(port.operand, dims, size, length); err != nil {
		return err
	}
	buf, err := m.buffer()
	if err != nil {
		return err
	}
	*b, e.touched = binding{set: true, buf: buf, off: int64(offset), length: length, dims: dims, size: size}, true
	return nil
}

func executionSetInputFromMemory(e *Execution, index int32, t *OperandType, m *Memory, offset, length uint64) error {
	return e.bindMemory(false, index, t, m, offset, length)
}

func executionSetOutputFromMemory(e *Execution, index int32, t *OperandType, m *Memory, offset, length uint64) error {
	return e.bindMemory(true, index, t, m, offset, length)
}

// view is the memory of an input, or of an output whose dimensions are known, as core wants it.
func (b *binding) view(p *port, dims []uint32) mem.View {
	t := p.core
	if !t.Shape.Static() {
		sizes := make([]int64, len(dims))
		for i, n := range dims {
			sizes[i] = int64(n)
		}
		t.Shape = tensor.Of(sizes...)
	}
	return mem.View{Buf: b.buf, Off: b.off, Type: t}
}

// changes reports whether an input is bound for each computation: a device's memory may hold other dimensions then, and
// booleans other bytes.
func (b *binding) changes(p *port) bool { return b.device != nil || p.core.DType == tensor.Bool }

// held returns the dimensions of an input's memory, which is not empty.
func (b *binding) held() ([]uint32, error) {
	if b.device == nil {
		return b.dims, nil
	}
	dims, written := b.device.state()
	if !written {
		return nil, fault.New(fault.Data, "nothing was written to its memory [nnapi-nothing-written-memory]")
	}
	if len(b.dims) > 0 && !agree(b.dims, dims) {
		return nil, fault.New(fault.Shape, "its memory holds dimensions %v: want %v "+
			"[nnapi-memory-holds-dimensions]", dims, b.dims)
	}
	return dims, nil
}

// booleanTensor is core's form of booleans.
var booleanTensor = convert.Tensor{Type: tensor.Bool}

// feedBooleans gives input k of an execution 0 and 1 alone, as core has them: the memory as it lies, or, where a byte
// of it is another number, which is true as well, a copy.
func feedBooleans(x *io.Execution, k int, v mem.View) error {
	n, _ := v.Type.ByteSize()
	data, err := v.Buf.Map()
	if err != nil || v.Off+n > int64(len(data)) {
		return x.Input(k, v) // a device's own memory, which it has written; or too little, which core refuses
	}
	data = data[v.Off : v.Off+n]
	plain := true
	err = guarded("the memory", func() error {
		plain = !slices.ContainsFunc(data, func(b byte) bool { return b > 1 })
		return nil
	})
	if err != nil {
		return err
	}
	if plain {
		return x.Input(k, v)
	}
	dims, _ := v.Type.Shape.Ints()
	p := &io.Port{Tensor: &booleanTensor, At: k, Dims: dims}
	room, err := x.Room(p)
	if err != nil {
		return err
	}
	to, err := room.Buf.Map()
	if err == nil {
		err = guarded("the memory", func() error {
			copy(to, data)
			normalize(to)
			return nil
		})
	}
	if err != nil {
		return err
	}
	return x.FeedStaged(p)
}

// normalize makes 1 of every true.
func normalize(data []byte) {
	for i, b := range data {
		if b != 0 {
			data[i] = 1
		}
	}
}
