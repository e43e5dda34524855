// Package operators is the operator suite of the OH_NN C API: cases written in that API's own terms, computed by any
// library file that exports it. It knows no backend. The format of the cases and where their expected values come from
// is stated in gen/case.py.
package operators

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/ohnn/model"
	"github.com/anynpu/anynpu/conformance/suite/numbers"
)

//go:embed cases
var caseFiles embed.FS

// folders hold further cases of an operator that stand for themselves, in files of the same name: those of large
// operands, of pairs of parameters, and of exact codes.
var folders = []string{"size/", "pairs/", "codes/"}

// Reject says where a case must be refused.
type Reject struct {
	Stage string `json:"stage"` // add, finish, build or run
	Codes []int  `json:"codes"`
}

// Case is one model of one operation with what must come of it.
type Case struct {
	Name    string         `json:"name"`
	Op      string         `json:"op"` // without OH_NN_OPS_
	Tensors []model.Tensor `json:"tensors"`
	In      []uint32       `json:"in"`
	Params  []uint32       `json:"params"`
	Out     []uint32       `json:"out"`
	Reject  *Reject        `json:"reject"`
	model.Tolerance
	Why  string `json:"why"`
	From string `json:"from"`

	// Sizes makes of the case one for each number n: 0 in its dimensions is n, and these are the checks of its outputs.
	Sizes map[int32][]*model.Check `json:"sizes"`

	Of       string   `json:"-"` // the judged case that it differs from in one place, "" if it stands for itself
	About    string   `json:"-"` // what the difference is in: "input 1", "output 0", a parameter's name, ...
	Changed  []int    `json:"-"` // tensors that the difference is in
	Mentions []string `json:"-"` // what the message of a refusal must contain, if the library gives messages
}

// InReference is what becomes of a case that Build must refuse where ANYNPU_OHNN_COMPAT is reference: the model is
// built, and every run is UNAVAILABLE_DEVICE. All other cases give nil.
func (c *Case) InReference() *Case {
	if c.Reject == nil || c.Reject.Stage != "build" {
		return nil
	}
	r := *c
	r.Reject = &Reject{Stage: "run", Codes: []int{ohnn.Unavailable}}
	return &r
}

// ID names the case in reports: OPERATOR/name.
func (c *Case) ID() string { return c.Op + "/" + c.Name }

// Cases returns all cases: those that stand for themselves in the order of their IDs' files, then those that differ
// from one of them.
func Cases() ([]*Case, error) {
	names, err := fs.Glob(caseFiles, "cases/*.json")
	if err != nil {
		return nil, err
	}
	var own, beside []*Case
	for _, name := range names {
		o, b, err := casesIn(path.Base(name))
		if err != nil {
			return nil, err
		}
		own, beside = append(own, o...), append(beside, b...)
	}
	return append(own, beside...), nil
}

