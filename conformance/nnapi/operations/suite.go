package operations

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/conformance/nnapi"
	"github.com/anynpu/anynpu/conformance/nnapi/model"
	"github.com/anynpu/anynpu/conformance/suite"
)

// Suite is the operation cases of the API.
func Suite() *suite.Suite {
	return &suite.Suite{
		API:       nnapi.API,
		Name:      "operations",
		Short:     "Compute each operation in its types, forms and ways of execution, and compare the results",
		Environ:   []string{"ANYNPU_LOG=off"},
		Cases:     items,
		Open:      open,
		Summarize: summarize,
		List:      list,
		Stated:    stated,
	}
}

func items(string) ([]suite.Item, error) {
	cases, err := Cases()
	if err != nil {
		return nil, err
	}
	var out []suite.Item
	for _, c := range cases {
		out = append(out, suite.Item{ID: c.ID(), Type: c.element()})
	}
	for _, of := range byOperation(cases) {
		for _, v := range variations(of) {
			out = append(out, suite.Item{ID: v.ID(), Setting: v.setting()})
		}
		for _, a := range absences(of) {
			out = append(out, suite.Item{ID: a.ID(), Type: a.cases[0].element()})
		}
		for _, s := range scalarForms(of) {
			out = append(out, suite.Item{ID: s.ID(), Type: s.cases[0][0].element()})
			for _, x := range s.floods() {
				out = append(out, suite.Item{ID: x.ID(), Type: s.cases[0][0].element(), Long: x.c != nil})
			}
		}
		for _, x := range contradictions(of) {
			out = append(out, suite.Item{ID: x.ID(), Type: x.element()})
		}
	}
	return out, nil
}

// byOperation are the cases of each operation.
func byOperation(cases []*Case) (out [][]*Case) {
	for i, c := range cases {
		if i == 0 || cases[i-1].Op != c.Op {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], c)
	}
	return out
}

// element is the type of the first tensor.
func (c *Case) element() string {
	i := slices.IndexFunc(c.In, func(o model.Operand) bool { return !model.Types[o.Type].Scalar && o.Model == "" })
	if i < 0 {
		return ""
	}
	return c.In[i].Type
}

func open(l *suite.Library, _ string) suite.Computer {
	cases := finder{}
	return func(id, dir string) (suite.Result, error) {
		x, err := cases.find(id)
		if err != nil {
			return suite.Result{}, err
		}
		return suite.Judge(x.compute(l, dir)), nil
	}
}

func summarize(w io.Writer, o *suite.Outcome) bool {
	rep := o.Reports[0]
	line, err := summary(rep)
	if err != nil {
		fmt.Fprintln(w, err)
		return false
	}
	fmt.Fprintln(w, line)
	return o.Passed(rep)
}

// summary is one line: how many operations have every case passed, the fewest cases that count for an operation, how
// many cases failed, and how many of them are differences.
func summary(rep *suite.Report) (string, error) {
	f := finder{}
	var cases []*Case
	complete := map[string]bool{}
	refused, levels, contradicting, scalars, floods, left := 0, 0, 0, 0, 0, map[string]bool{}
	for _, x := range rep.Results {
		item, err := f.find(x.ID)
		if err != nil {
			return "", err
		}
		op, _, _ := strings.Cut(x.ID, "/")
		if _, seen := complete[op]; !seen || x.Status != suite.Pass {
			complete[op] = x.Status == suite.Pass || x.Status == suite.Skip
		}
		switch v := item.(type) {
		case *Case:
			cases = append(cases, v)
		case *Scalars:
			scalars++
		case *Flood:
			floods++
		case *Absence:
			for _, c := range v.cases {
				left[c.absent()] = left[c.absent()] || x.Status == suite.Pass
			}
		case *Contradiction:
			contradicting++
		case *Variation:
			if v.Level != 0 {
				levels++
			} else {
				refused++
			}
		}
	}
	good, fewest, counts := 0, -1, Counts(cases)
	for op, ok := range complete {
		if ok {
			good++
		}
		if n := counts[op]; fewest < 0 || n < fewest {
			fewest = n
		}
	}
	n := len(rep.Results)
	return fmt.Sprintf("nnapi operations: %d of %d, fewest cases %d, failed %d (of %d cases, %d of them refused, %d at "+
		"feature levels, %d of contradictions, %d of scalars, %d of many values; %d crashes, %d hangs)\nomitted: %d of %d",
		good, len(nnapi.Operations), max(fewest, 0), n-rep.Counts[suite.Pass]-rep.Counts[suite.Skip], n, refused, levels,
		contradicting, scalars, floods, rep.Counts[suite.Crash], rep.Counts[suite.Hang], whole(left), combinations()), nil
}

// whole counts what is true.
func whole(of map[string]bool) (n int) {
	for _, ok := range of {
		if ok {
			n++
		}
	}
	return n
}

// list prints each operation with the number of its cases and the types in which they judge it.
func list(w io.Writer) {
	cases, err := Cases()
	if err != nil {
		fmt.Fprintln(w, err)
		return
	}
	n, in := map[string]int{}, map[string][]string{}
	var ops []string
	for _, c := range cases {
		if n[c.Op] == 0 {
			ops = append(ops, c.Op)
		}
		n[c.Op]++
		if t := c.element(); c.Telling() && !slices.Contains(in[c.Op], t) {
			in[c.Op] = append(in[c.Op], t)
		}
	}
	for _, op := range ops {
		fmt.Fprintf(w, "%-28s %3d cases: %s\n", op, n[op], strings.Join(in[op], " "))
	}
}
