package nnapi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
)

// Check judges an operation by its signature at a feature level, as ANeuralNetworksModel_addOperation does: code,
// number of operands, their types and, where known, ranks, omitted operands, and the rules for scales that concern
// declarations. What an execution may leave out is not judged by a rank that is not told whole. The operands must
// exist. Values may come after the operation, so a finished model is judged again. Who writes which operand is finish's
// to judge.
//
// An error is one sentence that names the operation, the operand by number and name, what is wanted and what is there.
// Its kind is fault.Unsupported when a newer feature level would take the operation, which the sentence names, else
// fault.Argument.
//
// Sources: NeuralNetworksTypes.h; what the reference leaves for the time of computing, CheckParameters judges.
func Check(m *Model, op Operation, level FeatureLevel) error {
	s := SignatureOf(op.Code)
	switch {
	case op.Code.IsExtension() && level < Level3:
		return fault.New(fault.Unsupported, "%v: an extension needs %v, this is %v", op.Code, Level3, level)
	case op.Code == OEMOperation || op.Code.IsExtension():
		return wantOperands(m, op)
	case s == nil:
		return fault.New(fault.Argument, "operation code %d is not one of the API", int32(op.Code))
	case op.Code.Level() > level:
		return fault.New(fault.Unsupported, "%v needs %v, this is %v", op.Code, op.Code.Level(), level)
	}
	if err := wantOperands(m, op); err != nil {
		return err
	}
	if op.Code == If || op.Code == While {
		return fault.Wrap(checkControl(m, op), "%v", op.Code)
	}
	c := &checker{m, op, s, nil, level}
	form, err := c.chooseForm()
	if err == nil {
		c.form = form
		err = c.check()
	}
	return fault.Wrap(err, "%v", op.Code)
}

// wantOperands checks that the operands of an operation exist.
func wantOperands(m *Model, op Operation) error {
	for _, list := range [][]uint32{op.Inputs, op.Outputs} {
		for _, v := range list {
			if int64(v) >= int64(len(m.Operands)) {
				return fault.New(fault.Argument, "%v: operand %d of %d", op.Code, v, len(m.Operands))
			}
		}
	}
	return nil
}

// FormOf returns the form in which an operation passes its arguments, nil when its operands fit none and for control
// flow, whose arguments belong to models.
func FormOf(m *Model, op Operation) *Form {
	s := SignatureOf(op.Code)
	if s == nil || op.Code == If || op.Code == While {
		return nil
	}
	c := &checker{m, op, s, nil, Levels[len(Levels)-1]}
	f, err := c.chooseForm()
	if err != nil {
		return nil
	}
	return f
}

// checker judges one operation.
type checker struct {
	m     *Model
	op    Operation
	sig   *Signature
	form  *Form
	level FeatureLevel
}

func (c *checker) in(i int) *Operand  { return &c.m.Operands[c.op.Inputs[i]] }
func (c *checker) out(i int) *Operand { return &c.m.Operands[c.op.Outputs[i]] }

// inName names input i: "input 1 (filter)".
func (c *checker) inName(i int) string {
	return fmt.Sprintf("input %d (%s)", i, c.form.Inputs.NameAt(i, len(c.op.Inputs)))
}

func (c *checker) outName(i int) string {
	return fmt.Sprintf("output %d (%s)", i, c.form.Outputs.NameAt(i, len(c.op.Outputs)))
}

// NameAt names argument i of n; repeated ones are numbered from 0.
func (a *Arguments) NameAt(i, n int) string {
	name := a.At(i, n).Name
	if a.Repeated >= 0 && a.At(i, n) == &a.List[a.Repeated] {
		name += " " + strconv.Itoa(i-a.Repeated)
	}
	return name
}

// chooseForm returns the form whose counts fit and of whose arguments with a type of their own most have it; the first
// of equals.
func (c *checker) chooseForm() (*Form, error) {
	var best *Form
	most := -1
	for i := range c.sig.Forms {
		f := &c.sig.Forms[i]
		if !f.Inputs.fits(len(c.op.Inputs)) || !f.Outputs.fits(len(c.op.Outputs)) {
			continue
		}
		n := 0
		for k := range c.op.Inputs {
			want, got := f.Inputs.At(k, len(c.op.Inputs)).Type, c.in(k).Type
			if want.Variable == FixedType && want.Fixed == got || want.Variable == FloatScalar && (got == Float32 ||
				got == Float16) {
				n++
			}
		}
		if n > most {
			best, most = f, n
		}
	}
	if best != nil {
		return best, nil
	}
	var ins, outs []string
	for i := range c.sig.Forms {
		f := &c.sig.Forms[i]
		in, out := f.Inputs.words(), f.Outputs.words()
		if f.Name != "" && len(c.sig.Forms) > 1 {
			in, out = in+" ("+f.Name+")", out+" ("+f.Name+")"
		}
		ins, outs = append(ins, in), append(outs, out)
	}
	for i := range c.sig.Forms {
		if c.sig.Forms[i].Inputs.fits(len(c.op.Inputs)) {
			return nil, fault.New(fault.Argument, "want %s outputs, got %d", strings.Join(slices.Compact(outs), ", or "),
				len(c.op.Outputs))
		}
	}
	return nil, fault.New(fault.Argument, "want %s inputs, got %d", strings.Join(slices.Compact(ins), ", or "),
		len(c.op.Inputs))
}

