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

// ModeVariable is the environment variable that tells a library which description to follow.
const ModeVariable = "ANYNPU_OHNN_COMPAT"

// Child is the program of the process that touches the library: it reads case IDs from in, one a line, computes each and writes its
// ohnn.Result as a line of JSON to out. The first line it writes is the name of the default device.
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
	if err := enc.Encode((&T{library: l}).deviceName(0)); err != nil {
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

// Environ returns the environment of a child that holds a library to a mode.
func Environ(mode Mode) []string {
	value := ""
	if mode == Reference {
		value = "reference"
	}
	return append(ohnn.Environ(), ModeVariable+"="+value)
}

// Covered counts the rules of which every case has passed in all reports, and the functions that were called.
func Covered(rules []*Rule, reports ...*ohnn.Report) (covered, functions int) {
	bad, called := map[string]bool{}, map[string]bool{}
	for _, rep := range reports {
		for _, r := range rep.Results {
			if r.Status != ohnn.Pass {
				bad[r.ID] = true
			}
			for _, f := range r.Functions {
				called[f] = true
			}
		}
	}
	for _, r := range rules {
		if !slices.ContainsFunc(r.Cases, func(c *Case) bool { return bad[c.ID()] }) {
			covered++
		}
	}
	return covered, len(called)
}
