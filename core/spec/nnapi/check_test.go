package nnapi

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/anynpu/anynpu/core/fault"
)

// example is an operation that keeps every rule of its signature, in a model of its own.
func example(s *Signature, f *Form, row *Types, ins, outs int) (*Model, Operation) {
	m := &Model{}
	op := Operation{Code: s.Code}
	add := func(a *Argument, scale float32) uint32 {
		o := Operand{Type: a.Type.Fixed}
		switch v := a.Type.Variable; {
		case v >= 0:
			o.Type = row.Of[v]
		case v == FloatScalar && row.Of[0] == TensorFloat16:
			o.Type = Float16
		case v == FloatScalar:
			o.Type = Float32
		}
		if !o.Type.IsScalar() {
			o.Dims = make([]uint32, max(1, a.RankMin, min(a.RankMax, 2)))
			for i := range o.Dims {
				o.Dims[i] = 1
			}
		}
		if o.Type.quantized() {
			o.Scale = scale
		}
		m.Operands = append(m.Operands, o)
		return uint32(len(m.Operands) - 1)
	}
	for i := range ins {
		op.Inputs = append(op.Inputs, add(f.Inputs.At(i, ins), 0.5))
	}
	for i := range outs {
		op.Outputs = append(op.Outputs, add(f.Outputs.At(i, outs), 0.75))
	}
	fix := func(o *Operand, scale float32, zero int32) {
		if o.Type.quantized() {
			o.Scale, o.ZeroPoint = scale, zero
		}
	}
	for _, r := range s.Rules {
		switch r.Kind {
		case RuleSame:
			in := m.Operands[op.Inputs[r.Input]]
			for _, v := range op.Outputs[r.Output:] {
				fix(&m.Operands[v], in.Scale, in.ZeroPoint)
			}
		case RuleFixed:
			if o := &m.Operands[op.Outputs[r.Output]]; o.Type == r.Type {
				fix(o, r.Scale, r.Zero)
			}
		case RuleFixedInput:
			if o := &m.Operands[op.Inputs[r.Input]]; o.Type == r.Type {
				fix(o, r.Scale, r.Zero)
			}
		case RuleBias:
			if o := &m.Operands[op.Inputs[r.Third]]; o.Type == TensorInt32 {
				o.Scale = m.Operands[op.Inputs[r.Input]].Scale * m.Operands[op.Inputs[r.Second]].Scale
			}
		case RuleRanksBefore:
			m.Operands[op.Inputs[0]].Dims = []uint32{1, 1, 1, 1}
		case RuleAlike:
			in := m.Operands[op.Inputs[r.Input]]
			for _, v := range append(append([]uint32(nil), op.Inputs[r.Input:]...), op.Outputs...) {
				fix(&m.Operands[v], in.Scale, in.ZeroPoint)
			}
			out := &m.Operands[op.Outputs[0]]
			out.Dims = append([]uint32(nil), in.Dims...)
			for range r.Extra {
				out.Dims = append(out.Dims, 1)
			}
		case RuleAllSameBefore:
			for _, v := range op.Inputs {
				fix(&m.Operands[v], 0.75, 0)
			}
		}
	}
	return m, op
}

