package rules

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// sharedMemory makes a file of shared memory of n bytes.
func (t *T) sharedMemory(n int64) int {
	fd, err := unix.MemfdCreate("rules", unix.MFD_CLOEXEC)
	t.Check(err == nil, "memfd_create: %v", err)
	t.Later(func() { unix.Close(fd) })
	err = unix.Ftruncate(fd, n)
	t.Check(err == nil, "ftruncate: %v", err)
	return fd
}

func (t *T) newTensor(function string, args ...any) uintptr {
	return t.object("Tensor_Destroy", t.Ptr("Tensor_"+function, args...))
}

func someTensor(t *T) uintptr { return t.newTensor("Create", 0, floatDesc(t)) }

// unfit refuses the descriptors that no way of creation takes; create gets a descriptor.
func unfit(r *Rule, function string, more ...any) *Rule {
	create := func(t *T, device, desc any) { t.Null("Tensor_"+function, append([]any{device, desc}, more...)...) }
	return r.No("NULL_desc", func(t *T) { create(t, 0, nil) }).
		No("unknown_device", func(t *T) { create(t, t.unknownDevice(), floatDesc(t)) }).
		No("no_shape", func(t *T) { create(t, 0, t.desc(float32T)) }).
		No("unknown_type", func(t *T) { create(t, 0, t.desc(0, 2)) })
}

var page = os.Getpagesize()

