package ohnn

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	spec "github.com/anynpu/anynpu/core/spec/ohnn"
	"github.com/anynpu/anynpu/core/tensor"
)

// The model of the state machine: what a sequence of calls must answer, told without the code under test. Tensors are
// vectors of two float32 or int8 scalars, operations are ADD.

type specTensor struct {
	float     bool
	tensorTyp TensorType
	data      float32 // of both elements; meaningful with hasData
	hasData   bool
}

type specOp struct {
	a, b, out uint32
	relu      bool
}

type specModel struct {
	tensors           []specTensor
	ops               []specOp
	in, out           []uint32
	specified, closed bool
	built             bool
}

func (s *specModel) has(list ...uint32) bool {
	return !slices.ContainsFunc(list, func(i uint32) bool { return int(i) >= len(s.tensors) })
}

// lists tells whether the input and output lists of an operation or of the model are acceptable.
func (s *specModel) lists(in, out []uint32) bool {
	if len(in) == 0 || len(out) == 0 || !s.has(in...) || !s.has(out...) {
		return false
	}
	for _, i := range slices.Concat(in, out) {
		if s.tensors[i].tensorTyp != 0 {
			return false
		}
	}
	return !slices.ContainsFunc(in, func(i uint32) bool { return slices.Contains(out, i) })
}

func (s *specModel) setData(index uint32, length int) ReturnCode {
	switch {
	case length == 0:
		return InvalidParameter
	case s.closed:
		return OperationForbidden
	case !s.has(index) || s.tensors[index].hasData:
		return InvalidParameter
	}
	want := 1
	if s.tensors[index].float {
		want = 8
	}
	if length != want {
		return InvalidParameter
	}
	return Success
}

func (s *specModel) addOp(o specOp, param []uint32) ReturnCode {
	switch {
	case s.closed:
		return OperationForbidden
	case !s.lists([]uint32{o.a, o.b}, []uint32{o.out}) || !s.has(param...):
		return InvalidParameter
	case len(param) == 1:
		p := s.tensors[param[0]]
		if p.tensorTyp != 1 || p.float || !p.hasData {
			return InvalidParameter
		}
	}
	return Success
}

func (s *specModel) finish() ReturnCode {
	if s.closed || len(s.tensors) == 0 || len(s.ops) == 0 || !s.specified {
		return OperationForbidden
	}
	return Success
}

// run computes the outputs for inputs of 1, 2, 3, ... by going over the operations until nothing changes. ok is false
// when the model has no meaning; sure is false when int8 tensors make that a question of types.
func (s *specModel) run() (out []float32, ok, sure bool) {
	value := map[uint32]float32{}
	made := map[uint32]bool{}
	sure = true
	for i, t := range s.tensors {
		if t.hasData {
			value[uint32(i)] = t.data
		}
	}
	for k, i := range s.in {
		value[i] = float32(k + 1)
		sure = sure && s.tensors[i].float
	}
	for _, o := range s.ops {
		if made[o.out] || slices.Contains(s.in, o.out) {
			return nil, false, sure
		}
		made[o.out] = true
		delete(value, o.out)
		for _, i := range []uint32{o.a, o.b, o.out} {
			sure = sure && s.tensors[i].float
		}
	}
	done := map[int]bool{}
	for changed := true; changed; {
		changed = false
		for i, o := range s.ops {
			a, ok1 := value[o.a]
			b, ok2 := value[o.b]
			if !done[i] && ok1 && ok2 {
				y := a + b
				if o.relu {
					y = max(y, 0)
				}
				value[o.out], done[i], changed = y, true, true
			}
		}
	}
	for _, i := range s.out {
		v, have := value[i]
		if !have {
			return nil, false, sure
		}
		sure = sure && s.tensors[i].float
		out = append(out, v)
	}
	return out, len(done) == len(s.ops), sure
}

// sequence reads choices from a fuzzer's bytes.
type sequence struct {
	t    *testing.T
	data []byte
	spec specModel
	m    *Model
	ran  bool // the model was run
}

func (q *sequence) next() byte {
	if len(q.data) == 0 {
		return 0
	}
	b := q.data[0]
	q.data = q.data[1:]
	return b
}

// index is mostly one of the tensors there are.
func (q *sequence) index() uint32 {
	return uint32(q.next()) % uint32(len(q.spec.tensors)+1)
}

func (q *sequence) list() []uint32 {
	out := make([]uint32, q.next()%3)
	for i := range out {
		out[i] = q.index()
	}
	return out
}

func (q *sequence) expect(want ReturnCode, err error, call string) bool {
	require.Equal(q.t, want, status(err), "%s: %v\n%+v", call, err, q.spec)
	return want == Success
}

