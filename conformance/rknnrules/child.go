package rknnrules

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"

	"github.com/anynpu/anynpu/conformance/ohnn"
)

// TargetVariable tells a library under test the board whose answers are expected.
const TargetVariable = "ANYNPU_RKNN_TARGET"

// Environ returns the environment of a child for cases of a setting.
func Environ(setting []string) []string {
	return append(append(os.Environ(), "ANYNPU_LOG=warn", "ANYNPU_LOG_FILE=/dev/null", "ANYNPU_MODEL_MAP=", TargetVariable+
		"="), setting...)
}

// Child is the program of the process that touches the library; see ohnn.Serve.
func Child(path string, in io.Reader, out io.Writer) error {
	runtime.LockOSThread() // a message belongs to the thread whose call failed
	l, err := open(path)
	if err != nil {
		return err
	}
	byID := map[string]*Case{}
	for _, c := range Cases() {
		byID[c.ID()] = c
	}
	return ohnn.Serve(path, "", in, out, func(id, dir string) (ohnn.Result, error) {
		c := byID[id]
		if c == nil {
			return ohnn.Result{}, fmt.Errorf("no case %q", id)
		}
		clear(l.called)
		l.lines.take()
		return ohnn.Judge(c.Run(l, dir), l.called), nil
	})
}

// Group is the cases of one setting.
type Group struct {
	Setting []string
	IDs     []string
}

// settings are what the case's process is started with.
func (c *Case) settings() []string {
	if c.Target == "" {
		return c.Setting
	}
	return append([]string{TargetVariable + "=" + c.Target}, c.Setting...)
}

// Groups sorts cases by what they need.
func Groups(cases []*Case) []*Group {
	var out []*Group
	for _, c := range cases {
		i := slices.IndexFunc(out, func(g *Group) bool { return slices.Equal(g.Setting, c.settings()) })
		if i < 0 {
			i = len(out)
			out = append(out, &Group{Setting: c.settings()})
		}
		out[i].IDs = append(out[i].IDs, c.ID())
	}
	return out
}

// Covered counts the rules with cases of both kinds that have all passed.
func Covered(rules []*Rule, results []ohnn.Result) int {
	passed := map[string]bool{}
	for _, r := range results {
		passed[r.ID] = r.Status == ohnn.Pass
	}
	n := 0
	for _, r := range rules {
		good := r.BothKinds()
		for _, c := range r.Cases {
			good = good && passed[c.ID()]
		}
		if good {
			n++
		}
	}
	return n
}

// Called are the functions that cases have called.
func Called(results []ohnn.Result) map[string]bool {
	out := map[string]bool{}
	for _, r := range results {
		for _, f := range r.Functions {
			out[f] = true
		}
	}
	return out
}
