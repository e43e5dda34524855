package rules

import (
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/conformance/nnapi"
	operand "github.com/anynpu/anynpu/conformance/nnapi/model"
	"github.com/anynpu/anynpu/conformance/suite/numbers"
)

// shown is how much of the dimensions of an operand is said.
type shown int

const (
	whole    shown = iota
	part           // the first size that is 2 in truth; of a list of one size none
	unranked       // no rank
	untold         // an execution gives no type
)

// Places where a turn says dimensions: the operands of its model, and what an execution says of three of them.
const (
	declaredInput = iota
	declaredConstant
	declaredSum
	declaredOrder
	declaredOutput
	toldInput
	toldOrder
	toldOutput
	places
	nowhere = -1
)

// turn is a model y = TRANSPOSE(ADD(x, c), order), with x [2,n], c [2,1], y [n,2] and no order, and an execution of it.
type turn struct {
	says  [places]shown
	wrong int  // the place that says 3 where 2 is right
	input bool // order is an input that the execution leaves out, not a constant without a value
	file  bool // what has elements lies in files
	n     uint32
	bytes func(n int) int // how many the output is given, of those that it takes
	word  string          // the type
}

// dims are what a place says.
func (s *turn) dims(place int) []uint32 {
	a := uint32(2)
	if place == s.wrong {
		a = 3
	}
	level, b := s.says[place], s.n
	if level == part {
		b = 0
	}
	switch {
	case level == unranked || level == untold:
		return nil
	case place == declaredConstant:
		return []uint32{a, min(b, 1)}
	case place == declaredOrder || place == toldOrder:
		return []uint32{min(b, 1) * 2}
	case place == declaredOutput || place == toldOutput:
		return []uint32{b, a}
	}
	return []uint32{a, b}
}

// joined is what a declaration and an execution say together; ok is false where the execution says less, or another.
func joined(declared, told []uint32, untold bool) (dims []uint32, ok bool) {
	switch {
	case untold || len(declared) == 0 && len(told) == 0:
		return declared, true
	case len(declared) == 0:
		return told, true
	case len(declared) != len(told):
		return nil, false
	}
	for i, d := range declared {
		if d != 0 && d != told[i] {
			return nil, false
		}
	}
	return told, true
}

func complete(dims []uint32) bool { return len(dims) > 0 && !slices.Contains(dims, 0) }

func count(dims []uint32) int {
	n := 1
	for _, d := range dims {
		n *= int(d)
	}
	return n
}

// elements are numbers in the bytes of a type.
func (s *turn) elements(v ...int) []byte {
	list := make([]numbers.Number, len(v))
	for i, x := range v {
		list[i] = numbers.Int(int64(x))
	}
	return numbers.Encode(list, operand.Types[s.word].DType)
}

// typeOf is the type that a place says, nil for none.
func (s *turn) typeOf(t *T, place int) *nnapi.OperandType {
	switch {
	case s.says[place] == untold:
		return nil
	case place == declaredOrder || place == toldOrder:
		return t.Type(nnapi.TensorInt32, s.dims(place)...)
	case s.word == "Q8":
		return t.Quantized(operand.Types[s.word].Code, 1, 0, s.dims(place)...)
	}
	return t.Type(operand.Types[s.word].Code, s.dims(place)...)
}

// take demands what the calls have to answer, up to the first that is refused.
func (s *turn) take(t *T) {
	m := t.Model()
	for place := declaredInput; place <= declaredOutput; place++ {
		m.Add(s.typeOf(t, place))
	}
	c := s.elements(1, 2)
	want := nnapi.NoError
	if d := s.dims(declaredConstant); !complete(d) || count(d) != 2 {
		want = nnapi.BadData
	}
	if s.file {
		memory, data := t.file(len(c))
		copy(data, c)
		t.Is(want, "Model_setOperandValueFromMemory", m.Handle, declaredConstant, memory, 0, len(c))
	} else {
		t.Keep(c)
		t.Is(want, "Model_setOperandValue", m.Handle, declaredConstant, c, len(c))
	}
	if want != nnapi.NoError {
		return
	}
	inputs := []uint32{declaredInput}
	if s.input {
		inputs = append(inputs, declaredOrder)
	} else {
		t.OK("Model_setOperandValue", m.Handle, declaredOrder, nil, 0)
	}
	none := m.Scalar(0)
	m.Operation("ADD", []uint32{declaredInput, declaredConstant, none}, []uint32{declaredSum})
	m.Operation("TRANSPOSE", []uint32{declaredSum, declaredOrder}, []uint32{declaredOutput})
	m.Identify(nnapi.NoError, inputs, []uint32{declaredOutput})
	s.compute(t, t.Execution(t.Compiled(m.Finish())))
}