var tensors = []*Rule{
	unfit(rule("s4_Tensor_Create", "makes a tensor of the descriptor's size; NULL for a NULL descriptor, an unknown "+
		"device, no shape, type UNKNOWN").
		OK("creates", func(t *T) {
			n := t.size("Tensor_GetSize", someTensor(t))
			t.Check(n == 24, "size %d, want 24", n)
		}).
		OK("by_id", func(t *T) { t.newTensor("Create", t.deviceIDs()[0], floatDesc(t)) }), "Create"),
	rule("s4_Tensor_Create_memory", "NULL when the machine has no memory to give; a tensor without a file descriptor is "+
		"refused at its first GetFd, with MEMORY_ERROR").
		OK("enough", func(t *T) { someTensor(t) }).
		No("no_descriptor_left", func(t *T) {
			d := floatDesc(t)
			t.withLimit(unix.RLIMIT_NOFILE, 1, func() {
				for _, x := range []uintptr{t.Call("Tensor_Create", 0, d), t.Call("Tensor_CreateWithSize", 0, d, 64)} {
					if t.Judged(false); x != 0 {
						t.Is(memError, "Tensor_GetFd", t.object("Tensor_Destroy", x), new(int32))
					}
				}
			})
			t.newTensor("Create", 0, d)
		}),
	rule("s4_Tensor_Create_dynamic", "a dynamic shape has no size and gives NULL").
		OK("fixed", func(t *T) { t.newTensor("Create", 0, t.desc(float32T, 2)) }).
		No("dynamic", func(t *T) { t.Null("Tensor_Create", 0, t.desc(float32T, 2, -1)) }).
		No("zero", func(t *T) { t.Null("Tensor_Create", 0, t.desc(float32T, 0)) }),
	rule("s4_Tensor_Create_limit", "1 GiB is allowed, one byte more gives NULL").
		OK("1_GiB", func(t *T) { t.newTensor("Create", 0, t.desc(int8T, maxBuffer)) }).
		No("more", func(t *T) { t.Null("Tensor_Create", 0, t.desc(int8T, maxBuffer+1)) }),
	unfit(rule("s4_Tensor_CreateWithSize", "makes a tensor of the given size, from the descriptor's up; NULL for what "+
		"Create refuses").
		OK("exact", func(t *T) { t.newTensor("CreateWithSize", 0, floatDesc(t), 24) }).
		OK("more", func(t *T) {
			n := t.size("Tensor_GetSize", t.newTensor("CreateWithSize", 0, floatDesc(t), 1000))
			t.Check(n == 1000, "size %d, want 1000", n)
		}), "CreateWithSize", 64),
	rule("s4_Tensor_CreateWithSize_size", "0, less than the descriptor needs and more than 1 GiB give NULL").
		OK("1_GiB", func(t *T) { t.newTensor("CreateWithSize", 0, floatDesc(t), maxBuffer) }).
		No("0", func(t *T) { t.Null("Tensor_CreateWithSize", 0, floatDesc(t), 0) }).
		No("less", func(t *T) { t.Null("Tensor_CreateWithSize", 0, floatDesc(t), 23) }).
		No("more_than_1_GiB", func(t *T) { t.Null("Tensor_CreateWithSize", 0, floatDesc(t), maxBuffer+1) }).
		No("huge", func(t *T) { t.Null("Tensor_CreateWithSize", 0, floatDesc(t), hugeSize) }),
	rule("s4_Tensor_CreateWithSize_dynamic", "a dynamic shape is allowed and needs no bytes").
		OK("dynamic", func(t *T) { t.newTensor("CreateWithSize", 0, t.desc(float32T, 2, -1), 1) }).
		No("dynamic_0", func(t *T) { t.Null("Tensor_CreateWithSize", 0, t.desc(float32T, 2, -1), 0) }),
	rule("s4_Tensor_CreateWithFd", "maps shared memory read-write; NULL for a NULL descriptor, an unknown device, no "+
		"shape, type UNKNOWN, an fd that is negative or cannot be mapped").
		OK("shares", func(t *T) {
			fd := t.sharedMemory(4096)
			a := t.newTensor("CreateWithFd", 0, floatDesc(t), fd, 4096, 0)
			b := t.newTensor("CreateWithFd", 0, floatDesc(t), fd, 24, 0)
			*cmem.At[float32](t.Ptr("Tensor_GetDataBuffer", a)) = 1.5
			t.Check(t.floats(b, 1)[0] == 1.5, "the memory is not shared")
		}).
		No("NULL_desc", func(t *T) { t.Null("Tensor_CreateWithFd", 0, nil, t.sharedMemory(4096), 4096, 0) }).
		No("unknown_device", func(t *T) {
			t.Null("Tensor_CreateWithFd", t.unknownDevice(), floatDesc(t), t.sharedMemory(4096), 4096, 0)
		}).
		No("no_shape", func(t *T) { t.Null("Tensor_CreateWithFd", 0, t.desc(float32T), t.sharedMemory(4096), 4096, 0) }).
		No("unknown_type", func(t *T) { t.Null("Tensor_CreateWithFd", 0, t.desc(0, 2), t.sharedMemory(4096), 4096, 0) }).
		No("negative_fd", func(t *T) { t.Null("Tensor_CreateWithFd", 0, floatDesc(t), int32(-1), 4096, 0) }).
		No("closed_fd", func(t *T) { t.Null("Tensor_CreateWithFd", 0, floatDesc(t), 1<<20, 4096, 0) }).
		No("read_only", func(t *T) {
			fd, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", t.sharedMemory(4096)), unix.O_RDONLY|unix.O_CLOEXEC, 0)
			t.Check(err == nil, "open: %v", err)
			t.Later(func() { unix.Close(fd) })
			t.Null("Tensor_CreateWithFd", 0, floatDesc(t), fd, 4096, 0)
		}).
		No("not_memory", func(t *T) {
			var p [2]int
			t.Check(unix.Pipe(p[:]) == nil, "pipe")
			t.Later(func() { unix.Close(p[0]); unix.Close(p[1]) })
			t.Null("Tensor_CreateWithFd", 0, floatDesc(t), p[0], 4096, 0)
		}),
	rule("s4_Tensor_CreateWithFd_size", "size 0, a size below the offset and fewer bytes behind the offset than the "+
		"descriptor needs give NULL").
		OK("exact", func(t *T) { t.newTensor("CreateWithFd", 0, floatDesc(t), t.sharedMemory(4096), 24, 0) }).
		OK("exact_with_offset", func(t *T) {
			t.newTensor("CreateWithFd", 0, floatDesc(t), t.sharedMemory(int64(2*page)), page+24, page)
		}).
		No("size_0", func(t *T) { t.Null("Tensor_CreateWithFd", 0, floatDesc(t), t.sharedMemory(4096), 0, 0) }).
		No("less_than_offset", func(t *T) {
			t.Null("Tensor_CreateWithFd", 0, floatDesc(t), t.sharedMemory(int64(2*page)), 24, page)
		}).
		No("less_than_needed", func(t *T) { t.Null("Tensor_CreateWithFd", 0, floatDesc(t), t.sharedMemory(4096), 23, 0) }).
		No("less_behind_offset", func(t *T) {
			t.Null("Tensor_CreateWithFd", 0, floatDesc(t), t.sharedMemory(int64(2*page)), page+23, page)
		}),
	rule("s4_Tensor_CreateWithFd_offset_page_aligned", "an offset that is a multiple of the page size is the start of "+
		"the data; the reference implementation refuses others").
		OK("aligned", func(t *T) {
			fd := t.sharedMemory(int64(3 * page))
			whole := t.newTensor("CreateWithFd", 0, floatDesc(t), fd, 3*page, 0)
			part := t.newTensor("CreateWithFd", 0, floatDesc(t), fd, 3*page, 2*page)
			*cmem.At[float32](t.Ptr("Tensor_GetDataBuffer", part)) = 2.5
			got := *cmem.At[float32](t.Ptr("Tensor_GetDataBuffer", whole) + uintptr(2*page))
			t.Check(got == 2.5, "the byte at the offset is not where the data begins")
		}).
		No("not_aligned", func(t *T) {
			fd := t.sharedMemory(int64(3 * page))
			if t.Mode == ohnn.Reference {
				t.Null("Tensor_CreateWithFd", 0, floatDesc(t), fd, 3*page, 64)
				return
			}
			part := t.newTensor("CreateWithFd", 0, floatDesc(t), fd, 3*page, 64)
			*cmem.At[float32](t.Ptr("Tensor_GetDataBuffer", part)) = 2.5
			whole := t.newTensor("CreateWithFd", 0, floatDesc(t), fd, 3*page, 0)
			t.Check(*cmem.At[float32](t.Ptr("Tensor_GetDataBuffer", whole) + 64) == 2.5,
				"the byte at the offset is not where the data begins")
			t.Null("Tensor_CreateWithFd", 0, floatDesc(t), fd, 64+23, 64)
		}),
	rule("s4_Tensor_CreateWithFd_limit", "the limit of 1 GiB does not apply").
		OK("more", func(t *T) {
			t.newTensor("CreateWithFd", 0, floatDesc(t), t.sharedMemory(maxBuffer+4096), maxBuffer+4096, 0)
		}).
		No("others_have_it", func(t *T) {
			t.Null("Tensor_CreateWithSize", 0, floatDesc(t), maxBuffer+4096)
		}),
	rule("s4_Tensor_CreateWithFd_fd", "the fd stays the caller's: not duplicated, not closed").
		OK("stays_open", func(t *T) {
			fd := t.sharedMemory(4096)
			x := t.Ptr("Tensor_CreateWithFd", 0, floatDesc(t), fd, 4096, 0)
			got := int32(-1)
			t.OK("Tensor_GetFd", x, &got)
			t.Check(int(got) == fd, "fd %d, want %d", got, fd)
			t.OK("Tensor_Destroy", &x)
			_, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
			t.Check(err == nil, "the fd was closed")
		}).
		No("refused_stays_open", func(t *T) {
			fd := t.sharedMemory(4096)
			t.Null("Tensor_CreateWithFd", 0, floatDesc(t), fd, 23, 0)
			_, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
			t.Check(err == nil, "the fd was closed")
		}).
		No("closed_by_the_program", func(t *T) {
			fd := t.sharedMemory(4096)
			other, err := unix.Dup(fd)
			t.Check(err == nil, "dup: %v", err)
			x := t.newTensor("CreateWithFd", 0, floatDesc(t), other, 4096, 0)
			unix.Close(other)
			t.Null("Tensor_CreateWithFd", 0, floatDesc(t), other, 4096, 0)
			*cmem.At[float32](t.Ptr("Tensor_GetDataBuffer", x)) = 3.5
			t.Check(t.floats(t.newTensor("CreateWithFd", 0, floatDesc(t), fd, 24, 0), 1)[0] == 3.5,
				"the mapping is gone with the fd")
		}),
	rule("s4_Tensor_Destroy", "ends a tensor, its memory and its fd, and clears the variable; NULL and a variable with "+
		"NULL are INVALID").
		OK("clears", func(t *T) {
			x := t.Ptr("Tensor_Create", 0, floatDesc(t))
			fd := int32(-1)
			t.OK("Tensor_GetFd", x, &fd)
			t.OK("Tensor_Destroy", &x)
			t.Check(x == 0, "the variable holds %#x", x)
			_, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
			t.Check(err == unix.EBADF, "fd %d is still open", fd)
		}).
		OK("after_a_run", func(t *T) {
			e, fd := twoFloats(t), int32(-1)
			in, _ := t.pair()
			x := t.Ptr("Tensor_Create", 0, t.desc(float32T, 2))
			t.OK("Executor_RunSync", e, in, 2, []uintptr{x}, 1)
			t.OK("Tensor_GetFd", x, &fd)
			t.OK("Tensor_Destroy", &x)
			_, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
			t.Check(err == unix.EBADF, "fd %d is still open", fd)
		}).
		No("NULL", func(t *T) { t.Bad("Tensor_Destroy", nil) }).
		No("NULL_value", func(t *T) { t.Bad("Tensor_Destroy", new(uintptr)) }),
	rule("s4_Tensor_GetTensorDesc", "gives the tensor's own copy of the descriptor; NULL for NULL").
		OK("own_copy", func(t *T) {
			d := floatDesc(t)
			x := t.newTensor("Create", 0, d)
			own := t.Ptr("Tensor_GetTensorDesc", x)
			t.Check(own != d, "it is the caller's descriptor")
			t.OK("TensorDesc_SetShape", d, []int32{7}, 1)
			t.wantShape(own, 2, 3)
			again := t.Ptr("Tensor_GetTensorDesc", x)
			t.Check(again == own, "another descriptor at the second call")
		}).
		OK("outlives_the_callers", func(t *T) {
			d := t.Ptr("TensorDesc_Create")
			t.OK("TensorDesc_SetDataType", d, float32T)
			t.OK("TensorDesc_SetShape", d, []int32{4}, 1)
			x := t.newTensor("Create", 0, d)
			t.OK("TensorDesc_Destroy", &d)
			t.wantShape(t.Ptr("Tensor_GetTensorDesc", x), 4)
		}).
		No("NULL", func(t *T) { t.Null("Tensor_GetTensorDesc", nil) }).
		No("after_the_tensor", func(t *T) {
			x := t.Ptr("Tensor_Create", 0, floatDesc(t))
			own := t.Ptr("Tensor_GetTensorDesc", x)
			t.OK("Tensor_Destroy", &x)
			t.Bad("TensorDesc_GetDataType", own, new(int32))
		}).
		No("not_the_programs", func(t *T) {
			x := someTensor(t)
			own := t.Ptr("Tensor_GetTensorDesc", x)
			t.Bad("TensorDesc_Destroy", &own)
			t.wantShape(t.Ptr("Tensor_GetTensorDesc", x), 2, 3)
		}),
	rule("s4_Tensor_GetDataBuffer", "gives the address of the data; NULL for NULL").
		OK("writable", func(t *T) {
			x := someTensor(t)
			p := t.Ptr("Tensor_GetDataBuffer", x)
			*cmem.At[float32](p + 20) = 3
			t.Check(t.Ptr("Tensor_GetDataBuffer", x) == p, "the address changed")
			t.Check(t.floats(x, 6)[5] == 3, "the value is lost")
		}).
		No("NULL", func(t *T) { t.Null("Tensor_GetDataBuffer", nil) }),
	nulls(rule("s4_Tensor_GetFd", "gives a real fd of shared memory, whichever way the tensor was made; NULLs are "+
		"INVALID").
		OK("real", func(t *T) {
			fd := int32(-1)
			x := someTensor(t)
			t.OK("Tensor_GetFd", x, &fd)
			*cmem.At[float32](t.Ptr("Tensor_GetDataBuffer", x)) = 4.5
			b := t.newTensor("CreateWithFd", 0, floatDesc(t), fd, 24, 0)
			t.Check(t.floats(b, 1)[0] == 4.5, "the fd is not that of the tensor's memory")
		}), "Tensor_GetFd", someTensor),
	nulls(rule("s4_Tensor_GetSize", "gives the allocated or declared size, not that of the data; NULLs are INVALID").
		OK("declared", func(t *T) {
			n := t.size("Tensor_GetSize", t.newTensor("CreateWithFd", 0, floatDesc(t), t.sharedMemory(int64(2*page)), 2*page,
				page))
			t.Check(n == uint64(2*page), "size %d, want %d", n, 2*page)
		}), "Tensor_GetSize", someTensor),
	nulls(rule("s4_Tensor_GetOffset", "gives the offset of CreateWithFd, else 0; NULLs are INVALID").
		OK("with_fd", func(t *T) {
			n := t.size("Tensor_GetOffset", t.newTensor("CreateWithFd", 0, floatDesc(t), t.sharedMemory(int64(2*page)), 2*page,
				page))
			t.Check(n == uint64(page), "offset %d, want %d", n, page)
		}).
		OK("without", func(t *T) {
			n := t.size("Tensor_GetOffset", someTensor(t))
			t.Check(n == 0, "offset %d, want 0", n)
		}), "Tensor_GetOffset", someTensor),
}
