package ohnn

import (
	"math/bits"
	"slices"
	"sync"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
	"github.com/anynpu/anynpu/core/tensor"
)

// TensorDesc is an NN_TensorDesc (section 3): what a tensor looks like. Safe for concurrent use.
type TensorDesc struct {
	handle.Ref
	owned bool // belongs to a tensor and dies with it

	mu       sync.Mutex
	name     string
	dataType DataType
	format   Format
	shape    []int32        // empty: never set, or a scalar's
	exact    bool           // the shape is an executor's or a result's: empty is a scalar's, and 0 is a size
	cName    boundary.Block // what programs were given pointers to; empty until asked for
	cShape   boundary.Block
}

func newTensorDesc(name string, d DataType, f Format, shape []int32) *TensorDesc {
	return &TensorDesc{name: name, dataType: d, format: f, shape: slices.Clone(shape)}
}

// clone returns a copy for an owner of its own.
func (d *TensorDesc) clone() *TensorDesc {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := newTensorDesc(d.name, d.dataType, d.format, d.shape)
	c.exact = d.exact
	return c
}

// read returns the data type and the shape.
func (d *TensorDesc) read() (DataType, []int32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dataType, slices.Clone(d.shape)
}

// release frees what programs were given pointers to.
func (d *TensorDesc) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cName.Free()
	d.cShape.Free()
}

// setShape stores a shape; exact says that it is one of an executor or a result.
func (d *TensorDesc) setShape(shape []int32, exact bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.exact = exact
	if slices.Equal(d.shape, shape) {
		return // pointers given out stay valid
	}
	d.cShape.Free()
	d.shape = slices.Clone(shape)
}

// elements multiplies the dimensions of a shape that is set. dynamic is true when one of them is not positive.
func elements(shape []int32) (n uint64, dynamic bool, err error) {
	for _, d := range shape {
		if d <= 0 {
			return 0, true, nil
		}
	}
	n = 1
	for _, d := range shape {
		hi, lo := bits.Mul64(n, uint64(d))
		if hi != 0 {
			return 0, false, invalid("tensorDesc: shape %v: the number of elements does not fit into 64 bits "+
				"[ohnn-tensor-desc-shape-number]", shape)
		}
		n = lo
	}
	return n, false, nil
}

// elements multiplies the dimensions. dynamic is true when one of them is not known yet. A shape that was never set is
// refused.
func (d *TensorDesc) elements() (n uint64, dynamic bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.exact && slices.Contains(d.shape, 0):
		return 0, slices.Min(d.shape) < 0, nil
	case len(d.shape) == 0 && !d.exact:
		return 0, false, invalid("tensorDesc: no shape is set: call OH_NNTensorDesc_SetShape first " +
			"[ohnn-tensor-desc-no]")
	}
	return elements(d.shape)
}

// bytes is elements for the bytes of the data. An unknown data type is refused unless the shape is dynamic, and an
// overflow.
func (d *TensorDesc) bytes() (size uint64, dynamic bool, err error) {
	n, dynamic, err := d.elements()
	if dynamic || err != nil {
		return 0, dynamic, err
	}
	dataType, shape := d.read()
	if dataType == spec.Unknown {
		return 0, false, invalid("tensorDesc: the data type is OH_NN_UNKNOWN: call OH_NNTensorDesc_SetDataType " +
			"first [ohnn-tensor-desc-data]")
	}
	hi, size := bits.Mul64(n, dataType.Size())
	if hi != 0 {
		return 0, false, invalid("tensorDesc: shape %v of %v: the size does not fit into 64 bits "+
			"[ohnn-tensor-desc-shape-size]", shape, dataType)
	}
	return size, false, nil
}

// apiDims turns core's sizes into the API's.
func apiDims(s tensor.Shape) []int32 {
	out := make([]int32, len(s.Dims))
	for i, d := range s.Dims {
		out[i] = -1
		if d.Known() {
			out[i] = int32(d.N)
		}
	}
	return out
}

func tensorDescCreate() (*TensorDesc, error) { return &TensorDesc{}, nil }

func tensorDescDestroy(d *TensorDesc) error {
	if d.owned {
		return invalid("tensorDesc: this descriptor belongs to a tensor and ends with it: destroy the tensor " +
			"[ohnn-tensor-desc-descriptor]")
	}
	d.release()
	return nil
}

func tensorDescSetName(d *TensorDesc, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cName.Free()
	d.name = name
	return nil
}

// tensorDescGetName gives "" when no name was set. The string is valid until the name is set or the descriptor
// destroyed.
func tensorDescGetName(d *TensorDesc, name *uintptr) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cName.Addr() == 0 {
		if err := d.cName.StoreString(d.name); err != nil {
			return err
		}
	}
	*name = d.cName.Addr()
	return nil
}

func tensorDescSetDataType(d *TensorDesc, dataType DataType) error {
	if !dataType.Valid() {
		return invalid("dataType: %d is no OH_NN_DataType: 0 to %d "+
			"[ohnn-data-type-no]", int32(dataType), spec.DataTypeEnd-1)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dataType = dataType
	return nil
}

func tensorDescGetDataType(d *TensorDesc, dataType *DataType) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	*dataType = d.dataType
	return nil
}

// tensorDescSetShape stores any dimensions; they are judged where the descriptor is used.
func tensorDescSetShape(d *TensorDesc, shape []int32) error {
	if len(shape) == 0 || len(shape) > maxDescRank {
		return invalid("shapeLength: %d: want 1 to %d [ohnn-shape-length]", len(shape), maxDescRank)
	}
	d.setShape(shape, false)
	return nil
}

// tensorDescGetShape gives length 0 and NULL when no shape was set. The array is valid until the shape is set or the
// descriptor destroyed.
func tensorDescGetShape(d *TensorDesc, shape *uintptr, length *uint64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cShape.Addr() == 0 {
		boundary.SetSlice(&d.cShape, d.shape)
	}
	*shape, *length = d.cShape.Addr(), uint64(len(d.shape))
	return nil
}

func tensorDescSetFormat(d *TensorDesc, format Format) error {
	if format >= formatEnd {
		return invalid("format: %d is no OH_NN_Format: 0 to %d [ohnn-format-no-format]", int32(format), formatEnd-1)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.format = format
	return nil
}

func tensorDescGetFormat(d *TensorDesc, format *Format) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	*format = d.format
	return nil
}

// tensorDescGetElementCount refuses a shape that was never set, and answers DynamicShape with a count of 0 when a
// dimension is not positive; a size of 0 in a shape of an executor or a result is one.
func tensorDescGetElementCount(d *TensorDesc, count *uint64) error {
	n, dynamic, err := d.elements()
	if err != nil {
		return err
	}
	*count = n
	if dynamic {
		_, shape := d.read()
		return boundary.Note(refuse(DynamicShape, "tensorDesc: shape %v is not complete: the number of elements is known "+
			"only when every dimension is positive [ohnn-tensor-desc-shape-complete]", shape))
	}
	return nil
}

// tensorDescGetByteSize sets 0 before anything can fail. A dynamic shape is DynamicShape with 0 as the manual has it;
// the reference says Success.
func tensorDescGetByteSize(d *TensorDesc, size *uint64) error {
	*size = 0
	n, dynamic, err := d.bytes()
	if err != nil {
		return err
	}
	if dynamic && !settings().reference {
		_, shape := d.read()
		return boundary.Note(refuse(DynamicShape, "tensorDesc: shape %v is not complete: the size is known only when every "+
			"dimension is positive [ohnn-tensor-desc-shape-complete-size]", shape))
	}
	*size = n
	return nil
}
