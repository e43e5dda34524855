package rules

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/conformance/nnapi"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

func bytesOf[E any](v ...E) []byte { return cmem.Bytes(v) }

func first(v []uint32) uintptr { return cmem.First(v) }

// descriptors is how many descriptors of the process are open.
func (t *T) descriptors() int {
	open, err := os.ReadDir("/proc/self/fd")
	t.Check(err == nil, "%v", err)
	return len(open)
}

// closed closes a descriptor that the library has given.
func (t *T) closed(fd int) { t.Check(unix.Close(fd) == nil, "close(%d)", fd) }

// missed demands that a call ends because its time is over.
func (t *T) missed(function string, args ...any) {
	code := t.Code(function, args...)
	t.Check(code == nnapi.MissedTransient || code == nnapi.MissedPersistent, "%s: %s, want %s", function,
		t.API.CodeName(code), t.API.CodeName(nnapi.MissedTransient))
	t.Judged(false)
}

// plus adds y = x + constant k, all of n elements.
func (t *T) plus(m *nnapi.Model, k, n uint32) {
	x, y := m.Operand(nnapi.TensorFloat32, n), m.Operand(nnapi.TensorFloat32, n)
	m.Operation("ADD", []uint32{x, k, m.Scalar(0)}, []uint32{y})
	m.Identify(nnapi.NoError, []uint32{x}, []uint32{y})
}

// addsConstant demands that the model, to which y = x + k is added, has the constant want.
func (t *T) addsConstant(m *nnapi.Model, k, n uint32, want func(i int) float32) {
	t.plus(m, k, n)
	t.computes(m.Finish(), int(n), want)
}

// computes demands what a model with one input of zeros makes.
func (t *T) computes(model uintptr, n int, want func(i int) float32) {
	e := t.Execution(t.Compiled(model))
	x, y := make([]float32, n), make([]float32, n)
	t.Keep(x)
	t.Keep(y)
	t.OK("Execution_setInput", e, 0, nil, x, 4*n)
	t.OK("Execution_setOutput", e, 0, nil, y, 4*n)
	t.OK("Execution_compute", e)
	for i := range y {
		t.Check(y[i] == want(i), "element %d is %v, want %v", i, y[i], want(i))
	}
}
