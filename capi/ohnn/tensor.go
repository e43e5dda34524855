package ohnn

import (
	"math"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/mem"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
)

// Tensor is an NN_Tensor (section 4): shared memory and a tensor descriptor of its own. The memory lives until the
// tensor is destroyed and no run uses it any more.
type Tensor struct {
	handle.Ref
	desc   *TensorDesc
	buf    mem.Buffer // the usable bytes
	fd     int        // of memory that the program brought along: its own number
	size   uint64     // as created or declared, the offset included
	offset uint64
	shared bool // the memory is the program's and may shrink
}

// newTensor checks what every way of creation wants and returns a copy of the descriptor and the bytes it needs, 0 for
// a dynamic shape.
func newTensor(deviceID uint64, desc *TensorDesc) (own *TensorDesc, size uint64, dynamic bool, err error) {
	if deviceByID(deviceID) == nil {
		return nil, 0, false, invalid("deviceID: %d: %s [ohnn-device-id-device-get-name]", deviceID, noSuchDevice())
	}
	own = desc.clone()
	own.owned = true
	size, dynamic, err = own.bytes()
	if err == nil && own.dataType == spec.Unknown {
		err = invalid("tensorDesc: the data type is OH_NN_UNKNOWN: call OH_NNTensorDesc_SetDataType first " +
			"[ohnn-tensor-desc-data]")
	}
	return own, size, dynamic, err
}

// tensorCreate allocates what the descriptor needs, which can be nothing for one of an executor; a dynamic shape is
// refused.
func tensorCreate(deviceID uint64, desc *TensorDesc) (*Tensor, error) {
	own, size, dynamic, err := newTensor(deviceID, desc)
	if err != nil {
		return nil, err
	}
	switch {
	case !dynamic:
		return allocTensor("tensorDesc", own, size)
	case slices.ContainsFunc(own.shape, func(d int32) bool { return d < -1 || d == 0 }):
		return nil, invalid("tensorDesc: shape %v: want sizes of 1 or more [ohnn-tensor-desc-shape]", own.shape)
	}
	return nil, invalid("tensorDesc: shape %v: a dimension of -1 is open: give its size, or make the tensor with "+
		"OH_NNTensor_CreateWithSize [ohnn-tensor-desc-shape-dimension]", own.shape)
}

// tensorCreateWithSize takes any size from the descriptor's up; the shape may be dynamic.
func tensorCreateWithSize(deviceID uint64, desc *TensorDesc, size uint64) (*Tensor, error) {
	own, need, _, err := newTensor(deviceID, desc)
	if err != nil {
		return nil, err
	}
	if size == 0 || size < need {
		return nil, invalid("size: %d: the descriptor %v%v needs %d bytes "+
			"[ohnn-size-descriptor-needs]", size, own.dataType, own.shape, max(need, 1))
	}
	return allocTensor("size", own, size)
}

// allocTensor makes shared memory; name is the argument that says how much.
func allocTensor(name string, own *TensorDesc, size uint64) (*Tensor, error) {
	if size > maxBufferSize {
		return nil, invalid("%s: %d bytes: want at most %d [ohnn-tensor-bytes]", name, size, maxBufferSize)
	}
	buf, err := mem.Shareable(int64(size), mem.Options{Name: "anynpu tensor"})
	if err != nil {
		return nil, err
	}
	return &Tensor{desc: own, buf: buf, size: size}, nil
}

// tensorCreateWithFd maps the bytes [offset, size) of shared memory. The descriptor stays the caller's. The reference
// implementation wants a page-aligned offset; here any is taken.
func tensorCreateWithFd(deviceID uint64, desc *TensorDesc, fd int32, size, offset uint64) (*Tensor, error) {
	if fd < 0 {
		return nil, invalid("fd: %d: want an open file descriptor [ohnn-fd-open-file]", fd)
	}
	if size == 0 || size > math.MaxInt64 || size < offset {
		return nil, invalid("size: %d with offset %d: want a size above 0 and not below the offset "+
			"[ohnn-size-offset-size]", size, offset)
	}
	own, need, _, err := newTensor(deviceID, desc)
	if err != nil {
		return nil, err
	}
	if size-offset < need {
		return nil, invalid("size: %d with offset %d: the descriptor %v%v needs %d bytes behind the offset "+
			"[ohnn-size-offset-descriptor]", size, offset,
			own.dataType, own.shape, need)
	}
	if page := uint64(os.Getpagesize()); offset%page != 0 && settings().reference {
		return nil, invalid("offset: %d: want a multiple of the page size %d [ohnn-offset-multiple-page]", offset, page)
	}
	buf, err := mem.ImportFD(int(fd), int64(offset), int64(size-offset), false)
	if err != nil {
		return nil, refuseFor(MemoryError, err, "fd")
	}
	return &Tensor{desc: own, buf: buf, fd: int(fd), size: size, offset: offset, shared: true}, nil
}

// shrunk reports whether the program has made the file behind the tensor shorter than the tensor: touching the memory
// would be fatal.
func (t *Tensor) shrunk() bool {
	if !t.shared {
		return false
	}
	fd, _, _ := t.buf.FD()
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG && uint64(st.Size) < t.size
}

// tensorDestroy unmaps the memory, closes a descriptor of ours, and ends the tensor's own descriptor.
func tensorDestroy(t *Tensor) error {
	if !handle.Drop(t.desc) {
		return forbidden("tensor: its descriptor is in use by a running call [ohnn-tensor-descriptor-running]")
	}
	t.desc.release()
	t.buf.Release()
	return nil
}

// tensorGetTensorDesc returns the tensor's own descriptor. A run rewrites the shape of an output tensor's.
func tensorGetTensorDesc(t *Tensor) (*TensorDesc, error) { return t.desc, nil }

// tensorGetDataBuffer returns the address of the first usable byte, for memory with an offset the byte at the offset.
func tensorGetDataBuffer(t *Tensor) (uintptr, error) {
	b, err := t.buf.Map()
	if err != nil {
		return 0, err
	}
	return uintptr(unsafe.Pointer(unsafe.SliceData(b))), nil
}

// tensorGetFd returns a file descriptor that stays the tensor's, of a file that holds the tensor alone. Memory that the
// library made gets it with the first call, which waits for runs that use the tensor: the data keeps its address.
func tensorGetFd(t *Tensor, fd *int32) error {
	if t.shared {
		*fd = int32(t.fd)
		return nil
	}
	own, err := mem.Share(t.buf)
	if err != nil {
		return refuseFor(MemoryError, err, "tensor")
	}
	*fd = int32(own)
	return nil
}

// tensorGetSize returns the size allocated or declared, not that of the data.
func tensorGetSize(t *Tensor, size *uint64) error {
	*size = t.size
	return nil
}

// tensorGetOffset returns 0 unless the tensor was made with a file descriptor.
func tensorGetOffset(t *Tensor, offset *uint64) error {
	*offset = t.offset
	return nil
}
