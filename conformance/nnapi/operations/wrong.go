package operations

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	api "github.com/anynpu/anynpu/conformance/nnapi"
	"github.com/anynpu/anynpu/conformance/nnapi/model"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/numbers"
)

// The scalars of all operations are in one of two lists, by their names; OPERATION/name goes before a name alone.
var (
	// wrongScalars are values that an argument of that name does not take.
	wrongScalars = map[string]numbers.Number{}
	// anyScalars are arguments that take every value.
	anyScalars = map[string]bool{}
	// besides are values of other scalars without which an operation does not look at one.
	besides = map[string]map[string]numbers.Number{
		"BOX_WITH_NMS_LIMIT/sigma": {"kernel": numbers.Int(2)},
	}
)

func init() {
	for names, v := range map[string]numbers.Number{
		"activation": numbers.Int(99), "padding scheme": numbers.Int(7), "axis": numbers.Int(100), "type": numbers.Int(9),
		"mode": numbers.Int(5), "kernel": numbers.Int(9), "UNIDIRECTIONAL_SEQUENCE_RNN/time major": numbers.Int(2),
		"padding left,padding right,padding top,padding bottom,k,radius,height samples,width samples": numbers.Int(-1),
		"stride width,stride height,filter width,filter height,dilation width,dilation height,multiplier,groups": numbers.
			Int(0),
		"block size,output width,output height,count,rank,samples":                        numbers.Int(0),
		"max detections,max classes per detection,max per class":                          numbers.Int(0),
		"width scale,height scale,SOFTMAX/beta,LOG_SOFTMAX/beta,height ratio,width ratio": numbers.Real(-1),
		"cell clip,projection clip":                                                       numbers.Real(-1),
		"scale y,scale x,scale height,scale width,sigma,hidden scale":                     numbers.Real(0),
		"input intermediate scale,forget intermediate scale,cell intermediate scale":      numbers.Real(0),
		"output intermediate scale":                                                       numbers.Real(0),
		"hidden zero point":                                                               numbers.Int(128),
	} {
		for _, name := range strings.Split(names, ",") {
			wrongScalars[name] = v
		}
	}
	for _, names := range []string{
		"layout,transpose input0,transpose input1,merge outputs,time major,regular nms,include background,keep dims",
		"align corners,half pixel centers", // true or false, whatever the bits
		"BOX_WITH_NMS_LIMIT/score threshold,max boxes,iou threshold,nms score threshold",
		"DETECTION_POSTPROCESSING/score threshold,ELU/alpha,FILL/value,PAD_V2/value",
		"pre nms top n,post nms top n,min size,GENERATE_PROPOSALS/height stride,GENERATE_PROPOSALS/width stride",
		"gamma,INSTANCE_NORMALIZATION/beta,epsilon",
		"bias,LOCAL_RESPONSE_NORMALIZATION/alpha,LOCAL_RESPONSE_NORMALIZATION/beta",
		"begin mask,end mask,shrink mask",
	} {
		for _, name := range strings.Split(names, ",") {
			anyScalars[name] = true
		}
	}
}

// wrongOf is a value that an operation does not take for an argument, ok: there is one.
func wrongOf(op, name string) (v numbers.Number, ok bool) {
	if v, ok = wrongScalars[op+"/"+name]; ok || anyScalars[op+"/"+name] {
		return v, ok
	}
	v, ok = wrongScalars[name]
	return v, ok
}

// spot is a scalar of a form, and the first case that has it.
type spot struct {
	c    *Case
	at   int
	name string
}

// places are the scalars of a form.
func (s *Scalars) places() (out []spot) {
	for _, g := range s.cases {
		for i := range g[0].In {
			name := s.form.Inputs.NameAt(i, len(g[0].In))
			if scalar(&g[0].In[i]) && !slices.ContainsFunc(out, func(p spot) bool { return p.name == name }) {
				out = append(out, spot{g[0], i, name})
			}
		}
	}
	return out
}

// key names a scalar in the lists.
func (p spot) key() string { return p.c.Op + "/" + p.name }

// with is the case with a value of the scalar, and of those beside which it is looked at.
func (s *Scalars) with(p spot, v numbers.Number) *Case {
	c := *p.c
	c.In = slices.Clone(c.In)
	for i := range c.In {
		if v, ok := besides[p.key()][s.form.Inputs.NameAt(i, len(c.In))]; ok {
			c.In[i].Data = []numbers.Number{v}
		}
	}
	c.In[p.at].Data = []numbers.Number{v}
	return &c
}

// wrong gives each scalar a wrong value, as a constant and as an input: the operation is refused. A scalar that takes
// every value gets some at which others would stop, and the operation computes.
func (s *Scalars) wrong(l *suite.Library, dir string) error {
	for _, p := range s.places() {
		value, refused := wrongOf(p.c.Op, p.name)
		values := []numbers.Number{value}
		if !refused {
			values = extremes(&p.c.In[p.at])
		}
		for _, value := range values {
			for _, v := range []variant{{}, {scalars: true}} {
				if err := s.with(p, value).ends(l, dir, v, refused); err != nil {
					return fmt.Errorf("%s of %v, as an input: %v: %w", p.name, value, v.scalars, err)
				}
			}
		}
	}
	return nil
}

