// Package operations is the suite of NNAPI's operations: cases in that API's own terms, computed by any library file
// that exports it. It knows no implementation. The form of the cases and where their expected values come from is
// stated in gen/case.py.
package operations

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/conformance/nnapi/model"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/numbers"
)

//go:embed cases
var caseFiles embed.FS

// Case is one operation with what must come of it.
type Case struct {
	Name   string                  `json:"name"`
	Op     string                  `json:"op"` // without ANEURALNETWORKS_
	In     []model.Operand         `json:"in"`
	Out    []model.Operand         `json:"out"` // with the expected values
	Models map[string]*model.Graph `json:"models"`
	Exact  bool                    `json:"exact"` // quantized results are exact: the operation only moves or compares

	Tolerance float64 `json:"tolerance"` // of floats, 0: the usual one of the type
	Fails     bool    `json:"fails"`     // the computation must fail; outputs have no values
	Why       string  `json:"why"`       // the argument for another tolerance than the usual one
	From      string  `json:"from"`      // where the expected values come from, "" for a model in NumPy
}

// ID names the case in reports: OPERATION/name.
func (c *Case) ID() string { return c.Op + "/" + c.Name }

// Cases returns all cases, by operation.
func Cases() ([]*Case, error) {
	files, err := fs.Glob(caseFiles, "cases/*.json")
	if err != nil {
		return nil, err
	}
	var out []*Case
	for _, f := range files {
		list, err := read(f)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

func read(file string) ([]*Case, error) {
	text, err := caseFiles.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list []*Case
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return list, nil
}

// A judge is a case or a variation of one.
type judge interface {
	compute(l *suite.Library, dir string) error
}

// finder finds cases and variations by ID and reads only the files that it needs for that.
type finder map[string]judge

func (f finder) find(id string) (judge, error) {
	if c := f[id]; c != nil {
		return c, nil
	}
	op, _, _ := strings.Cut(id, "/")
	list, err := read("cases/" + strings.ToLower(op) + ".json")
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		f[c.ID()] = c
	}
	for _, v := range variations(list) {
		f[v.ID()] = v
	}
	for _, a := range absences(list) {
		f[a.ID()] = a
	}
	for _, s := range scalarForms(list) {
		f[s.ID()] = s
		for _, x := range s.floods() {
			f[x.ID()] = x
		}
	}
	for _, x := range contradictions(list) {
		f[x.ID()] = x
	}
	if f[id] == nil {
		return nil, fmt.Errorf("no case %q", id)
	}
	return f[id], nil
}

// constantByMeaning are the operations whose result is one value by definition.
var constantByMeaning = map[string]bool{"FILL": true, "RANK": true}

// Telling reports whether a case can count as evidence: it computes, and no result is zero throughout, constant with
// several elements, or the elements of an input in their order.
func (c *Case) Telling() bool {
	if c.Fails {
		return false
	}
	for i := range c.Out {
		o := &c.Out[i]
		if o.Ignore || o.Shares != nil {
			continue
		}
		zero := float64(o.Zero)
		constant, nothing := true, true
		for _, v := range o.Data {
			constant = constant && v == o.Data[0]
			nothing = nothing && v.Real == zero
		}
		if o.Empty() || nothing && c.Out[0].Type != "B8" || constant && len(o.Data) > 1 && !constantByMeaning[c.Op] {
			return false
		}
		for k := range c.In {
			if in := &c.In[k]; slices.Equal(in.Dims, o.Dims) && !in.None && in.Model == "" && sameNumbers(in.Numbers(),
				o.Data) && (in.Scale == o.Scale && in.Zero == o.Zero && in.Type == o.Type) {
				return false
			}
		}
	}
	return true
}

func sameNumbers(a, b []numbers.Number) bool {
	return slices.EqualFunc(a, b, func(x, y numbers.Number) bool {
		return x == y || math.IsNaN(x.Real) && math.IsNaN(y.Real)
	})
}

// Signature is what makes a case different in kind from another: the operation, types, ranks and kinds of
// quantization of its operands, which are constants or have the first one's dimensions, open dimensions, the values of
// scalars and of short constants such as axes, and the models that it refers to.
func (c *Case) Signature() string {
	var b strings.Builder
	b.WriteString(c.Op)
	for i := range c.In {
		o := &c.In[i]
		fmt.Fprintf(&b, " %s/%d", o.Type, len(o.Dims))
		switch {
		case o.Model != "":
			b.WriteString(c.Models[o.Model].Signature())
		case o.None:
			b.WriteString("-")
		case model.Types[o.Type].Scalar:
			fmt.Fprint(&b, o.Data)
		case o.Const && o.Type == "I32" && len(o.Data) > 0 && len(o.Data) <= 8 && o.Scale == 0:
			fmt.Fprint(&b, "c", o.Data)
		case o.Const:
			b.WriteString("c")
		}
		b.WriteString(o.Kind())
		if i > 0 && slices.Equal(o.Dims, c.In[0].Dims) {
			b.WriteString("=")
		}
	}
	for i := range c.Out {
		fmt.Fprintf(&b, " >%s/%d%s", c.Out[i].Type, len(c.Out[i].Dims), c.Out[i].Kind())
	}
	return b.String()
}

// Counts returns, per operation, how many cases count: telling and of a new signature.
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
