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
	"strconv"
	"strings"

	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/numbers"
)

//go:embed cases
var caseFiles embed.FS

// Operand is an argument of an operation, or an operand of a model that an operation refers to.
type Operand struct {
	Type    string           `json:"type"` // a key of types
	Dims    []uint32         `json:"dims"`
	Scale   float32          `json:"scale"`
	Zero    int32            `json:"zero"`
	Channel *uint32          `json:"channel"` // the dimension of Scales
	Scales  []float32        `json:"scales"`
	Const   bool             `json:"const"` // part of the model; scalars are without saying so
	None    bool             `json:"none"`  // without a value
	Open    bool             `json:"open"`  // the model leaves all dimensions open
	Data    []numbers.Number `json:"data"`
	Pattern *numbers.Pattern `json:"pattern"` // in place of Data
	Model   string           `json:"model"`   // of Case.Models: the value of a MODEL operand
	Ignore  bool             `json:"ignore"`  // an output whose content the API leaves open
	Shares  [][]float64      `json:"shares"`  // of an output of draws: how often each number comes, for each row
	Within  float64          `json:"within"`  // how far shares may be off
}

// UnmarshalJSON also reads the short forms: "i32 3" is a scalar, "F32/2 -" a tensor of two dimensions without a value.
func (o *Operand) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '"' {
		type plain Operand
		return json.Unmarshal(b, (*plain)(o))
	}
	word, rest, ok := strings.Cut(strings.Trim(string(b), `"`), " ")
	if word, rank, tensor := strings.Cut(word, "/"); tensor && rest == "-" {
		n, err := strconv.Atoi(rank)
		*o = Operand{Type: word, None: true, Dims: slices.Repeat([]uint32{1}, n)}
		return err
	}
	o.Type, o.Data = word, make([]numbers.Number, 1)
	if !ok {
		return fmt.Errorf("operand %s has no value", b)
	}
	return o.Data[0].UnmarshalJSON([]byte(rest))
}

// Graph is a model that an operation refers to.
type Graph struct {
	Operands   []Operand `json:"operands"`
	Operations []struct {
		Op  string   `json:"op"`
		In  []uint32 `json:"in"`
		Out []uint32 `json:"out"`
	} `json:"operations"`
	In  []uint32 `json:"in"`
	Out []uint32 `json:"out"`
}

// Case is one operation with what must come of it.
type Case struct {
	Name   string            `json:"name"`
	Op     string            `json:"op"` // without ANEURALNETWORKS_
	In     []Operand         `json:"in"`
	Out    []Operand         `json:"out"` // with the expected values
	Models map[string]*Graph `json:"models"`
	Exact  bool              `json:"exact"` // quantized results are exact: the operation only moves or compares

	Tolerance float64 `json:"tolerance"` // of floats, 0: the usual one of the type
	Fails     bool    `json:"fails"`     // the computation must fail; outputs have no values
	Why       string  `json:"why"`       // the argument for another tolerance than the usual one
	From      string  `json:"from"`      // where the expected values come from, "" for a model in NumPy
}

// ID names the case in reports: OPERATION/name.
func (c *Case) ID() string { return c.Op + "/" + c.Name }

// numbers are the elements of an operand.
func (o *Operand) numbers() []numbers.Number {
	if o.Pattern != nil {
		return o.Pattern.Numbers(o.count())
	}
	return o.Data
}

// count is the number of elements.
func (o *Operand) count() int {
	n := 1
	for _, d := range o.Dims {
		n *= int(d)
	}
	return n
}

// bytes are the elements in memory.
func (o *Operand) bytes() []byte { return numbers.Encode(o.numbers(), types[o.Type].dtype) }

// size is the number of bytes of the elements.
func (o *Operand) size() int { return o.count() * types[o.Type].dtype.Bits() / 8 }

// empty tells whether the operand is a tensor without elements. The API has no way to give one to a model.
func (o *Operand) empty() bool { return slices.Contains(o.Dims, 0) }

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
		if o.empty() || nothing && c.Out[0].Type != "B8" || constant && len(o.Data) > 1 && !constantByMeaning[c.Op] {
			return false
		}
		for k := range c.In {
			if in := &c.In[k]; slices.Equal(in.Dims, o.Dims) && !in.None && in.Model == "" && sameNumbers(in.numbers(),
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
			b.WriteString(c.Models[o.Model].signature())
		case o.None:
			b.WriteString("-")
		case types[o.Type].scalar:
			fmt.Fprint(&b, o.Data)
		case o.Const && o.Type == "I32" && len(o.Data) > 0 && len(o.Data) <= 8 && o.Scale == 0:
			fmt.Fprint(&b, "c", o.Data)
		case o.Const:
			b.WriteString("c")
		}
		b.WriteString(o.kind())
		if i > 0 && slices.Equal(o.Dims, c.In[0].Dims) {
			b.WriteString("=")
		}
	}
	for i := range c.Out {
		fmt.Fprintf(&b, " >%s/%d%s", c.Out[i].Type, len(c.Out[i].Dims), c.Out[i].kind())
	}
	return b.String()
}

func (g *Graph) signature() string {
	var ops []string
	for _, o := range g.Operations {
		ops = append(ops, o.Op)
	}
	return fmt.Sprint(ops, len(g.In), len(g.Out))
}

// kind says how an operand is quantized, and whether its dimensions are open.
func (o *Operand) kind() string {
	s := ""
	if o.Open {
		s = "?"
	}
	switch {
	case o.Zero != 0:
		s += "z"
	case o.Scale != 0:
		s += "s"
	case o.Scales != nil:
		s += "p"
	}
	return s
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
