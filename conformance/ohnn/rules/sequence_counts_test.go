package rules

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// What a sequence predicts beside codes: how many objects and file descriptors live, what every getter counts, what is
// logged.

// tells reports whether the library counts what lives and sends its log.
func (q *sequence) tells() bool { return q.Counts() }

// refusal demands that a refused call has said why, in one line that names it, and that an accepted one has refused
// nothing.
func (q *sequence) refusal(refused bool, function string) {
	n := 0
	for _, line := range q.TakeLog() {
		if strings.Contains(line, ohnn.API.Prefix+function) {
			n++
		}
	}
	if q.tells() && (n > 0) != refused {
		q.fail("%s: %d lines of the log name it; refused: %v", function, n, refused)
	}
}

// openFiles counts the file descriptors of shared memory that the process has. A runtime opens others when it likes.
func openFiles() (n int) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(to, "/memfd:") {
			n++
		}
	}
	return n
}

// filesBefore is openFiles before the first sequence of the process.
var filesBefore = sync.OnceValue(openFiles)

// maxLost bounds the memory that the sequences of one process lose with their executors.
const maxLost = 20

var lost int

// loseMemory ends the memory of an executor that ends: it can be read and not freed any more, and the library says how
// many there are.
func (q *sequence) loseMemory(e *specExecutor) {
	if e.memories == 0 {
		return
	}
	want := fmt.Sprintf("objects=%d", e.memories)
	if q.tells() && !slices.ContainsFunc(q.TakeLog(), func(line string) bool {
		return strings.Contains(line, "memory lost") && strings.Contains(line+" ", want+" ")
	}) {
		q.fail("the log does not tell of memory that is lost with its executor: want %s", want)
	}
	e.ended = true
	lost += e.memories
}

// handles is how many handles live.
func (q *sequence) handles() (n int) {
	for _, list := range q.vars {
		for _, x := range list {
			if x.spec == nil {
				continue
			}
			n++
			if t, ok := x.spec.(*specTensor); ok && t.described {
				n++
			}
		}
	}
	return n
}

// files is how many file descriptors the living objects have: one for each tensor that was asked for it.
func (q *sequence) files() (n int) {
	for _, x := range q.vars[aTensor] {
		if t, ok := x.spec.(*specTensor); ok && t.filed {
			n++
		}
	}
	return n
}

// counted compares what lives with the prediction.
func (q *sequence) counted() {
	if got := q.Live()[0] - q.before[0]; q.tells() && got != q.handles() {
		q.fail("%d handles live, want %d", got, q.handles())
	}
}

func (q *sequence) countFiles() {
	if got := openFiles() - filesBefore(); q.tells() && got != q.files() {
		q.fail("%d file descriptors of memory more than before, want %d", got, q.files())
	}
}

// checkMemories compares every memory object with what it was made as and filled with.
func (q *sequence) checkMemories() {
	for i, x := range q.memories {
		if x.spec == nil {
			continue
		}
		m := cmem.At[memory](x.p)
		if int(m.length) != x.spec.length {
			q.fail("memory of %d bytes, want %d", m.length, x.spec.length)
		}
		if got := cmem.Copy[float32](m.data, len(x.spec.data)); !slices.Equal(got, x.spec.data) {
			q.fail("the memory holds %v, want %v", got, x.spec.data)
		}
		for _, other := range q.memories[:i] {
			if other.spec != nil && cmem.At[memory](other.p).data == m.data {
				q.fail("two memory objects at %#x", m.data)
			}
		}
	}
}

// count asks a getter for a number.
func (q *sequence) count(want uint64, getter string, object uintptr) {
	n := uint64(77)
	q.code(success, getter, object, &n)
	if n != want {
		q.fail("%s gives %d, want %d", getter, n, want)
	}
}

