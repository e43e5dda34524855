package remote

import (
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// region is memory that is shared with the helper.
type region struct {
	id  uint64
	buf mem.Buffer
}

// align is the alignment of tensors in a region, in bytes.
const align = 64

func (d *Device) free(r *region) {
	d.helper.forget(r.id)
	r.buf.Release()
}

// layout places tensors one after the other.
type layout struct{ size int64 }

func (l *layout) add(n int64) (off int64) {
	off = l.size
	l.size = (off + n + align - 1) / align * align
	return off
}

// sharedFile is memory that servers of this machine can open once it gets a name.
func sharedFile(size int64) (mem.Buffer, error) {
	fd, err := unix.Open("/dev/shm", unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	if err := unix.Fallocate(fd, 0, 0, size); err != nil { // memory that cannot be had is not a fault of a run later
		return nil, err
	}
	return mem.ImportFD(fd, 0, size, false)
}

// load writes a view's elements to dst as elements of a server's type.
func load(dst []byte, to tensor.DType, v mem.View) error {
	from := v.Type
	if from.DType == to {
		return v.Load(dst)
	}
	n, size, err := sizes(from)
	if err != nil {
		return err
	}
	src, err := mem.Make[byte](int(size))
	if err != nil {
		return err
	}
	if err := v.Load(src); err != nil {
		return err
	}
	if code := convert.CodeOf(from.Quant); code != nil {
		convert.Dequantize(mem.Elements[float32](dst)[:n], from.DType, src, convert.PerTensor(*code), 0)
		return nil
	}
	convert.Cast(dst, to, src, from.DType, n, true, make([]float32, convert.Work))
	return nil
}

// store returns elements of a server's type as those of a type; src itself where they are the same.
func store(src []byte, from tensor.DType, to tensor.Type) ([]byte, error) {
	if from == to.DType {
		return src, nil
	}
	n, size, err := sizes(to)
	if err != nil {
		return nil, err
	}
	dst, err := mem.Make[byte](int(size))
	if err != nil {
		return nil, err
	}
	if code := convert.CodeOf(to.Quant); code != nil {
		convert.Quantize(dst, to.DType, mem.Elements[float32](src)[:n], convert.PerTensor(*code), 0)
		return dst, nil
	}
	convert.Cast(dst, to.DType, src, from, n, true, make([]float32, convert.Work))
	return dst, nil
}

func sizes(t tensor.Type) (n int, size int64, err error) {
	count, ok := t.Shape.Count()
	if size, sized := t.ByteSize(); ok && sized {
		return int(count), size, nil
	}
	return 0, 0, fault.New(fault.Shape, "%v has no size", t)
}
