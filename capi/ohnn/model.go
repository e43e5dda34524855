package ohnn

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
)

// Model is an OH_NNModel (section 6). It is open until modelFinish and never changes after it, so compilations share
// it: they keep it alive when the program destroys it. Safe for concurrent use.
type Model struct {
	handle.Ref

	mu        sync.Mutex
	tensors   []*modelTensor
	ops       []*operation
	inputs    []uint32
	outputs   []uint32
	specified bool // SpecifyInputsAndOutputs has succeeded
	closed    bool // Finish has been tried: nothing can be added
	built     bool // Finish has succeeded
	supported boundary.Block
	lower     lowered // made of a built model on first use
}

// modelTensor is a tensor of a model, numbered by its place in Model.tensors.
type modelTensor struct {
	dataType   DataType
	shape      []int32 // -1: known at run time; empty: a scalar
	tensorType TensorType
	quant      quant
	data       []byte // constant data; nil: none
}

// tensorName is the name in descriptors and reports of tensor index of a model.
func tensorName(index uint32) string { return fmt.Sprintf("Tensor: %d", index) }

// checkShape refuses dimensions that no model tensor can have, and tensors that are too large even with every unknown
// dimension 1.
func checkShape(dataType DataType, shape []int32) error {
	size := dataType.Size()
	for i, d := range shape {
		if d == 0 || d < -1 {
			return invalid("dimensions[%d]: %d: want a positive number, or -1 for a dimension that is known at "+
				"run time [ohnn-dimensions-positive-number]", i, d)
		}
		hi, lo := bits.Mul64(size, uint64(max(d, 1)))
		if size = lo; hi != 0 || lo > maxTensorSize {
			return invalid("dimensions: %v of %v: more than %d bytes "+
				"[ohnn-dimensions-bytes]", shape, dataType, uint32(maxTensorSize))
		}
	}
	return nil
}

// byteLength returns the bytes of the tensor's data; dynamic is true when the shape is not complete.
func (t *modelTensor) byteLength() (n uint64, dynamic bool) {
	n = t.dataType.Size()
	for _, d := range t.shape {
		if d < 0 {
			return 0, true
		}
		n *= uint64(d)
	}
	return n, false
}

// open refuses a change of a model that Finish has closed.
func (m *Model) open() error {
	if m.closed {
		return forbidden("model: it is finished: nothing can be added or changed after OH_NNModel_Finish " +
			"[ohnn-model-finished-nothing]")
	}
	return nil
}

func (m *Model) tensor(name string, index uint32) (*modelTensor, error) {
	if uint64(index) >= uint64(len(m.tensors)) {
		return nil, invalid("%s: %d: the model has %d tensors [ohnn-model-tensors]", name, index, len(m.tensors))
	}
	return m.tensors[index], nil
}

func modelConstruct() (*Model, error) { return &Model{}, nil }

func modelDestroy(m *Model) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.supported.Free()
	return nil
}

// modelAddTensorToModel drops the descriptor's name and format. After Finish the manual's text forbids it; the
// reference answers Success and adds a tensor that nothing can use.
func modelAddTensorToModel(m *Model, desc *TensorDesc) error {
	dataType, shape := desc.read()
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.open(); err != nil && !settings().reference {
		return err
	}
	if err := checkShape(dataType, shape); err != nil {
		return refuseFor(InvalidParameter, err, "tensorDesc")
	}
	m.tensors = append(m.tensors, &modelTensor{dataType: dataType, shape: shape})
	return nil
}

// modelAddTensor is the API 9 form: descriptor, role and quantization parameters in one struct.
func modelAddTensor(m *Model, info *TensorInfo9) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.open(); err != nil {
		return err
	}
	t, err := info.read()
	if err != nil {
		return refuseFor(InvalidParameter, err, "tensor")
	}
	m.tensors = append(m.tensors, t)
	return nil
}

