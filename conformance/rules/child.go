package rules

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/anynpu/anynpu/conformance/ohnn"
)

// Child is the program of the process that touches the library: it reads case IDs from in, one a line, computes each and writes its
// ohnn.Result as a line of JSON to out. The first line it writes is its ohnn.Greeting.
func Child(path string, mode Mode, in io.Reader, out io.Writer) error {
	l, err := open(path)
	if err != nil {
		return err
	}
	byID := map[string]*Case{}
	for _, c := range Cases() {
		byID[c.ID()] = c
	}
	scratch, err := os.MkdirTemp("", "anynpu-rules-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	enc := json.NewEncoder(out)
	var name uintptr
	device := ""
	if l.call("Device_GetName", 0, &name) == success && name != 0 {
		device = text(name)
	}
	greeting, err := ohnn.Greet(path, device)
	if err != nil {
		return err
	}
	if err := enc.Encode(greeting); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for n := 0; lines.Scan(); n++ {
		c := byID[lines.Text()]
		if c == nil {
			return fmt.Errorf("no case %q", lines.Text())
		}
		dir := fmt.Sprintf("%s/%d", scratch, n)
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		clear(l.called)
		start := time.Now()
		r := ohnn.Result{ID: c.ID(), Status: ohnn.Pass}
		if err := c.Run(l, mode, dir); err != nil {
			r.Status, r.Message = ohnn.Fail, err.Error()
		}
		r.Time = time.Since(start)
		for f := range l.called {
			r.Functions = append(r.Functions, f)
		}
		slices.Sort(r.Functions)
		if err := enc.Encode(r); err != nil {
			return err
		}
	}
	return lines.Err()
}

// Covered counts the rules with cases of both kinds that have all passed in all the modes they belong to, and the functions that were
// called in all modes.
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