// ports asks an executor for everything it tells of its inputs and outputs.
func (q *sequence) ports() {
	v, e := of[specExecutor](q, anExecutor)
	index := q.next(4)
	if e == nil {
		q.code(invalid, "Executor_GetInputCount", v, new(uint64))
		q.code(invalid, "Executor_GetOutputCount", v, new(uint64))
		return
	}
	q.count(2, "Executor_GetInputCount", v)
	q.count(1, "Executor_GetOutputCount", v)
	q.port(index < 2, "Executor_CreateInputTensorDesc", v, index, fmt.Sprintf("Tensor: %d", index), e.dim)
	q.port(index < 1, "Executor_CreateOutputTensorDesc", v, index, "Tensor: 2", e.dim)
	var lo, hi uintptr
	n := uint64(0)
	want := success
	if index > 1 {
		want = invalid
	}
	q.code(want, "Executor_GetInputDimRange", v, index, &lo, &hi, &n)
	least, most := uint64(1), uint64(1<<31-1)
	if e.dim > 0 {
		least, most = uint64(e.dim), uint64(e.dim)
	}
	if want == success && (n != 1 || cmem.Copy[uint64](lo, 1)[0] != least || cmem.Copy[uint64](hi, 1)[0] != most) {
		q.fail("input %d: %d ranges %v to %v, want %d to %d", index, n, cmem.Copy[uint64](lo, int(n)), cmem.Copy[uint64](hi,
			int(n)),
			least, most)
	}
}

// port makes a descriptor of an input or output, and ends it.
func (q *sequence) port(there bool, function string, e uintptr, index int, name string, dim int32) {
	d := q.Call(function, e, index)
	q.log = append(q.log, fmt.Sprintf("%s(%#x, %d) = %#x", function, e, index, d))
	q.refusal(!there, function)
	if (d != 0) != there {
		q.fail("want a descriptor: %v", there)
	}
	if d == 0 {
		return
	}
	q.descriptor(d, &specDesc{float32T, []int32{dim}})
	p := uintptr(0)
	q.code(success, "TensorDesc_GetName", d, &p)
	if cmem.Text(p) != name {
		q.fail("name %q, want %q", cmem.Text(p), name)
	}
	q.code(success, "TensorDesc_Destroy", &d)
}

// descriptor asks a descriptor for everything but its name.
func (q *sequence) descriptor(v uintptr, d *specDesc) {
	dataType, p, n := int32(-1), uintptr(0), uint64(77)
	q.code(success, "TensorDesc_GetDataType", v, &dataType)
	q.code(success, "TensorDesc_GetShape", v, &p, &n)
	if dataType != d.dataType || !slices.Equal(cmem.Copy[int32](p, int(n)), d.shape) {
		q.fail("data type %d, shape %v, want %d, %v", dataType, cmem.Copy[int32](p, int(n)), d.dataType, d.shape)
	}
	elements, want := uint64(1), success
	switch {
	case len(d.shape) == 0:
		want = invalid
	case d.dynamic():
		elements, want = 0, dynamic
	}
	for _, x := range d.shape {
		elements *= uint64(x)
	}
	q.code(want, "TensorDesc_GetElementCount", v, &n)
	if want != invalid && n != elements {
		q.fail("%d elements, want %d", n, elements)
	}
}

// describe asks a descriptor of the program.
func (q *sequence) describe() {
	v, d := of[specDesc](q, aDesc)
	if d == nil {
		q.code(invalid, "TensorDesc_GetElementCount", v, new(uint64))
		return
	}
	q.descriptor(v, d)
}

// operations asks a model which operations device 0 computes.
func (q *sequence) operations() {
	v, m := of[specModel](q, aModel)
	p, n := uintptr(0), uint32(77)
	want := judge(m, func() int {
		if !m.done {
			return forbid
		}
		return success
	})
	q.code(want, "Model_GetAvailableOperations", v, 0, &p, &n)
	if want == success && (int(n) != m.ops || slices.Contains(cmem.Copy[bool](p, int(n)), false)) {
		q.fail("%d operations %v, want %d", n, cmem.Copy[bool](p, int(n)), m.ops)
	}
}

// tensorCounts asks a tensor for its numbers.
func (q *sequence) tensorCounts(v uintptr, t *specTensor) {
	q.count(uint64(t.size), "Tensor_GetSize", v)
	q.count(0, "Tensor_GetOffset", v)
	fd := int32(-1)
	q.code(success, "Tensor_GetFd", v, &fd)
	t.filed = true
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil {
		q.fail("file descriptor %d: %v", fd, err)
	}
	own := q.Call("Tensor_GetTensorDesc", v)
	t.described = true
	q.descriptor(own, &t.specDesc)
}
