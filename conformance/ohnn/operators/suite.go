package operators

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/ohnn/model"
	"github.com/anynpu/anynpu/conformance/suite"
)

// Suite is the operator cases of the API. In the mode "reference" only those run that Build refuses in the mode
// "manual": there it succeeds, and the runs are refused.
func Suite() *suite.Suite {
	return &suite.Suite{
		API:       ohnn.API,
		Name:      "operators",
		Short:     "Compute one model per case, an operator in an element type, and compare the results",
		Modes:     ohnn.Modes,
		Environ:   []string{"ANYNPU_LOG=off"},
		Cases:     items,
		Open:      open,
		Summarize: summarize,
		List:      list,
	}
}

// in returns the case as a mode has it, nil if the mode leaves it out.
func (c *Case) in(mode string) *Case {
	if mode == ohnn.Reference {
		return c.InReference()
	}
	return c
}

func items(mode string) ([]suite.Item, error) {
	cases, err := Cases()
	if err != nil {
		return nil, err
	}
	var out []suite.Item
	types := map[string]string{} // of judged cases, by ID; what differs from one, counts as its type
	for _, c := range cases {
		if c.Of == "" {
			types[c.ID()] = c.kind().String()
		}
		if c.in(mode) != nil {
			out = append(out, suite.Item{ID: c.ID(), Type: types[c.Op+"/"+cmp.Or(c.Of, c.Name)]})
		}
	}
	return out, nil
}

func open(l *suite.Library, mode string) suite.Computer {
	cases := finder{}
	return func(id, _ string) (suite.Result, error) {
		c, err := cases.find(id)
		if err != nil {
			return suite.Result{}, err
		}
		if c = c.in(mode); c == nil {
			return suite.Result{}, fmt.Errorf("%s is no case of the mode %s", id, mode)
		}
		refusal, rounding, err := c.compute(l)
		r := suite.Judge(err)
		r.Refusal, r.Rounding = refusal, rounding
		if errors.Is(err, model.ErrUnavailable) {
			r.Status = suite.Skip
		}
		return r, nil
	}
}

// summarize prints a line per mode. A library other than the project's own may lack operations.
func summarize(w io.Writer, o *suite.Outcome) bool {
	good := true
	for _, rep := range o.Reports {
		line, err := summary(rep)
		if err != nil {
			fmt.Fprintln(w, err)
			return false
		}
		fmt.Fprintln(w, line)
		if line = roundings(rep); line != "" {
			fmt.Fprintln(w, line)
		}
		good = good && o.Passed(rep)
	}
	return good
}

// summary is one line: how many operators have every case passed, the fewest cases that count for an operator, and how
// many cases failed.
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
	return fmt.Sprintf("ohnn operators: %d of %d, fewest cases %d, failed %d (of %d cases, %d crashes, %d hangs, %d "+
		"skipped; version %s, device %s)", good, len(ohnn.Operators), max(fewest, 0),
		len(cases)-rep.Counts[suite.Pass]-rep.Counts[suite.Skip], len(cases), rep.Counts[suite.Crash], rep.Counts[suite.Hang],
		rep.Counts[suite.Skip], rep.Version, rep.Device), nil
}

// list prints each operator with the element types in which cases judge it.
func list(w io.Writer) {
	cases, err := Cases()
	if err != nil {
		fmt.Fprintln(w, err)
		return
	}
	for _, s := range Judged(cases) {
		var kinds []string
		for _, k := range Kinds() {
			if s.Static[k] || s.Dynamic[k] {
				kinds = append(kinds, k.String())
			}
		}
		fmt.Fprintf(w, "%-24s %s\n", s.Op, strings.Join(kinds, ", "))
	}
}
