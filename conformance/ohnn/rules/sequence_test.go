package rules

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/suite"
)

var libraryFile = ohnn.API.File("../../..")

// opened is the library that sequences run against.
var opened = sync.OnceValues(func() (*suite.Library, error) {
	if err := os.Setenv("ANYNPU_LOG", "warn"); err != nil {
		return nil, err
	}
	return suite.Open(ohnn.API, libraryFile)
})

// kind of object; every kind has four variables in the program.
type kind int

const (
	aDesc kind = iota
	aTensor
	aModel
	aCompilation
	anExecutor
	kinds
)

var destroyers = [kinds]string{"TensorDesc_Destroy", "Tensor_Destroy", "Model_Destroy", "Compilation_Destroy",
	"Executor_Destroy"}

// variable is one of the program's variables; spec is nil when the object does not live.
type variable struct {
	v    uintptr
	spec any
}

type memoryVariable struct {
	p    uintptr
	spec *specMemory
}

type sequence struct {
	*testing.T
	*suite.Library
	data     []byte
	vars     [kinds][4]variable
	memories [4]memoryVariable
	log      []string
	ran      int

	before     [2]int // handles and buffers that lived
	lostBefore int
}

func (q *sequence) next(n int) int {
	if len(q.data) == 0 {
		return 0
	}
	b := q.data[0]
	q.data = q.data[1:]
	return int(b) % n
}

// code makes a call that returns a code and compares it.
func (q *sequence) code(want int, function string, args ...any) {
	q.TakeLog()
	got := q.Code(function, args...)
	q.log = append(q.log, fmt.Sprintf("%s = %s", q.Shown(function, args...), ohnn.API.CodeName(got)))
	if got != want {
		q.Fatalf("%s, want %s; calls:\n%s", q.log[len(q.log)-1], ohnn.API.CodeName(want), lines(q.log))
	}
	q.refusal(want != success && want != dynamic, function) // a dynamic shape is an answer
}

func lines(log []string) (s string) {
	for _, l := range log[max(0, len(log)-60):] {
		s += "  " + l + "\n"
	}
	return s
}

func (q *sequence) fail(format string, args ...any) {
	q.Fatalf("%s; calls:\n%s", fmt.Sprintf(format, args...), lines(q.log))
}

// create stores an object if the call must give one.
func (q *sequence) create(k kind, want bool, spec any, function string, args ...any) {
	slot := &q.vars[k][q.next(4)]
	if slot.spec != nil {
		return // nothing is lost
	}
	q.TakeLog()
	v := q.Call(function, args...)
	q.log = append(q.log, fmt.Sprintf("%s = %#x", q.Shown(function, args...), v))
	if (v != 0) != want {
		q.fail("want an object: %v", want)
	}
	q.refusal(!want, function)
	if want {
		*slot = variable{v, spec}
	}
}

// pick chooses a handle argument: mostly one of the right kind, living or not; sometimes NULL, or a living object of
// another kind.
func (q *sequence) pick(k kind) (v uintptr, spec any) {
	switch b := q.next(32); b {
	case 0:
		return 0, nil
	case 1:
		return q.vars[(k+1)%kinds][q.next(4)].v, nil
	default:
		x := q.vars[k][b%4]
		return x.v, x.spec
	}
}

// of is pick with the model's object.
func of[S any](q *sequence, k kind) (v uintptr, spec *S) {
	v, x := q.pick(k)
	spec, _ = x.(*S)
	return v, spec
}

// judge is the code of a call on an object: INVALID when it does not live.
func judge[S any](spec *S, f func() int) int {
	if spec == nil {
		return invalid
	}
	return f()
}

// destroy ends the object in a variable, or is refused.
func (q *sequence) destroy(k kind) {
	slot := &q.vars[k][q.next(4)]
	e, _ := slot.spec.(*specExecutor)
	if e != nil && e.memories > 0 && lost > maxLost {
		return // the program frees memory before its executor
	}
	q.TakeLog()
	v, old := slot.v, slot.v
	if k == aDesc || k == aTensor {
		want := invalid
		if slot.spec != nil {
			want = success
		}
		q.code(want, destroyers[k], &v)
	} else {
		q.Call(destroyers[k], &v)
		q.log = append(q.log, destroyers[k])
	}
	if cleared := v == 0 && old != 0; cleared != (slot.spec != nil) {
		q.fail("%s: the variable was cleared: %v, it held a living object: %v", destroyers[k], cleared, slot.spec != nil)
	}
	if e != nil {
		q.loseMemory(e)
	}
	slot.spec = nil // the variable keeps the stale value
}