// casesIn returns the cases of one operator's files, those that stand for themselves and those that differ from one of
// them.
func casesIn(file string) (own, beside []*Case, err error) {
	if own, err = read[*Case]("cases/" + file); err != nil {
		return nil, nil, err
	}
	for _, folder := range folders {
		more, err := read[*Case]("cases/" + folder + file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
		for _, c := range more {
			sized, err := c.expand()
			if err != nil {
				return nil, nil, err
			}
			own = append(own, sized...)
		}
	}
	differences, err := read[*near]("cases/near/" + file)
	if err != nil {
		return nil, nil, err
	}
	byName := make(map[string]*Case, len(own))
	for _, c := range own {
		byName[c.Name] = c
	}
	for _, n := range differences {
		base := byName[n.Of]
		if base == nil || base.Reject != nil || base.Op != n.Op {
			return nil, nil, fmt.Errorf("%s/%s: %s is no judged case", n.Op, n.Name, n.Of)
		}
		c, err := n.apply(base)
		if err != nil {
			return nil, nil, fmt.Errorf("%s/%s: %w", n.Op, n.Name, err)
		}
		beside = append(beside, c)
	}
	return own, beside, nil
}

// read returns the elements of the list in a file.
func read[T any](file string) ([]T, error) {
	text, err := caseFiles.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list []T
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return list, nil
}

// finder finds cases by ID and reads only the files that it needs for that: the operator's.
type finder map[string]*Case

func (f finder) find(id string) (*Case, error) {
	if c := f[id]; c != nil {
		return c, nil
	}
	op, _, _ := strings.Cut(id, "/")
	own, beside, err := casesIn(strings.ToLower(op) + ".json")
	if err != nil {
		return nil, err
	}
	for _, c := range append(own, beside...) {
		f[c.ID()] = c
	}
	if f[id] == nil {
		return nil, fmt.Errorf("no case %q", id)
	}
	return f[id], nil
}

// constantByMeaning lists the operators whose result is one value by definition, so that the rule against constant
// results cannot apply.
var constantByMeaning = map[string]string{
	"FILL":              "fills a tensor with one value",
	"CONSTANT_OF_SHAPE": "fills a tensor with one value",
	"ASSERT":            "returns a condition that is true throughout, or fails",
	"RANK":              "returns one number",
}

// sameByMeaning lists the operators whose result is their input where that is of an integer type, unsigned for some: to
// give it back to the last bit is what they must do.
var sameByMeaning = map[string]bool{"ABS": true, "RELU": true, "CEIL": true, "FLOOR": true, "ROUND": true,
	"PRELU": true}

// judges reports whether the case says that the operator computes its kind of data right: it is telling, or can be no
// more than it is.
func (c *Case) judges() bool {
	return c.Telling() || c.Reject == nil && c.Of == "" && sameByMeaning[c.Op] &&
		model.DataTypes[c.kind().Type].DType.IsInt()
}

// Telling reports whether a case can count as evidence: it computes, and its result is neither constant nor a copy of
// an input that the same bytes could have produced without computing. Moving operators return their input's elements;
// what counts there is that shape or order differ. A case that repeats another's computation counts with that one.
func (c *Case) Telling() bool {
	if c.Reject != nil || c.Of != "" {
		return false
	}
	if _, ok := constantByMeaning[c.Op]; ok {
		return true
	}
	constant := true
	var first numbers.Number
	for i, o := range c.Out {
		e := c.Tensors[o].Expect
		if e.Check != nil { // its generator has seen to it
			return true
		}
		if i == 0 && len(e.Data) > 0 {
			first = e.Data[0]
		}
		for _, v := range e.Data {
			if v != first {
				constant = false
			}
		}
		for _, in := range c.In {
			t := c.Tensors[in]
			if f := t.Feed; f != nil && t.Type == c.Tensors[o].Type && slices.Equal(f.Dims, e.Dims) &&
				sameNumbers(f.Data, e.Data) {
				return false
			}
		}
	}
	return !constant || len(c.Out) == 1 && len(c.Tensors[c.Out[0]].Expect.Data) == 1
}

func sameNumbers(a, b []numbers.Number) bool {
	return slices.EqualFunc(a, b, func(x, y numbers.Number) bool {
		return x == y || math.IsNaN(x.Real) && math.IsNaN(y.Real)
	})
}

// Signature is what makes a case different in kind from another: operator, element types, ranks, open dimensions,
// constants, quantization, parameter values, which operands have the first one's shape, and types and ranks of the
// results.
func (c *Case) Signature() string {
	var b strings.Builder
	b.WriteString(c.Op)
	for _, i := range c.In {
		t := &c.Tensors[i]
		fmt.Fprintf(&b, " %s/%d", t.Type, len(t.Dims))
		for k, d := range t.Dims {
			if d < 0 {
				fmt.Fprintf(&b, "?%d", k)
			}
		}
		if t.Feed == nil {
			b.WriteString("c")
		}
		if t.Quant != nil {
			fmt.Fprintf(&b, "q%t", len(t.Quant.Scale) > 1)
		}
		if slices.Equal(t.Dims, c.Tensors[c.In[0]].Dims) {
			b.WriteString("=")
		}
	}
	for _, o := range c.Out {
		fmt.Fprintf(&b, " >%s/%d", c.Tensors[o].Type, len(c.Tensors[o].Dims))
	}
	params := make([]string, 0, len(c.Params))
	for _, i := range c.Params {
		params = append(params, fmt.Sprintf(" %s%v", c.Tensors[i].Param, c.Tensors[i].Data))
	}
	sort.Strings(params)
	return b.String() + strings.Join(params, "")
}

// Counts returns, per operator, how many cases count: telling and of a new signature.
func Counts(cases []*Case) map[string]int {
	seen := map[string]bool{}
	n := map[string]int{}
	for _, c := range cases {
		if s := c.Signature(); c.Telling() && !seen[s] {
			seen[s] = true
			n[c.Op]++
		}
	}
	return n
}