// TestCheck_packAndReverse: scale, zero point and rank are judged when the operation is added.
func TestCheck_packAndReverse(t *testing.T) {
	q := func(scale float32, zero int32, dims ...uint32) Operand {
		return Operand{Type: TensorQuant8Asymm, Dims: dims, Scale: scale, ZeroPoint: zero, Lifetime: Input}
	}
	axis := Operand{Type: Int32, Lifetime: Input}
	at := Operand{Type: TensorInt32, Dims: []uint32{1}, Lifetime: Input}
	word := Operand{Type: TensorInt32, Dims: []uint32{2, 3}, Lifetime: Input}
	for _, k := range []struct {
		code OperationCode
		in   []Operand
		out  Operand
		want string
	}{
		{Pack, []Operand{axis, q(0.5, 1, 2), q(0.5, 1, 2)}, q(0.5, 1, 2, 2), ""},
		{Pack, []Operand{axis, q(0.5, 1), q(0.5, 1, 2)}, q(0.5, 1), ""},
		{Pack, []Operand{axis, q(0.5, 1, 2), q(0.25, 1, 2)}, q(0.5, 1, 2, 2), "input 2 (input 1): want scale 0.5"},
		{Pack, []Operand{axis, q(0.5, 1, 2), q(0.5, 2, 2)}, q(0.5, 1, 2, 2), "input 2 (input 1): want scale 0.5"},
		{Pack, []Operand{axis, q(0.5, 1, 2)}, q(0.5, 3, 2, 2), "output 0 (output): want scale 0.5 and zero point 1"},
		{Pack, []Operand{axis, q(0.5, 1, 2), q(0.5, 1, 2, 2)}, q(0.5, 1, 2, 2), "input 2 (input 1): want rank 1"},
		{Pack, []Operand{axis, q(0.5, 1, 2)}, q(0.5, 1, 2), "output 0 (output): want rank 2"},
		{Reverse, []Operand{q(0.5, 1, 2, 3), at}, q(0.5, 1, 2, 3), ""},
		{Reverse, []Operand{word, at}, word, ""},
		{Reverse, []Operand{q(0.5, 1, 2, 3), at}, q(0.5, 0, 2, 3), "output 0 (output): want scale 0.5 and zero point 1"},
		{Reverse, []Operand{q(0.5, 1, 2, 3), at}, q(0.5, 1, 6), "output 0 (output): want rank 2"},
	} {
		m := &Model{Operands: append(k.in, k.out)}
		op := Operation{Code: k.code, Outputs: []uint32{uint32(len(k.in))}}
		for i := range k.in {
			op.Inputs = append(op.Inputs, uint32(i))
		}
		err := Check(m, op, Level8)
		if k.want == "" && err != nil || k.want != "" && (err == nil || !strings.Contains(err.Error(), k.want)) {
			t.Errorf("%v %v: %v, want %q", k.code, k.in, err, k.want)
		}
	}
}

// counts are all numbers of arguments to try: each that may be, and some repetitions.
func counts(a *Arguments) []int {
	c := a.Counts
	if a.Repeated >= 0 {
		c = append([]int{c[0] + 1, c[0] + 2}, c...)
	}
	return c
}

// tensorWords are the words of shortTypes for tensors.
var tensorWords = strings.Fields("F32 F16 I32 Q8 Q8S Q8Y Q8C Q16A Q16Y B8")

// TestLevels asks at every level for every type as the leading operand of every operation and compares with the list in
// testdata.
func TestLevels(t *testing.T) {
	text, err := os.ReadFile("testdata/levels.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		words := strings.Fields(line)
		want := map[string]int{}
		for _, w := range words[1:] {
			name, digit, _ := strings.Cut(w, "=")
			want[name], _ = strconv.Atoi(digit)
		}
		var s *Signature
		for _, x := range signatures {
			if x.Code.String() == words[0] {
				s = x
			}
		}
		for _, name := range tensorWords {
			for _, level := range Levels {
				accepted := false
				for i := range s.Types {
					if row := &s.Types[i]; row.Of[0] == shortTypes[name] {
						f := &s.Forms[0]
						m, op := example(s, f, row, f.Inputs.Counts[0], f.Outputs.Counts[0])
						accepted = accepted || Check(m, op, level) == nil
					}
				}
				if expect := want[name] > 0 && level.Number() >= want[name]; accepted != expect {
					t.Errorf("%v with %s at %v: accepted %v, want %v", s.Code, name, level, accepted, expect)
				}
			}
		}
		lines++
	}
	if lines != Operations-2 {
		t.Errorf("%d operations in the list, want %d", lines, Operations-2)
	}
}

