package operations

import (
	"fmt"
	"slices"
	"strings"

	api "github.com/anynpu/anynpu/conformance/nnapi"
	"github.com/anynpu/anynpu/conformance/nnapi/model"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/numbers"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// Variation is a judged case with one difference. Where addOperation must refuse that, the difference is what the
// signature of the operation does not have; else it is the feature level of the library.
type Variation struct {
	*Case
	About   string
	Refused bool
	Later   bool               // addOperation takes the difference, and a computation fails
	Level   nnapi.FeatureLevel // of the library, 0 for its own
}

// ID names the variation in reports.
func (v *Variation) ID() string { return v.Op + "/" + v.About }

// levelVariable makes the library one of an older feature level.
const levelVariable = "ANYNPU_NNAPI_FEATURE_LEVEL"

// setting is the environment of the variation.
func (v *Variation) setting() []string {
	if v.Level == 0 {
		return nil
	}
	return []string{fmt.Sprint(levelVariable, "=", int64(v.Level))}
}

// variations are the differences from the cases of one operation. Cases of control flow have no signature to differ
// from: rules judge them.
func variations(cases []*Case) (out []*Variation) {
	if len(cases) == 0 || cases[0].Models != nil {
		return nil
	}
	code, _ := codeOf(cases[0].Op)
	sig := nnapi.SignatureOf(code)
	done := map[*nnapi.Form]bool{}
	for _, c := range cases {
		if f := nnapi.FormOf(c.spec()); f != nil && c.Telling() && !c.Out[0].Open && !done[f] {
			done[f] = true
			out = append(out, differences(c, sig, f)...)
		}
	}
	for i := range sig.Types {
		out = append(out, levels(cases, sig, &sig.Types[i])...)
	}
	return out
}

// levels are variations of the library's feature level for one choice of types: the first level that takes it, and the
// one before, if that has the types themselves.
func levels(cases []*Case, sig *nnapi.Signature, row *nnapi.Types) (out []*Variation) {
	for _, c := range cases {
		m, op := c.spec()
		if rowOf(c, sig) != row || !c.Telling() && c.Op != "CAST" || c.open() || nnapi.Check(m, op, row.Level) != nil {
			continue
		}
		label := fmt.Sprintf("level_%d", row.Level.Number())
		for _, w := range words(row.Of) {
			if w != "" {
				label += "_" + w
			}
		}
		out = append(out, &Variation{Case: c, About: label, Level: row.Level})
		before := row.Level.Number() - 1
		newest := nnapi.Level1
		for _, o := range m.Operands {
			f, _ := o.Type.Facts()
			newest = max(newest, f.Level)
		}
		if before > 0 && newest < row.Level {
			out = append(out, &Variation{Case: c, About: "before_" + label, Refused: true, Level: nnapi.Levels[before-1]})
		}
		return out
	}
	return nil
}

// open tells whether the model leaves dimensions open, which is newer than most operations.
func (c *Case) open() bool {
	return slices.ContainsFunc(slices.Concat(c.In, c.Out), func(o model.Operand) bool { return o.Open })
}

// rowOf is the choice of types that a case has.
func rowOf(c *Case, sig *nnapi.Signature) *nnapi.Types {
	f := nnapi.FormOf(c.spec())
	if f == nil {
		return nil
	}
	i := slices.IndexFunc(sig.Types, func(row nnapi.Types) bool {
		fits := func(a *nnapi.Arguments, of []model.Operand) bool {
			for i, o := range of {
				v := a.At(i, len(of)).Type.Variable
				if v >= 0 && !o.None && nnapi.OperandCode(model.Types[o.Type].Code) != row.Of[v] {
					return false
				}
			}
			return true
		}
		return fits(&f.Inputs, c.In) && fits(&f.Outputs, c.Out)
	})
	if i < 0 {
		return nil
	}
	return &sig.Types[i]
}

// candidates are types in the order in which a difference picks one.
var candidates = []string{"F32", "I32", "Q8", "B8", "Q16A", "Q16Y", "F16", "Q8S", "f32", "i32", "bool", "f16"}

// differences are what the signature does not have of a case in a form.
func differences(c *Case, sig *nnapi.Signature, f *nnapi.Form) (out []*Variation) {
	form := ""
	if len(sig.Forms) > 1 {
		form = strings.ReplaceAll(f.Name, " ", "_") + "_"
	}
	add := func(about string, change func(d *Case)) {
		d := *c
		d.In, d.Out = slices.Clone(c.In), slices.Clone(c.Out)
		change(&d)
		out = append(out, &Variation{Case: &d, About: "refused_" + form + about, Refused: true,
			Later: strings.HasSuffix(about, "_rank") && sig.RanksLater()})
	}
	lists := []struct {
		word string
		of   func(d *Case) *[]model.Operand
		args func(f *nnapi.Form) *nnapi.Arguments
	}{
		{"input", func(d *Case) *[]model.Operand { return &d.In }, func(f *nnapi.Form) *nnapi.Arguments { return &f.Inputs }},
		{"output", func(d *Case) *[]model.Operand { return &d.Out },
			func(f *nnapi.Form) *nnapi.Arguments { return &f.Outputs }},
	}
	for _, l := range lists {
		list := *l.of(c)
		if n := len(list); n > 1 && !takes(sig, l.args, n-1) {
			add(l.word+"s_fewer", func(d *Case) { *l.of(d) = list[:n-1] })
		}
		if n := len(list); !takes(sig, l.args, n+1) {
			add(l.word+"s_more", func(d *Case) { *l.of(d) = append(slices.Clone(list), list[n-1]) })
		}
		for i, o := range list {
			arg := l.args(f).At(i, len(list))
			place := fmt.Sprintf("%s_%d", l.word, i)
			other := foreign(sig, l.args, i, len(list), model.Types[o.Type].Scalar)
			add(place+"_type", func(d *Case) { (*l.of(d))[i] = plain(other) })
			if arg.RankMax > 0 && !model.Types[o.Type].Scalar {
				add(place+"_rank", func(d *Case) {
					x := plain(o.Type)
					x.Dims = slices.Repeat([]uint32{1}, arg.RankMax+1)
					(*l.of(d))[i] = x
				})
			}
			if l.word == "input" && !slices.ContainsFunc(sig.Forms, func(f nnapi.Form) bool {
				return i < len(f.Inputs.List) && f.Inputs.At(i, len(list)).Omitted
			}) {
				add(place+"_omitted", func(d *Case) { (*l.of(d))[i].None = true })
			}
		}
	}
	return out
}

// takes tells whether a form of an operation has n arguments.
func takes(sig *nnapi.Signature, args func(f *nnapi.Form) *nnapi.Arguments, n int) bool {
	return slices.ContainsFunc(sig.Forms, func(f nnapi.Form) bool {
		a := args(&f)
		return slices.Contains(a.Counts, n) || a.Repeated >= 0 && n >= a.Counts[0]
	})
}

// foreign is a type that no form has in place i of n.
func foreign(sig *nnapi.Signature, args func(f *nnapi.Form) *nnapi.Arguments, i, n int, scalar bool) string {
	var has []nnapi.OperandCode
	for k := range sig.Forms {
		a := args(&sig.Forms[k])
		if i >= len(a.List) && a.Repeated < 0 {
			continue
		}
		switch arg := a.At(i, n); arg.Type.Variable {
		case nnapi.FixedType:
			has = append(has, arg.Type.Fixed)
		case nnapi.FloatScalar:
			has = append(has, nnapi.Float32, nnapi.Float16)
		default:
			for _, row := range sig.Types {
				has = append(has, row.Of[arg.Type.Variable])
			}
		}
	}
	rest := ""
	for _, word := range candidates {
		if slices.Contains(has, nnapi.OperandCode(model.Types[word].Code)) {
			continue
		}
		if model.Types[word].Scalar == scalar {
			return word
		}
		rest = word
	}
	return rest
}

// plain is an operand of a type.
func plain(word string) model.Operand {
	o := model.Operand{Type: word, Data: []numbers.Number{numbers.Int(1)}}
	switch word {
	case "Q8", "Q8S", "Q8Y", "Q16A", "Q16Y":
		o.Scale = 1
	}
	if !model.Types[word].Scalar {
		o.Dims = []uint32{1}
	}
	return o
}

// compute demands what the variation says of a library.
func (v *Variation) compute(l *suite.Library, dir string) error {
	t := &suite.T{Library: l, Dir: dir}
	return t.Compute(func() {
		if level := int64(l.Call("_getRuntimeFeatureLevel")); v.Level != 0 && level != int64(v.Level) {
			t.Skip("the library has feature level %d, whatever %s says", level, levelVariable)
		}
		if v.Later {
			p := v.build(api.NewT(t), variant{})
			compilation := p.t.Compilation(p.model.Handle)
			t.OK("Compilation_finish", compilation)
			r := &run{program: p, compilation: compilation, execution: p.t.Execution(compilation)}
			r.bound(nil, nil)
			t.Is(api.OpFailed, "Execution_compute", r.execution)
			return
		}
		if v.Refused {
			p, in, out := v.operands(api.NewT(t), variant{})
			p.model.Operates(api.BadData, v.Op, in, out)
			t.Says(v.Op)
			return
		}
		p := v.build(api.NewT(t), variant{})
		compilation := p.t.Compilation(p.model.Handle)
		t.OK("Compilation_finish", compilation)
		p.judge(compilation, ways[0])
	})
}
