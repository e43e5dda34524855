package operations

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	api "github.com/anynpu/anynpu/conformance/nnapi"
	"github.com/anynpu/anynpu/conformance/nnapi/model"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// Scalars is a form of an operation whose scalars are inputs: cases with other scalars by one model, the same bits as
// by a model that has them as constants, and the same code for a wrong one.
type Scalars struct {
	form  *nnapi.Form
	cases [][]*Case // that one model can have
}

// ID names the case in reports.
func (s *Scalars) ID() string {
	name := s.cases[0][0].Op + "/scalars"
	if s.form.Name != "" {
		name += "_" + strings.ReplaceAll(s.form.Name, " ", "_")
	}
	return name
}

// scalar tells whether an operand is one.
func scalar(o *model.Operand) bool { return model.Types[o.Type].Scalar && o.Model == "" }

// scalars are the values of a case's.
func (c *Case) scalars() string {
	var out []string
	for i := range c.In {
		if scalar(&c.In[i]) {
			out = append(out, fmt.Sprint(c.In[i].Data))
		}
	}
	return strings.Join(out, " ")
}

// mostScalars bounds the cases of one model.
const mostScalars = 24

// scalarForms are the forms of an operation that have scalars, each with models for as many values as its cases have: a
// model more where one has an argument with only one value in those before.
func scalarForms(cases []*Case) (out []*Scalars) {
	if len(cases) == 0 || cases[0].Models != nil {
		return nil
	}
	code, _ := codeOf(cases[0].Op)
	sig := nnapi.SignatureOf(code)
	for k := range sig.Forms {
		form := &sig.Forms[k]
		var groups [][]*Case
		for _, c := range cases {
			has := slices.ContainsFunc(c.In, func(o model.Operand) bool { return scalar(&o) })
			empty := slices.ContainsFunc(c.In, func(o model.Operand) bool { return o.Empty() })
			if !has || empty || !c.Telling() || c.open() || nnapi.FormOf(c.spec()) != form {
				continue
			}
			i := slices.IndexFunc(groups, func(g []*Case) bool { return joins(g, c) })
			if i < 0 {
				groups = append(groups, []*Case{c})
			} else if len(groups[i]) < mostScalars && !slices.ContainsFunc(groups[i], func(d *Case) bool {
				return d.scalars() == c.scalars()
			}) {
				groups[i] = append(groups[i], c)
			}
		}
		slices.SortStableFunc(groups, func(a, b []*Case) int { return len(b) - len(a) })
		s, seen := &Scalars{form: form}, map[string]bool{}
		for _, g := range groups {
			if len(s.cases) == 0 || s.adds(g, seen) {
				s.cases = append(s.cases, g)
				s.adds(g, seen)
			}
		}
		if len(s.cases) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// adds notes the values of scalars in a group; it reports whether one is the first or the second of its argument.
func (s *Scalars) adds(g []*Case, seen map[string]bool) (more bool) {
	for _, c := range g {
		for i := range c.In {
			if !scalar(&c.In[i]) {
				continue
			}
			name := s.form.Inputs.NameAt(i, len(c.In))
			value := fmt.Sprint(name, "=", c.In[i].Data)
			if !seen[value] && !seen[name+" twice"] {
				more = true
				seen[name+" twice"] = seen[name]
			}
			seen[name], seen[value] = true, true
		}
	}
	return more
}

func (s *Scalars) compute(l *suite.Library, dir string) error {
	for _, g := range s.cases {
		if err := (&Absence{cases: g}).turns(l, dir); err != nil {
			return err
		}
		for _, c := range g {
			if err := c.sameBits(l, dir); err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
		}
	}
	return s.wrong(l, dir)
}

// sameBits demands that a model computes the same whether its scalars are constants or inputs.
func (c *Case) sameBits(l *suite.Library, dir string) error {
	var results [2][][]byte
	for k, v := range []variant{{}, {scalars: true}} {
		t := &suite.T{Library: l, Dir: dir}
		err := t.Compute(func() {
			p := c.build(api.NewT(t), v)
			compilation := p.t.Compilation(p.model.Handle)
			t.OK("Compilation_finish", compilation)
			r := &run{program: p, compilation: compilation, execution: p.t.Execution(compilation)}
			r.pointers()
			t.OK("Execution_compute", r.execution)
			for i, o := range p.out {
				if !o.Ignore && o.Shares == nil {
					results[k] = append(results[k], bytes.Clone(r.results[i]()))
				}
			}
		})
		if err != nil {
			return err
		}
	}
	if !slices.EqualFunc(results[0], results[1], bytes.Equal) {
		return fmt.Errorf("scalars as inputs give %v, as constants %v", results[1], results[0])
	}
	return nil
}
