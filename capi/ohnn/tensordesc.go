package ohnn

import (
	"math/bits"
	"slices"
	"sync"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/fault"
)

// A TensorDesc is an NN_TensorDesc: type, shape, format and name of a tensor (OH_NN reference notes, section 3).
type TensorDesc struct {
	handle.Ref
	mu     sync.Mutex
	dtype  DataType
	format Format
	shape  []int32 // nil until set
	name   string

	cName  boundary.Block // what GetName gave out
	cShape boundary.Block // what GetShape gave out
}

// free releases the C memory of d.
func (d *TensorDesc) free() {
	d.cName.Free()
	d.cShape.Free()
}

// tensorDescCreate is OH_NNTensorDesc_Create: type UNKNOWN, format NONE, no shape, empty name.
func tensorDescCreate() (*TensorDesc, error) { return &TensorDesc{}, nil }

// tensorDescDestroy is OH_NNTensorDesc_Destroy.
func tensorDescDestroy(d *TensorDesc) error {
	d.free()
	return nil
}

// tensorDescSetName is OH_NNTensorDesc_SetName. Pointers that GetName gave out become invalid.
func tensorDescSetName(d *TensorDesc, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.name = name
	d.cName.Free()
	return nil
}

// tensorDescGetName is OH_NNTensorDesc_GetName: a string that lives until SetName or Destroy, "" if never set.
func tensorDescGetName(d *TensorDesc, name *uintptr) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cName.Addr() == 0 {
		d.cName.SetString(d.name)
	}
	*name = d.cName.Addr()
	return nil
}

// tensorDescSetDataType is OH_NNTensorDesc_SetDataType; OH_NN_UNKNOWN is allowed.
func tensorDescSetDataType(d *TensorDesc, dataType DataType) error {
	if int(dataType) >= len(dataTypeSizes) {
		return fault.New(fault.Argument, "dataType: want 0 to %d, got %d", len(dataTypeSizes)-1, int32(dataType))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dtype = dataType
	return nil
}

// tensorDescGetDataType is OH_NNTensorDesc_GetDataType.
func tensorDescGetDataType(d *TensorDesc, dataType *DataType) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	*dataType = d.dtype
	return nil
}

// tensorDescSetShape is OH_NNTensorDesc_SetShape: 1 to 10 dimensions of any value; a scalar's shape is never set. Pointers that
// GetShape gave out become invalid.
func tensorDescSetShape(d *TensorDesc, shape []int32) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shape = slices.Clone(shape)
	d.cShape.Free()
	return nil
}

// tensorDescGetShape is OH_NNTensorDesc_GetShape: NULL and 0 if the shape was never set.
func tensorDescGetShape(d *TensorDesc, shape *uintptr, shapeLength *uint64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cShape.Addr() == 0 {
		boundary.SetSlice(&d.cShape, d.shape)
	}
	*shape, *shapeLength = d.cShape.Addr(), uint64(len(d.shape))
	return nil
}

// tensorDescSetFormat is OH_NNTensorDesc_SetFormat.
func tensorDescSetFormat(d *TensorDesc, format Format) error {
	if format > formatMax {
		return fault.New(fault.Argument, "format: want 0 to %d, got %d", formatMax, int32(format))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.format = format
	return nil
}

// tensorDescGetFormat is OH_NNTensorDesc_GetFormat.
func tensorDescGetFormat(d *TensorDesc, format *Format) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	*format = d.format
	return nil
}

// tensorDescGetElementCount is OH_NNTensorDesc_GetElementCount. A shape that was never set is refused; a dimension below 1 gives
// OH_NN_DYNAMIC_SHAPE and 0.
func tensorDescGetElementCount(d *TensorDesc, elementCount *uint64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.elements()
	if err != nil {
		return err
	}
	*elementCount = n
	if n == 0 {
		return boundary.Note(refuse(dynamicShape, "tensorDesc: shape %v is dynamic", d.shape))
	}
	return nil
}

// tensorDescGetByteSize is OH_NNTensorDesc_GetByteSize. A dynamic shape has byte size 0; a shape that was never set and the type
// UNKNOWN are refused.
func tensorDescGetByteSize(d *TensorDesc, byteSize *uint64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	*byteSize = 0
	n, err := d.byteSize()
	if err != nil {
		return err
	}
	*byteSize = n
	return nil
}

// elements returns the number of elements, 0 for a dynamic shape.
func (d *TensorDesc) elements() (uint64, error) {
	if len(d.shape) == 0 {
		return 0, fault.New(fault.Argument, "tensorDesc: its shape was never set")
	}
	if slices.Min(d.shape) <= 0 {
		return 0, nil
	}
	n := uint64(1)
	for _, dim := range d.shape {
		high, low := bits.Mul64(n, uint64(dim))
		if high != 0 {
			return 0, fault.New(fault.Argument, "tensorDesc: shape %v has more elements than fit into size_t", d.shape)
		}
		n = low
	}
	return n, nil
}

// byteSize returns the bytes of a dense tensor, 0 for a dynamic shape.
func (d *TensorDesc) byteSize() (uint64, error) {
	n, err := d.elements()
	if err != nil {
		return 0, err
	}
	size := dataTypeSizes[d.dtype]
	if size == 0 {
		return 0, fault.New(fault.Argument, "tensorDesc: its data type is OH_NN_UNKNOWN")
	}
	high, low := bits.Mul64(n, size)
	if high != 0 {
		return 0, fault.New(fault.Argument, "tensorDesc: shape %v has more bytes than fit into size_t", d.shape)
	}
	return low, nil
}