// steps are the calls of a sequence; each reads what it needs from the data.
var steps = []func(q *sequence){
	func(q *sequence) { q.create(aDesc, true, &specDesc{}, "TensorDesc_Create") },
	func(q *sequence) { q.destroy(kind(q.next(int(kinds)))) },
	func(q *sequence) {
		v, d := of[specDesc](q, aDesc)
		dataType := []int32{float32T, float32T, int8T, 0, 13}[q.next(5)]
		q.code(judge(d, func() int {
			if dataType > 12 {
				return invalid
			}
			d.dataType = dataType
			return success
		}), "TensorDesc_SetDataType", v, dataType)
	},
	func(q *sequence) {
		v, d := of[specDesc](q, aDesc)
		shape := [][]int32{{2}, {2}, {1}, {3}, {-1}, {2, 2}, {0}, make([]int32, 11)}[q.next(8)]
		q.code(judge(d, func() int {
			if len(shape) > 10 {
				return invalid
			}
			d.shape = shape
			return success
		}), "TensorDesc_SetShape", v, shape, len(shape))
	},
	func(q *sequence) {
		v, d := of[specDesc](q, aDesc)
		n, want := uint64(77), 0
		q.code(judge(d, func() int {
			bytes, ok := d.bytes()
			want = bytes
			switch {
			case !ok:
				return invalid
			case d.dynamic():
				return dynamic
			}
			return success
		}), "TensorDesc_GetByteSize", v, &n)
		if d != nil && int(n) != want {
			q.fail("size %d, want %d", n, want)
		}
	},
	(*sequence).tensor, (*sequence).tensor,
	func(q *sequence) {
		q.create(aModel, true, &specModel{dim: []int32{2, -1}[q.next(2)]}, "Model_Construct")
	},
	(*sequence).model, (*sequence).model, (*sequence).model,
	(*sequence).standard, (*sequence).standard,
	func(q *sequence) {
		v, m := of[specModel](q, aModel)
		q.create(aCompilation, m != nil, &specCompilation{model: m}, "Compilation_Construct", v)
	},
	(*sequence).setting,
	(*sequence).build, (*sequence).build,
	func(q *sequence) {
		v, c := of[specCompilation](q, aCompilation)
		ok := c != nil && c.built
		e := &specExecutor{shape: -1}
		if ok {
			if e.dim = c.model.dim; e.dim > 0 {
				e.shape = int(e.dim)
			}
		}
		q.create(anExecutor, ok, e, "Executor_Construct", v)
	},
	(*sequence).run, (*sequence).run, (*sequence).run,
	(*sequence).legacyInput, (*sequence).legacyInput, (*sequence).legacyOutput, (*sequence).runLegacy,
	(*sequence).runLegacy,
	(*sequence).allocate, (*sequence).free, (*sequence).withMemory, (*sequence).withMemory,
	(*sequence).tell, (*sequence).ports, (*sequence).operations, (*sequence).describe,
}

// end frees everything; nothing may be left.
func (q *sequence) end() {
	for i := range q.memories {
		m := &q.memories[i]
		for _, x := range q.vars[anExecutor] {
			if m.spec != nil && x.spec == any(m.spec.owner) {
				function := map[bool]string{true: "Executor_DestroyInputMemory",
					false: "Executor_DestroyOutputMemory"}[m.spec.input]
				q.Call(function, x.v, m.spec.index, &m.p)
				m.spec.owner.memories--
				m.spec = nil
			}
		}
	}
	for k := range kinds {
		for i := range 4 {
			q.data = []byte{byte(i)}
			q.destroy(k)
		}
	}
	clear(outputs)
}