// extremes are values of a scalar that takes every one.
func extremes(o *model.Operand) []numbers.Number {
	switch o.Type {
	case "bool":
		return []numbers.Number{numbers.Int(1), numbers.Int(255)}
	case "i32":
		return []numbers.Number{numbers.Int(-1), numbers.Int(1 << 30), numbers.Int(-1 << 31)}
	}
	return []numbers.Number{numbers.Real(0), numbers.Real(-1), numbers.Real(60000)}
}

// ends demands that a model is refused, with OP_FAILED, or that it is computed, whatever comes of it. What a scalar
// makes of the sizes of results is not judged here: then OUTPUT_INSUFFICIENT_SIZE is right too, and OP_FAILED for an
// output that is told otherwise.
func (c *Case) ends(l *suite.Library, dir string, v variant, refused bool) error {
	t := &suite.T{Library: l, Dir: dir}
	return t.Compute(func() {
		p := c.build(api.NewT(t), v)
		compilation := p.t.Compilation(p.model.Handle)
		code := t.Code("Compilation_finish", compilation)
		if code == api.NoError {
			r := &run{program: p, compilation: compilation, execution: p.t.Execution(compilation)}
			r.pointers()
			code = t.Code("Execution_compute", r.execution)
		} else {
			t.Check(!v.scalars, "Compilation_finish returns %s", t.API.CodeName(code))
		}
		if refused {
			t.Check(code == api.OpFailed, "want %s, got %s", t.API.CodeName(api.OpFailed), t.API.CodeName(code))
			return
		}
		sized := code == api.OutputInsufficientSize || code == api.OpFailed && c.shapedByScalars()
		t.Check(code == api.NoError || sized, "want %s, got %s: %s", t.API.CodeName(api.NoError), t.API.CodeName(code),
			t.LastError())
	})
}

// shapedByScalars tells whether sizes of an operation's results come from scalars.
func (c *Case) shapedByScalars() bool {
	return slices.ContainsFunc(c.Out, func(o model.Operand) bool { return len(o.Dims) > 0 }) &&
		slices.ContainsFunc(c.In, func(o model.Operand) bool { return scalar(&o) && o.Type != "f32" && o.Type != "f16" })
}

// Flood is one value after another of scalars in one execution.
type Flood struct {
	*Scalars
	spot   // the scalar, the zero value: all of the first case by turns
	values int
}

// ID names the flood in reports.
func (f *Flood) ID() string {
	id := f.Scalars.ID() + "_many"
	if f.c != nil {
		id += "_" + strings.ReplaceAll(f.name, " ", "_")
	}
	return id
}

// manyValues is how many values a scalar gets in the long form, fewValues all together in the short one.
const (
	manyValues = 10000
	fewValues  = 320
)

// floods are a short one of all scalars and a long one of each.
func (s *Scalars) floods() []*Flood {
	out := []*Flood{{s, spot{}, fewValues}}
	for _, p := range s.places() {
		out = append(out, &Flood{s, p, manyValues})
	}
	return out
}

// compute demands that the process does not grow. A value that is refused counts as well. Values come in an order in
// which each part of them is like the others.
func (f *Flood) compute(l *suite.Library, dir string) error {
	c := f.cases[0][0]
	if f.c != nil {
		c = f.with(f.spot, f.c.In[f.at].Data[0])
	}
	t := &suite.T{Library: l, Dir: dir}
	return t.Compute(func() {
		t.Outside("how much memory the process has")
		p := c.build(api.NewT(t), variant{scalars: true})
		compilation := p.t.Compilation(p.model.Handle)
		t.OK("Compilation_finish", compilation)
		r := &run{program: p, compilation: compilation, execution: p.t.Execution(compilation)}
		t.OK("Execution_setReusable", r.execution, true)
		r.pointers()
		var changing []*model.Operand
		var memory [][]byte
		for at, o := range p.in {
			if !scalar(o) || f.c != nil && o != &c.In[f.at] {
				continue
			}
			changing, memory = append(changing, o), append(memory, r.held[at])
		}
		given := 0
		give := func(n int) {
			for range n {
				i := given % len(changing)
				before := bytes.Clone(memory[i])
				copy(memory[i], valueOf(changing[i], given))
				given++
				t.Code("Execution_compute", r.execution)
				if len(changing) > 1 {
					copy(memory[i], before)
				}
			}
		}
		give(f.values / 4)
		more := 0
		for range 3 {
			before := resident(t)
			give(f.values / 4)
			if more = resident(t) - before; more < flat {
				return
			}
		}
		t.Check(false, "%d values: %d bytes more", given, more)
	})
}

// valueOf are the bytes of value k of many.
func valueOf(o *model.Operand, k int) []byte {
	v := *o
	n := int64(k*7919%(manyValues+7)) - manyValues/2
	switch o.Type {
	case "i32":
		v.Data = []numbers.Number{numbers.Int(n)}
	case "bool":
		v.Data = []numbers.Number{numbers.Int(n & 0xff)}
	default:
		v.Data = []numbers.Number{numbers.Real(float64(n) / 16)}
	}
	return v.Bytes()
}

// flat is the growth of a process that is none, in bytes.
const flat = 16 << 20

// resident is the memory that the process has.
func resident(t *suite.T) int {
	text, err := os.ReadFile("/proc/self/statm")
	t.Check(err == nil, "%v", err)
	pages := 0
	_, err = fmt.Fscan(bytes.NewReader(text), new(int), &pages)
	t.Check(err == nil, "statm: %v", err)
	return pages * os.Getpagesize()
}