// TestForms builds every form, choice of types and number of arguments of every operation: it is taken at the highest
// level, and below the level that the table names refused with a sentence that names the operation and the level.
func TestForms(t *testing.T) {
	tried := 0
	for _, s := range signatures {
		if s.Code == If || s.Code == While {
			continue
		}
		for fi := range s.Forms {
			f := &s.Forms[fi]
			for ri := range s.Types {
				row := &s.Types[ri]
				for _, ins := range counts(&f.Inputs) {
					for _, outs := range counts(&f.Outputs) {
						needs := row.Level
						for i := range ins {
							needs = max(needs, f.Inputs.At(i, ins).Level)
						}
						for i := range outs {
							needs = max(needs, f.Outputs.At(i, outs).Level)
						}
						m, op := example(s, f, row, ins, outs)
						if got := FormOf(m, op); got != f && f.Inputs.words() != got.Inputs.words() {
							t.Errorf("%v with %d inputs by %s is read as %s", s.Code, ins, f.Name, got.Name)
						}
						for _, level := range Levels {
							tried++
							err := Check(m, op, level)
							if level >= needs && err != nil {
								t.Errorf("%v, %s, %v, %d inputs at %v: %v", s.Code, f.Name, row.Of, ins, level, err)
							}
							if level < needs && (fault.KindOf(err) != fault.Unsupported || err == nil || !strings.HasPrefix(err.Error(),
								s.Code.String()) || !strings.Contains(err.Error(), "feature level")) {
								t.Errorf("%v, %s, %v, %d inputs at %v, needs %v: %v", s.Code, f.Name, row.Of, ins, level, needs, err)
							}
						}
						if err := CheckParameters(m, op); err != nil {
							t.Errorf("%v: %v", s.Code, err)
						}
						refuseEach(t, f, m, op)
					}
				}
			}
		}
	}
	if tried < 4000 {
		t.Errorf("%d combinations tried", tried)
	}
}

// refuseEach changes one operand at a time: no value where there must be one, a type that no argument takes, a rank too
// high.
func refuseEach(t *testing.T, f *Form, m *Model, op Operation) {
	top := Levels[len(Levels)-1]
	refused := func(what string) {
		t.Helper()
		if err := Check(m, op, top); fault.KindOf(err) != fault.Argument || err == nil || !strings.Contains(err.Error(),
			what) {
			t.Errorf("%v: want a refusal that says %q, got %v", op.Code, what, err)
		}
	}
	for i, v := range op.Inputs {
		o := m.Operands[v]
		a := f.Inputs.At(i, len(op.Inputs))
		name := "input " + strconv.Itoa(i) + " ("
		m.Operands[v].Lifetime = NoValue
		if a.Omitted {
			if err := Check(m, op, top); err != nil {
				t.Errorf("%v without input %d (%s): %v", op.Code, i, a.Name, err)
			}
		} else {
			refused(name)
		}
		m.Operands[v] = o
		m.Operands[v].Type, m.Operands[v].Dims = Uint32, nil
		refused("UINT32")
		m.Operands[v] = o
		if a.RankMax > 0 {
			m.Operands[v].Dims = []uint32{1, 1, 1, 1, 1}
			later := CheckParameters(m, op)
			switch {
			case !SignatureOf(op.Code).RanksLater():
				refused(name)
			case Check(m, op, top) != nil || fault.KindOf(later) != fault.Shape || !strings.Contains(later.Error(), name):
				t.Errorf("%v: want rank 5 of input %d refused by CheckParameters alone, got %v", op.Code, i, later)
			}
			m.Operands[v].Dims = nil
			if err := Check(m, op, top); err != nil {
				t.Errorf("%v with unspecified rank of input %d: %v", op.Code, i, err)
			}
		}
		m.Operands[v] = o
	}
	short := op
	short.Inputs = nil
	if err := Check(m, short, top); err == nil || !strings.Contains(err.Error(), "inputs, got 0") {
		t.Errorf("%v without inputs: %v", op.Code, err)
	}
	long := op
	long.Outputs = append(append([]uint32(nil), op.Outputs...), make([]uint32, 9)...)
	if err := Check(m, long, top); err == nil && f.Outputs.Repeated < 0 {
		t.Errorf("%v with %d outputs is accepted", op.Code, len(long.Outputs))
	}
	long.Inputs = append([]uint32{uint32(len(m.Operands))}, op.Inputs...)
	if err := Check(m, long, top); err == nil || !strings.Contains(err.Error(), "of "+strconv.Itoa(len(m.Operands))) {
		t.Errorf("%v with an operand that is not there: %v", op.Code, err)
	}
}

