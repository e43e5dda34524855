package networks

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/ohnn/model"
	"github.com/anynpu/anynpu/conformance/suite"
)

// Suite is the networks of the API.
func Suite() *suite.Suite {
	return &suite.Suite{
		API:       ohnn.API,
		Name:      "networks",
		Short:     "Compute models of several operations, each in several forms, and compare the results",
		Environ:   []string{"ANYNPU_LOG=off", ohnn.ModeVariable + "="},
		Cases:     items,
		Open:      open,
		Summarize: summarize,
		List:      printList,
	}
}

func items(string) ([]suite.Item, error) {
	all, err := cases()
	if err != nil {
		return nil, err
	}
	var out []suite.Item
	for _, name := range all.names {
		for _, v := range all.byName[name].variants() {
			out = append(out, suite.Item{ID: name + "/" + v, Object: family(name)})
		}
	}
	return out, nil
}

// family is what reports call a network and those of its kind.
func family(name string) string {
	if kind, _, written := strings.Cut(name, "/"); written {
		return kind
	}
	return "random graphs"
}

func open(l *suite.Library, _ string) suite.Computer {
	return func(id, _ string) (suite.Result, error) {
		all, err := cases()
		if err != nil {
			return suite.Result{}, err
		}
		c, variant, err := all.find(id)
		if err != nil {
			return suite.Result{}, err
		}
		m, err := c.variant(variant)
		if err != nil {
			return suite.Result{}, err
		}
		err = compute(l, m)
		r := suite.Judge(err)
		if errors.Is(err, model.ErrUnavailable) {
			r.Status = suite.Skip
		}
		return r, nil
	}
}

// summarize prints one line. A library other than the project's own may lack operations.
func summarize(w io.Writer, o *suite.Outcome) bool {
	good := true
	for _, rep := range o.Reports {
		n := rep.Counts
		passed := n[suite.Pass]
		fmt.Fprintf(w, "ohnn networks: %d of %d, failed %d (%d crashes, %d hangs, %d skipped; version %s, device %s)\n",
			passed, len(rep.Results), len(rep.Results)-passed-n[suite.Skip], n[suite.Crash], n[suite.Hang], n[suite.Skip],
			rep.Version, rep.Device)
		good = good && o.Passed(rep)
	}
	return good
}

// printList prints each case with the number of its operations.
func printList(w io.Writer) {
	all, err := cases()
	if err != nil {
		fmt.Fprintln(w, err)
		return
	}
	for _, name := range all.names {
		fmt.Fprintf(w, "%-32s %d operations\n", name, len(all.byName[name].Operations))
	}
}