// read copies and checks the struct.
func (info *TensorInfo9) read() (*modelTensor, error) {
	if !info.dataType.Valid() {
		return nil, invalid("dataType: %d is no OH_NN_DataType: 0 to %d "+
			"[ohnn-data-type-no]", int32(info.dataType), spec.DataTypeEnd-1)
	}
	if info.tensorType >= spec.TensorTypeEnd {
		return nil, invalid("type: %d is no OH_NN_TensorType: 0 to %d "+
			"[ohnn-type-no-tensor]", int32(info.tensorType), spec.TensorTypeEnd-1)
	}
	if (info.dimensions == nil) != (info.dimensionCount == 0) {
		return nil, invalid("dimensions: %p with dimensionCount %d: want NULL exactly when the count is 0 "+
			"[ohnn-dimensions-dimension-count]", info.dimensions,
			info.dimensionCount)
	}
	if info.dimensionCount > maxLegacyRank {
		return nil, invalid("dimensionCount: %d: want at most %d "+
			"[ohnn-dimension-count]", info.dimensionCount, maxLegacyRank)
	}
	if err := boundary.CheckRange(unsafe.Pointer(info.dimensions), 4*uint64(info.dimensionCount)); err != nil {
		return nil, refuseFor(InvalidParameter, err, "dimensions")
	}
	t := &modelTensor{dataType: info.dataType, tensorType: info.tensorType}
	t.shape = slices.Clone(unsafe.Slice(info.dimensions, info.dimensionCount))
	if err := checkShape(t.dataType, t.shape); err != nil {
		return nil, err
	}
	if info.quantParam == nil {
		return t, nil
	}
	var err error
	if t.quant, err = info.quantParam.read(); err != nil {
		return nil, err
	}
	return t, nil
}

// read copies and checks the struct; all three arrays are wanted even when there is nothing in them.
func (q *QuantParam9) read() (quant, error) {
	if err := boundary.CheckRange(unsafe.Pointer(q), uint64(unsafe.Sizeof(*q))); err != nil {
		return quant{}, invalid("quantParam: %v [ohnn-quant-param]", err)
	}
	if q.numBits == nil || q.scale == nil || q.zeroPoint == nil {
		return quant{}, invalid("quantParam: numBits %p, scale %p, zeroPoint %p: none of them may be NULL "+
			"[ohnn-quant-param-num]", q.numBits,
			q.scale, q.zeroPoint)
	}
	if q.quantCount > maxChannels {
		return quant{}, invalid("quantParam: quantCount: %d: want at most %d "+
			"[ohnn-quant-param-quant]", q.quantCount, maxChannels)
	}
	n := uint64(q.quantCount)
	for _, a := range []struct {
		p    unsafe.Pointer
		size uint64
	}{{unsafe.Pointer(q.numBits), 4}, {unsafe.Pointer(q.scale), 8}, {unsafe.Pointer(q.zeroPoint), 4}} {
		if err := boundary.CheckRange(a.p, n*a.size); err != nil {
			return quant{}, invalid("quantParam: %v [ohnn-quant-param]", err)
		}
	}
	out, err := quant{unsafe.Slice(q.scale, n), unsafe.Slice(q.zeroPoint, n), unsafe.Slice(q.numBits, n)}.clone()
	if err != nil {
		return quant{}, err
	}
	return out, out.check()
}

// modelSetTensorData copies the data of a constant. Order of checks: length 0, finished, index, set before, dynamic
// shape, length.
func modelSetTensorData(m *Model, index uint32, data []byte) error {
	if len(data) == 0 {
		return invalid("length: 0: want the size of the tensor [ohnn-length-size-tensor]")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.open(); err != nil {
		return err
	}
	t, err := m.tensor("index", index)
	if err != nil {
		return err
	}
	if t.data != nil {
		return invalid("index: %d: the tensor has its data already [ohnn-index-tensor-data]", index)
	}
	size, dynamic := t.byteLength()
	if dynamic {
		return forbidden("index: %d: the tensor's shape %v is not complete, so it can have no constant data "+
			"[ohnn-index-tensor-shape]", index, t.shape)
	}
	if t.dataType == spec.Unknown {
		return invalid("index: %d: the tensor's data type is OH_NN_UNKNOWN, so it can have no data "+
			"[ohnn-index-tensor-data-type]", index)
	}
	if uint64(len(data)) != size {
		return invalid("length: %d: tensor %d of %v%v takes %d bytes "+
			"[ohnn-length-tensor-takes-bytes]", len(data), index, t.dataType, t.shape, size)
	}
	kept, err := mem.Clone(data)
	if err != nil {
		return fault.Wrap(err, "dataBuffer")
	}
	t.data = kept
	return nil
}

// modelSetTensorQuantParams copies the parameters. Parameters that do not fit together also lose the tensor's earlier
// ones.
func modelSetTensorQuantParams(m *Model, index uint32, q *QuantParam) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.open(); err != nil {
		return err
	}
	t, err := m.tensor("index", index)
	if err != nil {
		return err
	}
	t.quant = quant{}
	params, err := q.read()
	if err != nil {
		return err
	}
	if err := params.check(); err != nil {
		return err
	}
	t.quant = params
	return nil
}

