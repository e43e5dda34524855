package rules

import (
	"slices"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// pages is the size of the files.
var pages = 4 * page

// over is a float tensor of two elements on a file, at an offset.
func (t *T) over(fd, offset int) uintptr {
	return t.newTensor("CreateWithFd", 0, t.desc(float32T, 2), fd, pages, offset)
}

// apart is the least distance of tensors that every implementation takes.
func (t *T) apart() int {
	if t.Mode == ohnn.Reference {
		return page
	}
	return 64
}

// put writes floats into a file.
func (t *T) put(fd, offset int, v ...float32) {
	_, err := unix.Pwrite(fd, cmem.Bytes(v), int64(offset))
	t.Check(err == nil, "pwrite: %v", err)
}

// in demands the floats of a file.
func (t *T) in(fd, offset int, want ...float32) {
	b := make([]byte, 4*len(want))
	_, err := unix.Pread(fd, b, int64(offset))
	got := cmem.As[float32](b)
	at := 0 // the first that differs
	for at < len(want) && got[at] == want[at] {
		at++
	}
	t.Check(err == nil && at == len(want), "the file has %v at %d, want %v", few(got, at), offset+4*at, few(want, at))
}

// few are some numbers of a list, from the one at on.
func few(list []float32, at int) []float32 { return list[at:min(len(list), at+8)] }

// aliasedTensors are the rules of memory that several tensors share.
var aliasedTensors = []*Rule{
	rule("s4_new_memory", "memory of a new tensor holds nothing of tensors that were destroyed").
		OK("of_several_pages", func(t *T) {
			for _, n := range []int{8, 1000, 4096, 20000, 300000} {
				size := int32(n)
				kept := t.newTensor("Create", 0, t.desc(int8T, size)) // so that what they share is not given up
				for range 3 {
					x := t.Ptr("Tensor_Create", 0, t.desc(int8T, size))
					b := cmem.Span[byte](t.Ptr("Tensor_GetDataBuffer", x), n)
					at := slices.IndexFunc(b, func(v byte) bool { return v != 0 })
					t.Check(at < 0, "byte %d of a new tensor of %d is not 0", at, n)
					for i := range b {
						b[i] = 0x5a
					}
					t.OK("Tensor_Destroy", &x)
				}
				t.Check(cmem.Copy[byte](t.Ptr("Tensor_GetDataBuffer", kept), 1)[0] == 0, "another tensor changed")
			}
		}).
		No("destroyed", func(t *T) {
			x := t.Ptr("Tensor_Create", 0, t.desc(int8T, 20000))
			gone := x
			t.OK("Tensor_Destroy", &x)
			t.Null("Tensor_GetDataBuffer", gone)
		}),
	rule("s4_shared_files", "tensors may be parts of one file, or the same part of it, also an input and an output: a "+
		"run "+
		"reads what is there and writes its result there").
		OK("parts", func(t *T) {
			e, fd, d := twoFloats(t), t.sharedMemory(int64(pages)), t.apart()
			in, out := []uintptr{t.over(fd, 0), t.over(fd, d)}, []uintptr{t.over(fd, 2*d)}
			for k := range 3 {
				t.put(fd, 0, 1, float32(k))
				t.put(fd, d, 10, 20)
				t.OK("Executor_RunSync", e, in, 2, out, 1)
				t.in(fd, 2*d, 11, 20+float32(k))
				t.in(fd, 0, 1, float32(k))
				t.in(fd, d, 10, 20)
			}
		}).
		OK("neighbours", func(t *T) {
			e, fd := twoFloats(t), t.sharedMemory(int64(pages))
			t.put(fd, 0, 1, 2, 7, 7, 10, 20, 8, 8)
			in, out := []uintptr{t.over(fd, 0), t.over(fd, 16)}, []uintptr{t.over(fd, 8)}
			t.OK("Executor_RunSync", e, in, 2, out, 1)
			t.in(fd, 0, 1, 2, 11, 22, 10, 20, 8, 8)
		}).In(ohnn.Manual).
		OK("described_twice", func(t *T) {
			e, fd, d := twoFloats(t), t.sharedMemory(int64(pages)), t.apart()
			in, out := []uintptr{t.over(fd, d), t.over(fd, d)}, []uintptr{t.over(fd, 0)}
			again := t.over(fd, 0)
			t.put(fd, d, 3, -4)
			t.OK("Executor_RunSync", e, in, 2, out, 1)
			got := t.floats(again, 2)
			t.Check(slices.Equal(got, []float32{6, -8}), "the other tensor has %v, want [6 -8]", got)
		}).
		OK("output_over_an_input", func(t *T) {
			e, fd, d := twoFloats(t), t.sharedMemory(int64(pages)), t.apart()
			in, out := []uintptr{t.over(fd, 0), t.over(fd, d)}, []uintptr{t.over(fd, 0)}
			t.put(fd, 0, 1, 2)
			t.put(fd, d, 10, 20)
			for k := 1; k < 4; k++ {
				t.OK("Executor_RunSync", e, in, 2, out, 1)
				t.in(fd, 0, 1+10*float32(k), 2+20*float32(k))
			}
			t.in(fd, d, 10, 20)
		}).
		OK("one_ends_before", func(t *T) {
			e, fd, d := twoFloats(t), t.sharedMemory(int64(pages)), t.apart()
			gone := t.Ptr("Tensor_CreateWithFd", 0, t.desc(float32T, 2), fd, pages, 0)
			in, out := []uintptr{t.over(fd, 0), t.over(fd, d)}, []uintptr{t.over(fd, 2*d)}
			t.put(fd, 0, 1, 2)
			t.put(fd, d, 10, 20)
			t.OK("Tensor_Destroy", &gone)
			t.OK("Executor_RunSync", e, in, 2, out, 1)
			t.in(fd, 2*d, 11, 22)
		}).
		No("behind_the_end", func(t *T) {
			fd := t.sharedMemory(int64(pages))
			t.Null("Tensor_CreateWithFd", 0, t.desc(float32T, 2), fd, pages, pages-4)
		}),
	rule("s4_GetFd_keeps_data", "GetFd after data were written loses none: the file has them, and what is written by "+
		"either is seen by the other and by runs").
		OK("written_before", func(t *T) {
			x := t.tensor([]float32{1, 2}, 2)
			fd, offset := int32(-1), uintptr(0)
			t.OK("Tensor_GetFd", x, &fd)
			t.OK("Tensor_GetOffset", x, &offset)
			t.in(int(fd), int(offset), 1, 2)
			t.put(int(fd), int(offset), 5, 6)
			t.Check(slices.Equal(t.floats(x, 2), []float32{5, 6}), "the buffer has %v", t.floats(x, 2))
			e, out := twoFloats(t), t.tensor(nil, 2)
			t.OK("Executor_RunSync", e, []uintptr{x, t.tensor([]float32{10, 20}, 2)}, 2, []uintptr{out}, 1)
			t.Check(slices.Equal(t.floats(out, 2), []float32{15, 26}), "5+10, 6+20: got %v", t.floats(out, 2))
		}).
		OK("after_a_run", func(t *T) {
			e := twoFloats(t)
			in, out := t.pair()
			t.OK("Executor_RunSync", e, in, 2, out, 1)
			fd, offset := int32(-1), uintptr(0)
			t.OK("Tensor_GetFd", out[0], &fd)
			t.OK("Tensor_GetOffset", out[0], &offset)
			t.in(int(fd), int(offset), 11, 22)
			t.OK("Executor_RunSync", e, []uintptr{out[0], in[1]}, 2, []uintptr{t.tensor(nil, 2)}, 1)
			t.OK("Executor_RunSync", e, in, 2, out, 1)
			t.in(int(fd), int(offset), 11, 22)
		}).
		OK("during_runs", func(t *T) {
			const n = 1 << 16
			e, in := t.executor(n), []uintptr{t.tensor(slices.Repeat([]float32{1}, n), n), t.tensor(nil, n)}
			for range 20 {
				out, fd, offset := []uintptr{t.tensor(slices.Repeat([]float32{7}, n), n)}, int32(-1), uintptr(0)
				t.Parallel(2, func(own *suite.T, i int) {
					if i == 0 {
						own.OK("Executor_RunSync", e, in, 2, out, 1)
					} else {
						own.OK("Tensor_GetFd", out[0], &fd)
					}
				})
				t.OK("Tensor_GetOffset", out[0], &offset)
				t.in(int(fd), int(offset), slices.Repeat([]float32{1}, n)...)
			}
		}).
		OK("as_another_tensor", func(t *T) {
			x := t.tensor([]float32{1, 2}, 2)
			fd, offset, size := int32(-1), uintptr(0), uintptr(0)
			t.OK("Tensor_GetFd", x, &fd)
			t.OK("Tensor_GetOffset", x, &offset)
			t.OK("Tensor_GetSize", x, &size)
			y := t.newTensor("CreateWithFd", 0, t.desc(float32T, 2), fd, int(size), int(offset))
			t.Check(slices.Equal(t.floats(y, 2), []float32{1, 2}), "the other tensor has %v", t.floats(y, 2))
			copy(cmem.Span[float32](t.Ptr("Tensor_GetDataBuffer", y), 2), []float32{8, 9})
			t.Check(slices.Equal(t.floats(x, 2), []float32{8, 9}), "the first has %v", t.floats(x, 2))
		}).
		No("NULL", func(t *T) { t.Bad("Tensor_GetFd", t.tensor([]float32{1, 2}, 2), nil) }),
	rule("s8_after_a_refused_run", "a run that is refused leaves its tensors; the next one gives its own results").
		OK("again", func(t *T) {
			e := twoFloats(t)
			in, out := t.pair()
			wrong := t.tensor([]float32{1, 2, 3}, 3)
			for range 3 {
				t.Check(t.Code("Executor_RunSync", e, []uintptr{in[0], wrong}, 2, out, 1) != success, "a wrong shape ran")
				t.Check(t.Code("Executor_RunSync", e, in, 1, out, 1) != success, "one input is enough")
				t.OK("Executor_RunSync", e, in, 2, out, 1)
				t.Check(slices.Equal(t.floats(out[0], 2), []float32{11, 22}), "got %v", t.floats(out[0], 2))
				t.Check(slices.Equal(t.floats(in[0], 2), []float32{1, 2}), "the input has %v", t.floats(in[0], 2))
			}
		}).
		No("shape", func(t *T) {
			e := twoFloats(t)
			in, out := t.pair()
			t.Check(t.Code("Executor_RunSync", e, []uintptr{in[0], t.tensor([]float32{1, 2, 3}, 3)}, 2, out, 1) != success,
				"a wrong shape ran")
			t.Judged(false)
		}),
}