// TestRules breaks the rules for scales one at a time.
func TestRules(t *testing.T) {
	conv := func(x, w, bias, out float32, channels *PerChannel) (*Model, Operation) {
		s := SignatureOf(Conv2D)
		row := &Types{Of: []OperandCode{TensorQuant8Asymm, TensorQuant8Asymm, TensorInt32}}
		if channels != nil {
			row.Of[1], w = TensorQuant8SymmPerChannel, 0
		}
		m, op := example(s, &s.Forms[1], row, 7, 1)
		for i, v := range []float32{x, w, bias} {
			m.Operands[op.Inputs[i]].Scale = v
		}
		m.Operands[op.Inputs[1]].Channel = channels
		m.Operands[op.Outputs[0]].Scale = out
		return m, op
	}
	other := func(c OperationCode, typ OperandCode, change func(in, out []*Operand)) func() (*Model, Operation) {
		return func() (*Model, Operation) {
			s := SignatureOf(c)
			for i := range s.Types {
				if s.Types[i].Of[0] == typ {
					f := &s.Forms[0]
					m, op := example(s, f, &s.Types[i], f.Inputs.Counts[0], f.Outputs.Counts[0])
					var in, out []*Operand
					for _, v := range op.Inputs {
						in = append(in, &m.Operands[v])
					}
					for _, v := range op.Outputs {
						out = append(out, &m.Operands[v])
					}
					change(in, out)
					return m, op
				}
			}
			panic("no such type")
		}
	}
	for _, c := range []struct {
		make   func() (*Model, Operation)
		level  FeatureLevel
		adding string // what Check says
		run    string // what CheckParameters says
	}{
		{make: func() (*Model, Operation) { return conv(.5, .5, .25, .75, nil) }, level: Level1},
		{make: func() (*Model, Operation) { return conv(.5, .5, .25, .25, nil) }, level: Level1,
			adding: "needs feature level 3"},
		{make: func() (*Model, Operation) { return conv(.5, .5, .25, .25, nil) }, level: Level3},
		{make: func() (*Model, Operation) { return conv(.5, .5, .2501, .75, nil) }, level: Level3,
			run: "input 2 (bias): want scale 0.25"},
		{make: func() (*Model, Operation) { return conv(.5, .5, 0, .75, nil) }, level: Level3,
			run: "input 2 (bias): want scale 0.25"},
		{make: func() (*Model, Operation) { return conv(.5, 0, 0, .75, &PerChannel{0, []float32{1}}) }, level: Level3},
		{make: func() (*Model, Operation) { return conv(.5, 0, .5, .75, &PerChannel{0, []float32{1}}) }, level: Level3,
			run: "want scale 0 beside"},
		{make: func() (*Model, Operation) { return conv(.5, 0, 0, .75, &PerChannel{3, []float32{1}}) }, level: Level3,
			adding: "dimension 0, got dimension 3"},
		{make: other(Mul, TensorQuant8Asymm, func(in, out []*Operand) { out[0].Scale = in[0].Scale * in[1].Scale }),
			level: Level8, adding: "above the product 0.25"},
		{make: other(ReLU, TensorQuant8Asymm, func(in, out []*Operand) { out[0].ZeroPoint = 3 }), level: Level8,
			run: "want scale 0.5 and zero point 0"},
		{make: other(ReLU, TensorFloat32, func(in, out []*Operand) {}), level: Level8},
		{make: other(Logistic, TensorQuant8AsymmSigned, func(in, out []*Operand) { out[0].ZeroPoint = 0 }), level: Level8,
			run: "zero point -128"},
		{make: other(ROIAlign, TensorQuant8Asymm, func(in, out []*Operand) { in[1].Scale = 1 }), level: Level8,
			run: "input 1 (regions): want scale 0.125"},
		{make: other(Concatenation, TensorQuant8Asymm, func(in, out []*Operand) { out[0].Scale = 2 }), level: Level2,
			adding: "input 0 (input 0)"},
		{make: other(Concatenation, TensorQuant8Asymm, func(in, out []*Operand) { out[0].Scale = 2 }), level: Level3},
		{make: other(Softmax, TensorFloat32, func(in, out []*Operand) { in[0].Dims = []uint32{1, 2, 3} }), level: Level2,
			adding: "rank 3 needs"},
		{make: other(Softmax, TensorFloat32, func(in, out []*Operand) { in[0].Dims = []uint32{1, 2, 3} }), level: Level3},
		{make: other(Split, TensorQuant8Asymm, func(in, out []*Operand) { out[0].Scale = 2 }), level: Level3,
			run: "output 0 (output 0)"},
	} {
		m, op := c.make()
		err := Check(m, op, c.level)
		if c.adding == "" && err != nil || c.adding != "" && (err == nil || !strings.Contains(err.Error(), c.adding)) {
			t.Errorf("%v at %v: %v; want %q", op.Code, c.level, err, c.adding)
			continue
		}
		err = CheckParameters(m, op)
		if c.run == "" && c.adding == "" && err != nil || c.run != "" &&
			(err == nil || !strings.Contains(err.Error(), c.run)) {
			t.Errorf("%v: %v; want %q", op.Code, err, c.run)
		}
	}
}