// modelSetTensorType says which parameter a tensor is. The type's range is checked before anything else.
func modelSetTensorType(m *Model, index uint32, tensorType TensorType) error {
	if tensorType >= spec.TensorTypeEnd {
		return invalid("tensorType: %d is no OH_NN_TensorType: 0 to %d "+
			"[ohnn-tensor-type-no]", int32(tensorType), spec.TensorTypeEnd-1)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.open(); err != nil {
		return err
	}
	t, err := m.tensor("index", index)
	if err != nil {
		return err
	}
	t.tensorType = tensorType
	return nil
}

// indices copies an index list after checking its form and range. A list of data tensors has 1 to 200 entries; name is
// for messages.
func (m *Model) indices(name string, a *UInt32Array, data bool) ([]uint32, error) {
	if data && (a.size == 0 || a.size > maxIndices) {
		return nil, invalid("%s.size: %d: want 1 to %d [ohnn-indices-size]", name, a.size, maxIndices)
	}
	v, ok := a.values()
	if !ok {
		return nil, invalid("%s: data %p with size %d: want NULL exactly when the size is 0 "+
			"[ohnn-data-size-null]", name, a.data, a.size)
	}
	if len(v) > maxIndices {
		return nil, invalid("%s.size: %d: want at most %d [ohnn-indices-size-most]", name, a.size, maxIndices)
	}
	if err := boundary.CheckRange(unsafe.Pointer(a.data), 4*uint64(len(v))); err != nil {
		return nil, refuseFor(InvalidParameter, err, "%s.data", name)
	}
	v = slices.Clone(v)
	for i, index := range v {
		if _, err := m.tensor(fmt.Sprintf("%s.data[%d]", name, i), index); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// dataIndices are the input and output lists of an operation or of the model. Order of checks: form and range of
// inputs, then of outputs; inputs, then outputs that are no data tensors; an index in both.
func (m *Model) dataIndices(inputs, outputs *UInt32Array) (in, out []uint32, err error) {
	if in, err = m.indices("inputIndices", inputs, true); err != nil {
		return nil, nil, err
	}
	if out, err = m.indices("outputIndices", outputs, true); err != nil {
		return nil, nil, err
	}
	for _, list := range []struct {
		name    string
		indices []uint32
	}{{"inputIndices", in}, {"outputIndices", out}} {
		for i, index := range list.indices {
			if t := m.tensors[index].tensorType; t != spec.DataTensor {
				return nil, nil, invalid("%s.data[%d]: tensor %d is a parameter (%v): want a tensor of type "+
					"OH_NN_TENSOR [ohnn-data-tensor-parameter]",
					list.name, i, index, t)
			}
		}
	}
	for i, index := range in {
		if slices.Contains(out, index) {
			return nil, nil, invalid("inputIndices.data[%d]: tensor %d is in outputIndices too "+
				"[ohnn-input-indices-data]", i, index)
		}
	}
	return in, out, nil
}

// modelSpecifyInputsAndOutputs succeeds once. Tensors with constant data and repeated indices are let through.
func modelSpecifyInputsAndOutputs(m *Model, inputs, outputs *UInt32Array) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.open(); err != nil {
		return err
	}
	if m.specified {
		return forbidden("model: its inputs and outputs are specified already [ohnn-model-inputs-outputs]")
	}
	in, out, err := m.dataIndices(inputs, outputs)
	if err != nil {
		return err
	}
	m.inputs, m.outputs, m.specified = in, out, true
	return nil
}

// modelFinish closes the model. It checks neither topology nor shapes; the build does.
func modelFinish(m *Model) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return forbidden("model: it is finished already [ohnn-model-finished-already]")
	case len(m.tensors) == 0:
		return forbidden("model: it has no tensor: call OH_NNModel_AddTensorToModel first [ohnn-model-no-tensor]")
	case len(m.ops) == 0:
		return forbidden("model: it has no operation: call OH_NNModel_AddOperation first [ohnn-model-no-operation]")
	case !m.specified:
		return forbidden("model: its inputs and outputs are not specified: call " +
			"OH_NNModel_SpecifyInputsAndOutputs first [ohnn-model-inputs-outputs-specified]")
	}
	m.closed = true
	for i, o := range m.ops {
		for _, p := range o.Params {
			if p.Required && !o.has(p.Name) {
				return refuse(Failed, "model: operation %d (%v) lacks its parameter %v, which has no default "+
					"[ohnn-model-operation-lacks]", i, o.Op, p.Number)
			}
		}
	}
	m.built = true
	return nil
}

// lowered is a finished model as a core graph. Node.Origin is the operation's index.
type lowered struct {
	done   bool
	graph  *graph.Graph
	defect string // what the model declares and does not mean, "" if nothing: it builds, and its runs are refused
	err    error  // why there is no graph
	failed int    // operation that err is about, -1: the model as a whole
}
