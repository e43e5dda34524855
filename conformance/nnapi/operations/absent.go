package operations

import (
	"fmt"
	"slices"
	"strings"

	api "github.com/anynpu/anynpu/conformance/nnapi"
	"github.com/anynpu/anynpu/conformance/nnapi/model"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// Absence is an operation whose optional arguments are left out in one way after another: by a model for each way, by
// the execution of such a model, and by executions of one model, that take turns.
type Absence struct {
	about string
	cases []*Case // of one number of arguments and of types that one model can have, each of which leaves out others
}

// ID names the absences in reports.
func (a *Absence) ID() string { return a.cases[0].Op + "/omitted_" + a.about }

// absent names the operation and the arguments that a case leaves out.
func (c *Case) absent() string {
	f := nnapi.FormOf(c.spec())
	var out []string
	for i, a := range f.Inputs.List {
		if a.Omitted && (i >= len(c.In) || c.In[i].None) {
			out = append(out, a.Name)
		}
	}
	return c.Op + " without " + strings.Join(out, ", ")
}

// optional tells whether some form of an operation lets arguments be left out.
func optional(op string) bool {
	code, _ := codeOf(op)
	s := nnapi.SignatureOf(code)
	return s != nil && slices.ContainsFunc(s.Forms, func(f nnapi.Form) bool {
		return slices.ContainsFunc(f.Inputs.List, func(a nnapi.Argument) bool { return a.Omitted })
	})
}

// absences are those of the cases of one operation.
func absences(cases []*Case) (out []*Absence) {
	if len(cases) == 0 || !optional(cases[0].Op) {
		return nil
	}
	var groups [][]*Case
	for _, c := range cases {
		if !c.Telling() || c.open() {
			continue
		}
		i := slices.IndexFunc(groups, func(g []*Case) bool { return joins(g, c) })
		if i < 0 {
			groups = append(groups, []*Case{c})
			continue
		}
		if !slices.ContainsFunc(groups[i], func(d *Case) bool { return d.absent() == c.absent() }) {
			groups[i] = append(groups[i], c)
		}
	}
	for i, g := range groups {
		if len(g) > 1 {
			out = append(out, &Absence{fmt.Sprint(i), g})
		}
	}
	return append(out, pairs(cases)...)
}

// joins tells whether a model can have the arguments of c and of each case of g.
func joins(g []*Case, c *Case) bool {
	alike := func(a, b *model.Operand) bool {
		return a.Type == b.Type && (a.None || b.None || a.Scale == b.Scale && a.Zero == b.Zero)
	}
	return !slices.ContainsFunc(g, func(d *Case) bool {
		if len(c.In) != len(d.In) || len(c.Out) != len(d.Out) {
			return true
		}
		if k := told(c.Op); k >= 0 && !slices.Equal(c.In[k].Dims, d.In[k].Dims) {
			return true
		}
		for i := range c.In {
			if !alike(&c.In[i], &d.In[i]) {
				return true
			}
		}
		for i := range c.Out {
			if !alike(&c.Out[i], &d.Out[i]) || c.Out[i].Ignore != d.Out[i].Ignore {
				return true
			}
		}
		return false
	})
}

// BIDIRECTIONAL_SEQUENCE_LSTM: where the arguments of its backward cell begin and end, and its results.
const (
	pairedCases                                = "_absent_"
	backward, states, auxiliary, normal        = 18, 35, 39, 53
	perCell, perState, perAuxiliary, perNormal = 17, 2, 4, 4
)

// pairs puts each forward cell beside each backward cell: cases of the script that share their inputs have one of each
// kind, and the cells do not depend on each other.
func pairs(cases []*Case) (out []*Absence) {
	if cases[0].Op != nnapi.BidirectionalSequenceLSTM.String() {
		return nil
	}
	for _, mode := range []string{"alone", "cross", "parallel"} {
		var of []*Case
		for _, c := range cases {
			if strings.Contains(c.Name, pairedCases+mode+"_") {
				of = append(of, c)
			}
		}
		for _, forward := range of {
			a := &Absence{about: "pairs_" + forward.Name}
			for _, c := range of {
				a.cases = append(a.cases, paired(forward, c))
			}
			out = append(out, a)
		}
	}
	return out
}

// paired is the forward cell of one case beside the backward cell of another.
func paired(a, b *Case) *Case {
	c := *a
	c.In, c.Out = slices.Clone(a.In), slices.Clone(a.Out)
	for _, r := range [][2]int{{backward, perCell}, {states + perState, perState}, {auxiliary + 1 + perAuxiliary,
		perAuxiliary}, {normal + perNormal, perNormal}} {
		copy(c.In[r[0]:r[0]+r[1]], b.In[r[0]:r[0]+r[1]])
	}
	c.Out[1], c.Out[4], c.Out[5] = b.Out[1], b.Out[4], b.Out[5]
	return &c
}

// rounds is how often each execution of one model takes its turn.
const rounds = 2

// compute leaves arguments out in each way.
func (a *Absence) compute(l *suite.Library, dir string) error {
	for _, v := range []variant{{}, {absent: true}} {
		for _, c := range a.cases {
			t := &suite.T{Library: l, Dir: dir}
			err := t.Compute(func() {
				p := c.build(api.NewT(t), v)
				compilation := p.t.Compilation(p.model.Handle)
				t.OK("Compilation_finish", compilation)
				p.judge(compilation, ways[0])
			})
			if err != nil {
				return fmt.Errorf("%s, by the execution: %v: %w", c.absent(), v.absent, err)
			}
		}
	}
	return a.turns(l, dir)
}

// turns computes the cases by executions of one model that take turns.
func (a *Absence) turns(l *suite.Library, dir string) error {
	t, now := &suite.T{Library: l, Dir: dir}, ""
	err := t.Compute(func() {
		m, compilation := a.one(api.NewT(t))
		var runs []*run
		for _, c := range a.cases {
			p := &program{t: m.t, c: c, variant: m.variant, model: m.model}
			for i := range c.In {
				p.in = append(p.in, &c.In[i])
			}
			for i := range c.Out {
				p.out = append(p.out, &c.Out[i])
			}
			r := &run{program: p, compilation: compilation, execution: m.t.Execution(compilation)}
			t.OK("Execution_setReusable", r.execution, true)
			r.pointers()
			runs = append(runs, r)
		}
		for range rounds {
			for _, r := range runs {
				now = r.c.Name + ", " + r.c.absent()
				r.judge(r.compute())
			}
			slices.Reverse(runs)
		}
	})
	if err != nil {
		return fmt.Errorf("%s, in turn: %w", now, err)
	}
	return nil
}

// told is the argument whose dimensions the model has to say, -1 for none: the library needs the channels of
// DEPTHWISE_CONV_2D's filter.
func told(op string) int {
	if op == nnapi.DepthwiseConv2D.String() {
		return 1
	}
	return -1
}

// one is a model of which every argument is an input of open rank, and a compilation of it.
func (a *Absence) one(t *api.T) (*program, uintptr) {
	p := &program{t: t, c: a.cases[0], model: t.Model(),
		variant: variant{inputs: true, open: true, unranked: true, scalars: true, absent: true}}
	o0 := a.cases[0]
	for i := range o0.In {
		o := &o0.In[i]
		for _, c := range a.cases {
			if !c.In[i].None {
				o = &c.In[i]
			}
		}
		var dims []uint32
		if i == told(o0.Op) {
			dims = o.Dims
		}
		p.inputs = append(p.inputs, p.operand(o, dims))
	}
	for i := range a.cases[0].Out {
		p.outputs = append(p.outputs, p.operand(&a.cases[0].Out[i], nil))
	}
	p.model.Operation(a.cases[0].Op, p.inputs, p.outputs)
	p.model.Identify(api.NoError, p.inputs, p.outputs)
	p.model.Finish()
	c := t.Compilation(p.model.Handle)
	t.OK("Compilation_finish", c)
	return p, c
}

// combinations counts the ways in which the API lets optional arguments of its operations be left out.
func combinations() int {
	const (
		cells = 2 * 2 * 2 * 3 // without an input gate, peepholes, layer normalization; without projection or its bias
		aux   = 3             // without an auxiliary input, with its weights, without them
	)
	return 3*cells /* LSTM, UNIDIRECTIONAL_SEQUENCE_LSTM, QUANTIZED_LSTM */ + cells*cells*aux +
		aux /* BIDIRECTIONAL_SEQUENCE_RNN */ + 4*2 // SVDF, LSH_PROJECTION, SQUEEZE, TRANSPOSE
}