// step makes one call and compares its code.
func (q *sequence) step() {
	s := &q.spec
	switch q.next() % 8 {
	case 0, 1:
		d, shape, t := spec.Float32, []int32{2}, specTensor{float: true}
		want := Success
		switch q.next() % 6 {
		case 0:
			d, shape, t = spec.Int8, nil, specTensor{}
		case 1:
			shape, want = []int32{2, 0}, InvalidParameter
		}
		if s.closed {
			want = OperationForbidden
		}
		if q.expect(want, modelAddTensorToModel(q.m, desc(d, shape...)), "AddTensorToModel") {
			s.tensors = append(s.tensors, t)
		}
	case 2:
		i, n := q.index(), []int{8, 8, 1, 1, 0, 7}[q.next()%6]
		v := float32(int8(q.next()))
		data := tensor.Float32s(v, v)[:n]
		if n == 1 {
			data[0] = 1 // a parameter: ReLU
		}
		if q.expect(s.setData(i, n), modelSetTensorData(q.m, i, data), "SetTensorData") {
			s.tensors[i].data, s.tensors[i].hasData = v, true
		}
	case 3:
		i, typ := q.index(), []TensorType{0, 1, 1, 59, 163}[q.next()%5]
		want := Success
		switch {
		case typ > 162:
			want = InvalidParameter
		case s.closed:
			want = OperationForbidden
		case !s.has(i):
			want = InvalidParameter
		}
		if q.expect(want, modelSetTensorType(q.m, i, typ), "SetTensorType") {
			s.tensors[i].tensorTyp = typ
		}
	case 4, 5:
		o := specOp{a: q.index(), b: q.index(), out: q.index()}
		var param []uint32
		if o.relu = q.next()%4 == 0; o.relu {
			param = []uint32{q.index()}
		}
		if q.expect(s.addOp(o, param), modelAddOperation(q.m, 1, array(param...), array(o.a, o.b), array(o.out)),
			"AddOperation") {
			s.ops = append(s.ops, o)
		}
	case 6:
		in, out := q.list(), q.list()
		want := Success
		if s.closed || s.specified {
			want = OperationForbidden
		} else if !s.lists(in, out) {
			want = InvalidParameter
		}
		if q.expect(want, modelSpecifyInputsAndOutputs(q.m, array(in...), array(out...)), "SpecifyInputsAndOutputs") {
			s.in, s.out, s.specified = in, out, true
		}
	case 7:
		if q.next()%3 == 0 && q.expect(s.finish(), modelFinish(q.m), "Finish") {
			s.closed, s.built = true, true
		}
	}
}

// end builds what there is and runs it.
func (q *sequence) end() {
	c, err := compilationConstruct(q.m)
	require.NoError(q.t, err)
	defer func() { _ = compilationDestroy(c) }()
	_ = modelDestroy(q.m)
	err = compilationBuild(c)
	if !q.spec.built {
		q.expect(InvalidParameter, err, "Build")
		return
	}
	want, ok, sure := q.spec.run()
	if !sure {
		return
	}
	if !ok {
		q.expect(Failed, err, "Build")
		return
	}
	q.expect(Success, err, "Build")
	q.expect(InvalidParameter, compilationBuild(c), "a second Build")
	e := executor(q.t, c)
	var in, out []*Tensor
	for k := range q.spec.in {
		v := float32(k + 1)
		in = append(in, newTestTensor(q.t, spec.Float32, tensor.Float32s(v, v), 2))
	}
	for range q.spec.out {
		out = append(out, newTestTensor(q.t, spec.Float32, nil, 2))
	}
	q.ran = true
	q.expect(Success, executorRunSync(e, in, out), "RunSync")
	for i, v := range want {
		require.Equal(q.t, tensor.Float32s(v, v), memoryOf(out[i]), "output %d: want %v\n%+v", i, v, q.spec)
	}
}

func playSequence(t *testing.T, data []byte) (ran bool) {
	q := &sequence{t: t, data: data, m: &Model{}}
	for len(q.data) > 0 {
		q.step()
	}
	q.end()
	return q.ran
}

// FuzzCallSequence makes calls in any order and compares every code, and the results of what can be run, with the model
// above.
func FuzzCallSequence(f *testing.F) {
	f.Add([]byte{0, 5, 0, 5, 0, 5, 4, 0, 1, 2, 1, 6, 2, 0, 1, 1, 2, 7, 0})
	f.Add([]byte{7, 0, 0, 0, 2, 0, 2, 0, 3, 0, 1, 0, 5, 4, 1, 1, 2, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) { playSequence(t, data[:min(len(data), 400)]) })
}

func TestCallSequence_random(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	ran := 0
	for range 3000 {
		// First tensors, then anything: otherwise hardly a model gets finished.
		data := []byte{0, 5, 0, 5, 0, 5, 0, 5, 0, 0, 4, 0, 1, 2, 1}
		for range 10 + r.IntN(60) {
			data = append(data, byte(r.Uint32()))
		}
		if r.IntN(2) == 0 {
			data = append(data, 6, 2, 0, 1, 1, 2, 7, 0)
		}
		if playSequence(t, data) {
			ran++
		}
	}
	require.Greater(t, ran, 80, "models that could be run")
}
