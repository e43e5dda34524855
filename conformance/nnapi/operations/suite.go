package operations

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/conformance/nnapi"
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
	}
}

func items(string) ([]suite.Item, error) {
	cases, err := Cases()
	if err != nil {
		return nil, err
	}
	out := make([]suite.Item, len(cases))
	for i, c := range cases {
		out[i] = suite.Item{ID: c.ID(), Type: c.element()}
	}
	return out, nil
}

// element is the type of the first tensor.
func (c *Case) element() string {
	i := slices.IndexFunc(c.In, func(o Operand) bool { return !types[o.Type].scalar && o.Model == "" })
	if i < 0 {
		return ""
	}
	return c.In[i].Type
}

func open(l *suite.Library, _ string) suite.Computer {
	cases := finder{}
	return func(id, dir string) (suite.Result, error) {
		c, err := cases.find(id)
		if err != nil {
			return suite.Result{}, err
		}
		return suite.Judge(c.compute(l, dir)), nil
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
	return rep.Counts[suite.Pass] == len(rep.Results)
}

// summary is one line: how many operations have every case passed, the fewest cases that count for an operation, and
// how many cases failed.
func summary(rep *suite.Report) (string, error) {
	f := finder{}
	cases := make([]*Case, len(rep.Results))
	whole := map[string]bool{}
	for i, x := range rep.Results {
		c, err := f.find(x.ID)
		if err != nil {
			return "", err
		}
		cases[i] = c
		if _, seen := whole[c.Op]; !seen || x.Status != suite.Pass {
			whole[c.Op] = x.Status == suite.Pass
		}
	}
	good, fewest, counts := 0, -1, Counts(cases)
	for op, ok := range whole {
		if ok {
			good++
		}
		if n := counts[op]; fewest < 0 || n < fewest {
			fewest = n
		}
	}
	return fmt.Sprintf("nnapi operations: %d of %d, fewest cases %d, failed %d (of %d cases, %d crashes, %d hangs)", good,
		len(nnapi.Operations), max(fewest, 0), len(cases)-rep.Counts[suite.Pass], len(cases), rep.Counts[suite.Crash],
		rep.Counts[suite.Hang]), nil
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
