package operations

import (
	"fmt"
	"slices"
	"strings"

	api "github.com/anynpu/anynpu/conformance/nnapi"
	"github.com/anynpu/anynpu/conformance/nnapi/model"
	"github.com/anynpu/anynpu/conformance/suite"
)

// step is where a wrong size is said for one dimension of one argument, and what answers.
type step struct {
	name    string
	output  bool
	declare bool // the model has it
	code    int
	by      string // the function that answers with the code
}

// steps are in the order of a program's calls. What a model says of an argument is open where it is not wrong and an
// execution is; at the last two the model has the right sizes.
var steps = []step{
	{"declared_input", false, true, api.OpFailed, "Execution_compute"},
	{"declared_output", true, true, api.OpFailed, "Execution_compute"},
	{"told_input", false, false, api.OpFailed, "Execution_compute"},
	{"told_output", true, false, api.OpFailed, "Execution_compute"},
	{"refused_input", false, false, api.BadData, "Execution_setInput"},
	{"refused_output", true, false, api.BadData, "Execution_setOutput"},
}

// Contradiction is what comes of sizes that do not fit, at one step of one operation.
type Contradiction struct {
	*Case
	step *step
}

// ID names the contradiction in reports.
func (x *Contradiction) ID() string { return x.Op + "/contradiction_" + x.step.name }

// place is one dimension of an argument.
type place struct{ argument, dim int }

// contradictions are those of one operation, of the case that has most tensors. Models that control flow refers to are
// compared when the operation is added, which rules judge.
func contradictions(cases []*Case) (out []*Contradiction) {
	var best *Case
	most := -1
	for _, c := range cases {
		n := 0
		for i := range c.In {
			if !c.In[i].None && len(c.In[i].Dims) > 0 {
				n++
			}
		}
		empty := func(o model.Operand) bool { return o.Empty() }
		if c.Telling() && c.Models == nil && !c.open() && n > most && !slices.ContainsFunc(c.In, empty) {
			best, most = c, n
		}
	}
	for i := range steps {
		if x := (&Contradiction{best, &steps[i]}); best != nil && len(x.places()) > 0 {
			out = append(out, x)
		}
	}
	return out
}

// places are the dimensions of which a wrong size contradicts something.
func (x *Contradiction) places() (out []place) {
	list, free := x.In, freeDims[x.Op]
	if x.step.output {
		list, free = x.Out, nil
	}
	for i := range list {
		o := &list[i]
		if o.None || o.Model != "" || x.step.name == "refused_input" && o.Const {
			continue
		}
		for k := range o.Dims {
			if o.Channel != nil && int(*o.Channel) == k || x.step.code != api.BadData && (slices.Contains(free,
				place{i, k}) || slices.Contains(free, place{i, every})) {
				continue
			}
			out = append(out, place{i, k})
		}
	}
	return out
}

// other is a size that does not fit where d does, whatever strides and blocks make of it.
func other(d uint32) uint32 { return 2*d + 5 }