// compute binds everything to an execution and computes it.
func (s *turn) compute(t *T, e uintptr) {
	x, y := s.elements(1, 2, 3, 4, 5, 6), make([]byte, 64)
	each := len(x) / 6
	want := nnapi.NoError
	d, ok := joined(s.dims(declaredInput), s.dims(toldInput), s.says[toldInput] == untold)
	size := each * int(2*s.n)
	if told := s.says[toldInput]; told == untold && !complete(d) || told != untold && !complete(s.dims(toldInput)) {
		ok = false
	}
	if s.wrong == toldInput {
		size = each * int(3*s.n)
	}
	if !ok || count(d)*each != size {
		want = nnapi.BadData
	}
	if s.bind(t, want, "Input", e, 0, s.typeOf(t, toldInput), x, size); want != nnapi.NoError {
		return
	}
	if s.input {
		if _, ok := joined(s.dims(declaredOrder), s.dims(toldOrder), s.says[toldOrder] == untold); !ok {
			want = nnapi.BadData
		}
		t.Is(want, "Execution_setInput", e, 1, s.typeOf(t, toldOrder), nil, 0)
		if want != nnapi.NoError {
			return
		}
	}
	d, ok = joined(s.dims(declaredOutput), s.dims(toldOutput), s.says[toldOutput] == untold)
	size = s.bytes(each * int(2*s.n))
	if s.wrong == toldOutput {
		size = s.bytes(each * int(3*s.n))
	}
	if !ok || complete(d) && count(d)*each != size {
		want = nnapi.BadData
	}
	read := s.bind(t, want, "Output", e, 0, s.typeOf(t, toldOutput), y, size)
	if want != nnapi.NoError {
		return
	}
	switch {
	case s.wrong != nowhere:
		t.Is(nnapi.OpFailed, "Execution_compute", e)
		return
	case size < each*int(2*s.n):
		t.Is(nnapi.OutputInsufficientSize, "Execution_compute", e)
	default:
		t.OK("Execution_compute", e)
		sums := map[uint32][]byte{1: s.elements(2, 4), 2: s.elements(2, 5, 3, 6)}[s.n]
		t.Check(slices.Equal(read()[:len(sums)], sums), "got %v, want %v", read()[:len(sums)], sums)
	}
	sizes := make([]uint32, 2)
	code := t.Code("Execution_getOutputOperandDimensions", e, 0, sizes)
	t.Check(code == nnapi.NoError || code == nnapi.OutputInsufficientSize, "code %d", code)
	t.Check(slices.Equal(sizes, []uint32{s.n, 2}), "dimensions %v, want [%d 2]", sizes, s.n)
}

// bind binds memory or a file with its bytes, and returns what they are later.
func (s *turn) bind(t *T, want int, side string, e uintptr, i int, o *nnapi.OperandType, b []byte,
	n int) func() []byte {
	if !s.file {
		t.Keep(b)
		t.Is(want, "Execution_set"+side, e, i, o, b, n)
		return func() []byte { return b }
	}
	memory, data := t.file(len(b))
	copy(data, b)
	t.Is(want, "Execution_set"+side+"FromMemory", e, i, o, memory, 0, n)
	return func() []byte { return data }
}

// operandsOfTurn are the operands of which a rule tries how much is said of them.
var operandsOfTurn = []struct {
	name           string
	declared, told int
	sized          bool // the bytes that it is given may be others
}{
	{"input", declaredInput, toldInput, false},
	{"constant", declaredConstant, nowhere, false},
	{"temporary", declaredSum, nowhere, false},
	{"omitted_input", declaredOrder, toldOrder, false},
	{"output", declaredOutput, toldOutput, true},
}

// turns calls f with every turn that differs in what is said of one operand; wrong is the place that is wrong.
func turns(declared, told int, sized bool, f func(s *turn)) {
	levels := []shown{whole, part, unranked, untold}
	again, rooms := levels, []func(n int) int{func(n int) int { return n }}
	if told == nowhere {
		again = levels[:1]
	}
	if sized {
		rooms = append(rooms, func(n int) int { return n / 2 }, func(n int) int { return 2 * n })
	}
	for _, first := range levels[:3] {
		for _, execution := range again {
			for _, room := range rooms {
				for _, word := range []string{"F32", "Q8", "F16"} {
					for n := uint32(1); n <= 2; n++ {
						s := &turn{wrong: nowhere, n: n, bytes: room, word: word, input: told == toldOrder}
						s.says = [places]shown{part, whole, part, whole, part, whole, whole, whole}
						if s.says[declared] = first; told != nowhere {
							s.says[told] = execution
						}
						f(s)
					}
				}
			}
		}
	}
}

// rightlySaid are turns in which nothing that is said is wrong, the last one with all that can be said; wronglySaid
// those in which one place is.
func rightlySaid(t *T, declared, told int, sized bool) {
	turns(declared, told, sized, func(s *turn) { s.take(t) })
	plain := turn{wrong: nowhere, n: 2, bytes: func(n int) int { return n }, word: "F32"}
	plain.take(t)
}

func wronglySaid(t *T, declared, told int, sized bool) {
	for _, place := range []int{declared, told} {
		if place == nowhere || place == declaredOrder || place == toldOrder {
			continue
		}
		turns(declared, told, sized, func(s *turn) {
			if s.says[place] != unranked && s.says[place] != untold {
				s.wrong = place
				s.take(t)
			}
		})
	}
}

// dimensionRules are about how much a model and an execution say of the dimensions of one operand, in steps that
// complete or contradict one another.
func dimensionRules() (list []*Rule) {
	for i, o := range operandsOfTurn {
		said := fmt.Sprintf("what a model and an execution say of the dimensions of a model's %s is joined", o.name)
		r := rule(letters("5.z", i)+"_dimensions_of_"+o.name, said).
			OK("joined", func(t *T) { rightlySaid(t, o.declared, o.told, o.sized) })
		if o.declared == declaredOrder {
			r = r.OK("constant", func(t *T) { rightlySaid(t, o.declared, nowhere, false) }).
				No("less", func(t *T) {
					s := turn{wrong: nowhere, n: 2, word: "F32", input: true}
					s.says[toldOrder] = part
					s.take(t)
				})
		} else {
			r = r.No("wrong", func(t *T) { wronglySaid(t, o.declared, o.told, o.sized) })
		}
		list = append(list, r)
	}
	return list
}