func (c *checker) check() error {
	row, err := c.types()
	if err != nil {
		return err
	}
	for i := range c.op.Inputs {
		a := c.form.Inputs.At(i, len(c.op.Inputs))
		if err := c.argument(a, c.in(i), row); err != nil {
			return fault.Wrap(err, "%s, operand %d", c.inName(i), c.op.Inputs[i])
		}
	}
	for i := range c.op.Outputs {
		a := c.form.Outputs.At(i, len(c.op.Outputs))
		if err := c.argument(a, c.out(i), row); err != nil {
			return fault.Wrap(err, "%s, operand %d", c.outName(i), c.op.Outputs[i])
		}
	}
	return c.rules(true)
}

// argument judges one operand whose type variables stand for row.
func (c *checker) argument(a *Argument, o *Operand, row *Types) error {
	if o.Lifetime == NoValue && !a.Omitted { // the reference finds this only when it computes
		return fault.New(fault.Argument, "it has no value and cannot be left out")
	}
	if a.Level > c.level {
		return fault.New(fault.Unsupported, "this argument needs %v, this is %v", a.Level, c.level)
	}
	if o.Lifetime == NoValue {
		return nil
	}
	if a.Type.Variable < 0 {
		want := a.Type.Fixed
		if a.Type.Variable == FloatScalar {
			if want = Float32; row.Of[0] == TensorFloat16 {
				want = Float16
			}
		}
		if o.Type != want {
			return fault.New(fault.Argument, "want %v, got %v", want, o.Type)
		}
	}
	if c.sig.RanksLater() {
		return nil
	}
	return a.rank(o, fault.Argument)
}

// rank judges the rank of an operand with a value, where it is known.
func (a *Argument) rank(o *Operand, kind fault.Kind) error {
	if a.Omitted && o.Lifetime != Constant && !o.Specified() {
		return nil // an input with dimensions [0] may be one that executions leave out
	}
	if r := len(o.Dims); a.RankMax > 0 && r > 0 && (r < a.RankMin || r > a.RankMax) {
		want := strconv.Itoa(a.RankMin)
		if a.RankMax > a.RankMin {
			want += " to " + strconv.Itoa(a.RankMax)
		}
		return fault.New(kind, "want rank %s, got %d", want, r)
	}
	return nil
}

// operand is an operand in the place of an argument whose type is a variable.
type operand struct {
	variable int
	typ      OperandCode
	name     string
	index    uint32
}

// variables are the operands whose types are variables, inputs first.
func (c *checker) variables() []operand {
	var out []operand
	for i, v := range c.op.Inputs {
		a, o := c.form.Inputs.At(i, len(c.op.Inputs)), c.in(i)
		if a.Type.Variable >= 0 && !(a.Omitted && o.Lifetime == NoValue) {
			out = append(out, operand{a.Type.Variable, o.Type, c.inName(i), v})
		}
	}
	for i, v := range c.op.Outputs {
		if a := c.form.Outputs.At(i, len(c.op.Outputs)); a.Type.Variable >= 0 {
			out = append(out, operand{a.Type.Variable, c.out(i).Type, c.outName(i), v})
		}
	}
	return out
}

// types finds the choice of types that the operands have.
func (c *checker) types() (*Types, error) {
	if len(c.sig.Types) == 0 {
		return nil, nil
	}
	rows := make([]*Types, len(c.sig.Types))
	for i := range rows {
		rows[i] = &c.sig.Types[i]
	}
	first := ""
	for _, o := range c.variables() {
		var left []*Types
		for _, r := range rows {
			if r.Of[o.variable] == o.typ {
				left = append(left, r)
			}
		}
		if len(left) == 0 {
			var want []string
			for _, r := range rows {
				if s := r.Of[o.variable].String(); !slices.Contains(want, s) && r.Level <= c.level {
					want = append(want, s)
				}
			}
			if len(want) == 0 { // what is there so far needs a newer level itself
				return nil, c.newer(first, rows)
			}
			with := ""
			if first != "" {
				with = " beside " + first
			}
			return nil, fault.New(fault.Argument, "%s, operand %d: want %s%s, got %v", o.name, o.index, orList(want), with,
				o.typ)
		}
		rows = left
		if first == "" {
			first = o.typ.String() + " as " + o.name
		}
	}
	for _, r := range rows {
		if r.Level <= c.level {
			return r, nil
		}
	}
	return nil, c.newer(c.typeWords(), rows)
}

// newer says which level takes the earliest of rows.
func (c *checker) newer(what string, rows []*Types) error {
	l := rows[0].Level
	for _, r := range rows {
		l = min(l, r.Level)
	}
	return fault.New(fault.Unsupported, "%s needs %v, this is %v", what, l, c.level)
}

// typeWords lists the operands that decide the types: one for each variable.
func (c *checker) typeWords() string {
	seen := map[int]bool{}
	var s []string
	for _, o := range c.variables() {
		if !seen[o.variable] {
			seen[o.variable] = true
			s = append(s, o.typ.String()+" as "+o.name)
		}
	}
	if len(s) == 1 {
		return s[0]
	}
	out := s[0]
	for i, w := range s[1:] {
		if i == len(s)-2 {
			out += " and " + w
		} else {
			out += ", " + w
		}
	}
	return out
}