// compute demands the code for each place.
func (x *Contradiction) compute(l *suite.Library, dir string) error {
	var wrong []string
	for _, p := range x.places() {
		t := &suite.T{Library: l, Dir: dir}
		if err := t.Compute(func() { x.try(api.NewT(t), p) }); err != nil {
			wrong = append(wrong, fmt.Sprintf("%s, dimension %d: %v", x.argument(p.argument), p.dim, err))
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%s", strings.Join(wrong, "\n"))
	}
	return nil
}

func (x *Contradiction) argument(i int) string {
	if x.step.output {
		return fmt.Sprintf("output %d", i)
	}
	return fmt.Sprintf("input %d", i)
}

// try builds the case with the wrong size, up to the call that must answer.
func (x *Contradiction) try(t *api.T, at place) {
	d := *x.Case
	d.In, d.Out = slices.Clone(x.In), slices.Clone(x.Out)
	list := d.In
	if x.step.output {
		list = d.Out
	}
	o := &list[at.argument]
	right, wrong := *o, *o
	wrong.Dims = slices.Clone(o.Dims)
	wrong.Dims[at.dim] = other(o.Dims[at.dim])
	if x.step.code != api.BadData && !x.step.output {
		numbers := o.Numbers()
		wrong.Pattern, wrong.Data = nil, slices.Clone(numbers)
		for n := wrong.Count(); len(wrong.Data) < n; {
			wrong.Data = append(wrong.Data, numbers[len(wrong.Data)%len(numbers)])
		}
	}
	refused := x.step.code == api.BadData
	switch {
	case x.step.declare:
		*o = wrong
	case !refused && !x.step.output:
		*o = wrong
		o.Open, o.Const = true, false
	case !refused:
		o.Open = true
	}
	p := d.build(t, variant{})
	c := t.Compilation(p.model.Handle)
	t.OK("Compilation_finish", c)
	r := &run{program: p, compilation: c, execution: t.Execution(c)}
	if refused {
		x.refused(r, o, &right, &wrong)
		return
	}
	told := o
	if x.step.output && !x.step.declare {
		told = &wrong
	}
	r.bound(o, told)
	t.Is(x.step.code, "Execution_compute", r.execution)
}

// refused binds memory of the wrong size by a type that says so.
func (x *Contradiction) refused(r *run, o, right, wrong *model.Operand) {
	list, function := r.in, "Execution_setInput"
	if x.step.output {
		list, function = r.out, "Execution_setOutput"
	}
	said := r.t.Quantized(model.Types[right.Type].Code, right.Scale, right.Zero, wrong.Dims...)
	b := make([]byte, wrong.Size())
	r.t.Keep(b)
	r.t.Is(x.step.code, function, r.execution, slices.Index(list, o), said, b, len(b))
}

// bound binds everything; of output o the execution says what told has.
func (r *run) bound(o, told *model.Operand) {
	for i, in := range r.in {
		b := r.bytes(in)
		r.t.Keep(b)
		r.t.OK("Execution_setInput", r.execution, i, r.given(in), b, len(b))
	}
	for i, out := range r.out {
		said := any(nil)
		if out == o && out != told {
			out, said = told, r.t.Quantized(model.Types[o.Type].Code, o.Scale, o.Zero, told.Dims...)
		}
		b := make([]byte, max(out.Size(), 1))
		r.t.Keep(b)
		r.t.OK("Execution_setOutput", r.execution, i, said, b, len(b))
	}
}

// every stands for each dimension of an argument in freeDims.
const every = -1

// freeDims are the dimensions of inputs that may have another size with all else as it is. Those of constants that list
// axes may too: what is added to the list repeats it.
var freeDims = map[string][]place{
	// the dimension along which the operation looks for, adds up or takes some
	"ARGMAX": {{0, 0}}, "ARGMIN": {{0, 0}}, "TOPK_V2": {{0, 0}}, "GATHER": {{0, 0}}, "SLICE": {{0, 0}},
	"STRIDED_SLICE": {{0, 0}, {0, 1}}, "RANDOM_MULTINOMIAL": {{0, 1}}, "LSH_PROJECTION": {{1, 1}},
	"MEAN": {{0, 0}, {1, 0}}, "REDUCE_MAX": {{0, 0}, {1, 0}}, "REDUCE_MIN": {{0, 0}, {1, 0}},
	"REDUCE_PROD": {{0, 0}, {1, 0}}, "REDUCE_SUM": {{0, 0}, {1, 0}}, "REDUCE_ALL": {{0, 1}, {1, 0}},
	"REDUCE_ANY": {{0, 1}, {1, 0}}, "SQUEEZE": {{1, 0}},
	// the rows of a table and the images that indices name, of which there may be more
	"EMBEDDING_LOOKUP": {{1, 0}}, "AXIS_ALIGNED_BBOX_TRANSFORM": {{3, 0}},
	// images of any size, whose result has the size of scalars
	"RESIZE_BILINEAR": {{0, 1}, {0, 2}}, "RESIZE_NEAREST_NEIGHBOR": {{0, 1}, {0, 2}},
	"ROI_ALIGN": {{0, 0}, {0, 1}, {0, 2}}, "ROI_POOLING": {{0, 0}, {0, 1}, {0, 2}},
	// classes, of which some are kept, and what may stand behind the 4 numbers of a box
	"DETECTION_POSTPROCESSING": {{0, 2}, {1, 2}},
	// the size of a filter beside an output shape: the padding grows
	"TRANSPOSE_CONV_2D": {{1, 1}, {1, 2}},
	// the number of dimensions counts, not their sizes
	"RANK": {{0, every}},
}
