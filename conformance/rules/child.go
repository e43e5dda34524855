package rules

import (
	"fmt"
	"io"

	"github.com/anynpu/anynpu/conformance/ohnn"
)

// Child is the program of the process that touches the library; see ohnn.Serve.
func Child(path string, mode Mode, in io.Reader, out io.Writer) error {
	l, err := open(path)
	if err != nil {
		return err
	}
	byID := map[string]*Case{}
	for _, c := range Cases() {
		byID[c.ID()] = c
	}
	var name uintptr
	device := ""
	if l.call("Device_GetName", 0, &name) == success && name != 0 {
		device = text(name)
	}
	return ohnn.Serve(path, device, in, out, func(id, dir string) (ohnn.Result, error) {
		c := byID[id]
		if c == nil {
			return ohnn.Result{}, fmt.Errorf("no case %q", id)
		}
		clear(l.called)
		return ohnn.Judge(c.Run(l, mode, dir), l.called), nil
	})
}

// Covered counts the rules with cases of both kinds that have all passed in all the modes they belong to, and the
// functions that were called in all modes.
func Covered(rules []*Rule, reports map[Mode]*ohnn.Report) (covered, functions int) {
	passed := map[Mode]map[string]bool{}
	called := map[string]int{}
	for mode, rep := range reports {
		passed[mode] = map[string]bool{}
		inThis := map[string]bool{}
		for _, r := range rep.Results {
			passed[mode][r.ID] = r.Status == ohnn.Pass
			for _, f := range r.Functions {
				inThis[f] = true
			}
		}
		for f := range inThis {
			called[f]++
		}
	}
	for _, r := range rules {
		good := r.BothKinds()
		for mode := range reports {
			for _, c := range r.Cases {
				good = good && (!c.appliesIn(mode) || passed[mode][c.ID()])
			}
		}
		if good {
			covered++
		}
	}
	for _, n := range called {
		if n == len(reports) {
			functions++
		}
	}
	return covered, functions
}