// TestSentences holds some messages as a whole.
func TestSentences(t *testing.T) {
	s := SignatureOf(Add)
	m, op := example(s, &s.Forms[0], &s.Types[0], 3, 1)
	m.Operands[1].Type, m.Operands[1].Scale = TensorQuant8Asymm, 1
	want := "ADD: input 1 (input1), operand 1: want TENSOR_FLOAT32 beside TENSOR_FLOAT32 as input 0 (input0), got " +
		"TENSOR_QUANT8_ASYMM"
	if err := Check(m, op, Level8); err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	op.Inputs = op.Inputs[:2]
	if err := Check(m, op, Level8); err == nil || err.Error() != "ADD: want 3 inputs, got 2" {
		t.Error(err)
	}
	s = SignatureOf(Conv2D)
	m, op = example(s, &s.Forms[0], &s.Types[1], 11, 1)
	want = "CONV_2D: TENSOR_FLOAT16 as input 0 (input), TENSOR_FLOAT16 as input 1 (filter) and TENSOR_FLOAT16 as input " +
		"2 " +
		"(bias) needs feature level 3 (29), this is feature level 1 (27)"
	if err := Check(m, op, Level1); err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	op.Inputs = op.Inputs[:9]
	want = "CONV_2D: want 10, 11 or 13 (explicit padding), or 7, 8 or 10 (implicit padding) inputs, got 9"
	if err := Check(m, op, Level8); err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	if err := Check(m, Operation{Code: 106}, Level8); err == nil ||
		err.Error() != "operation code 106 is not one of the API" {
		t.Error(err)
	}
	if err := Check(m, Operation{Code: While}, Level3); err == nil || err.Error() !=
		"WHILE needs feature level 4 (30), this is feature level 3 (29)" {
		t.Error(err)
	}
}