// play makes the calls that data stands for and returns how many runs succeeded.
func play(t *testing.T, data []byte) int {
	l, err := opened()
	require.NoError(t, err)
	filesBefore()
	q := &sequence{T: t, Library: l, data: data, before: l.Live(), lostBefore: lost}
	for len(q.data) > 0 {
		steps[q.next(len(steps))](q)
		q.counted()
	}
	q.end()
	q.counted()
	q.countFiles()
	if left := l.Live()[1] - q.before[1] - (lost - q.lostBefore); q.tells() && left != 0 {
		q.fail("%d buffers left behind", left)
	}
	return q.ran
}

func needLibrary(t testing.TB) {
	if os.Getenv(ohnn.ModeVariable) == "reference" {
		t.Skip("the model of sequences is that of the default mode")
	}
	if _, err := os.Stat(libraryFile); err != nil {
		t.Skipf("the library is not built: %v", err)
	}
}

// seeds are sequences in which much succeeds: a model, a compilation, an executor, tensors, then anything.
func seed(r *rand.Rand) []byte {
	var data []byte
	step := func(i int, rest ...byte) { data = append(append(data, byte(i)), rest...) }
	dim := byte(r.IntN(2))
	for i := range byte(4) {
		step(0, i)                              // descriptor
		step(2, 4+i, 0)                         // float32
		step(3, 4+i, byte(r.IntN(4)))           // shape
		step(5, 4+i, byte(3*r.IntN(2)), 7+i, i) // tensor
	}
	step(7, dim, 0) // model
	step(11, 0, 0)  // to its end
	step(7, dim, 1)
	step(11, 1, 3)
	step(13, 4, 0) // compilation
	step(15, 4)    // build
	step(17, 4, 0) // executor
	for range 5 + r.IntN(20) {
		switch tensor := func() byte { return byte(4 + r.IntN(4)) }; r.IntN(8) {
		case 0:
			step(18, 4, tensor(), tensor(), tensor(), byte(r.IntN(8)), byte(r.IntN(2)))
		case 1:
			n := byte(r.IntN(3))
			step(21, 4, 0, n, byte(r.IntN(50)), byte(r.IntN(3)))
			step(21, 4, 1, byte(r.IntN(3)), byte(r.IntN(50)), 0)
			if r.IntN(3) == 0 {
				step(21, 4, byte(r.IntN(2)), n, 9, 4) // refused: a byte too few
			}
			step(23, 4, 0, byte(r.IntN(3)))
			step(24, 4)
		case 2:
			slot, input := byte(r.IntN(4)), byte(r.IntN(2))
			step(26, slot, 4, input, byte(r.IntN(2)), byte(r.IntN(3)), byte(r.IntN(50))) // allocate
			step(28, slot, 4, byte(r.IntN(2)), byte(r.IntN(3)))                          // set
			if r.IntN(2) == 0 {
				step(27, slot, 4, input, byte(r.IntN(3)), byte(r.IntN(2))) // free
			}
		case 3:
			step(8, byte(4+r.IntN(2)), byte(r.IntN(5))) // a call on a model
			step(32, byte(4+r.IntN(2)))
		case 4: // a compilation: settings and builds
			c := byte(1 + r.IntN(2))
			step(13, byte(4+r.IntN(2)), c)
			for range 1 + r.IntN(3) {
				for range r.IntN(3) {
					step(14, 4+c, byte(r.IntN(6)), byte(r.IntN(6)))
				}
				step(15, 4+c)
			}
			step(17, 4+c, c)
			step(1, byte(3+r.IntN(2)), c)
			step(1, 3, c)
		case 5:
			step(30+r.IntN(4), 4, byte(4+r.IntN(4)), 4) // count
		default:
			for range r.IntN(8) {
				data = append(data, byte(r.Uint32()))
			}
		}
	}
	return data
}

func TestSequence_random(t *testing.T) {
	needLibrary(t)
	r := rand.New(rand.NewPCG(3, 4))
	ran := 0
	for range 2000 {
		ran += play(t, seed(r))
	}
	t.Logf("%d runs succeeded", ran)
	require.Greater(t, ran, 500, "runs that succeed")
}

// FuzzSequence makes calls in any order through the C ABI and compares every code and result with the model.
func FuzzSequence(f *testing.F) {
	needLibrary(f)
	r := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		f.Add(seed(r))
	}
	f.Fuzz(func(t *testing.T, data []byte) { play(t, data[:min(len(data), 1000)]) })
}
