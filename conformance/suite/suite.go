package suite

import (
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Suite is a set of cases by which a library is judged.
type Suite struct {
	API     *API
	Name    string   // with the API's, the sub-command: "rules", "operators"
	Short   string   // in help texts
	Modes   []Mode   // each runs cases of its own; none: one mode without a name
	Environ []string // NAME=VALUE of every child

	// Cases lists the cases of a mode, in the order of the report.
	Cases func(mode string) ([]Item, error)
	// Open prepares the computation of cases in the process of a child.
	Open func(l *Library, mode string) Computer
	// Summarize prints the last lines of a run and tells whether the library passed.
	Summarize func(w io.Writer, o *Outcome) bool
	// List prints what the suite judges and what it cannot.
	List func(w io.Writer)
}

// Mode is one of several descriptions of an API, which a library follows as its environment says.
type Mode struct {
	Name    string
	Environ []string // NAME=VALUE of its children
}

// Item is a case as the parent of the children knows it.
type Item struct {
	ID      string
	Setting []string // NAME=VALUE that its process needs; cases with the same share processes
}

// Computer computes a case in a folder of its own. Its error is one of the suite, and ends the process.
type Computer func(id, dir string) (Result, error)

// Outcome is what a run of a suite gave.
type Outcome struct {
	Reports  []*Report // one for each mode that ran
	Filtered bool      // only some of the cases ran
	Own      bool      // the library is this project's own
}

// Options say what of a suite is run with which library.
type Options struct {
	Library     string
	JSON, JUnit string // files for the reports, "" for none; those of several modes have -MODE before the extension
	Filter      string // only cases whose ID contains this
	Mode        string // only this mode
	Workers     int    // children at a time
	Verbose     bool   // print every case

	// Child is the command that runs Serve with a library in a mode.
	Child func(library, mode string) *exec.Cmd
}

func orOne(modes []Mode) []Mode {
	if len(modes) == 0 {
		return []Mode{{}}
	}
	return modes
}

// modes are those that run.
func (s *Suite) modes(only string) ([]Mode, error) {
	if only == "" {
		return orOne(s.Modes), nil
	}
	i := slices.IndexFunc(s.Modes, func(m Mode) bool { return m.Name == only })
	if i < 0 {
		return nil, fmt.Errorf("%s %s: no mode %q", s.API.Name, s.Name, only)
	}
	return s.Modes[i : i+1], nil
}

// Run runs the cases, prints what came of them and tells whether the library passed. An error says that the library
// could not be judged.
func (s *Suite) Run(o Options, w io.Writer) (bool, error) {
	modes, err := s.modes(o.Mode)
	if err != nil {
		return false, err
	}
	out := &Outcome{Filtered: o.Filter != "", Own: o.Library == s.API.OwnFile(".")}
	for _, m := range modes {
		rep, err := s.report(m, o)
		if err != nil {
			return false, err
		}
		where, suffix := "", ""
		if len(modes) > 1 {
			where, suffix = " ("+m.Name+")", "-"+m.Name
		}
		for _, x := range rep.Results {
			if o.Verbose || x.Status != Pass {
				fmt.Fprintf(w, "%-5s %s%s %s\n", x.Status, x.ID, where, x.Message+x.Refusal)
			}
		}
		if err := save(o.JSON, suffix, rep.WriteJSON); err != nil {
			return false, err
		}
		if err := save(o.JUnit, suffix, rep.WriteJUnit); err != nil {
			return false, err
		}
		out.Reports = append(out.Reports, rep)
	}
	return s.Summarize(w, out), nil
}

// report runs the cases of a mode, those of each setting in processes of their own.
func (s *Suite) report(m Mode, o Options) (*Report, error) {
	items, err := s.Cases(m.Name)
	if err != nil {
		return nil, err
	}
	out := &Report{Schema: schema, API: s.API.Name, Suite: s.Name, Mode: m.Name, Library: o.Library,
		Counts: map[Status]int{}}
	for _, g := range groups(items, o.Filter) {
		r := &Runner{Library: o.Library, Workers: o.Workers, Command: func() *exec.Cmd {
			c := o.Child(o.Library, m.Name)
			c.Env = slices.Concat(c.Environ(), s.Environ, m.Environ, g.setting)
			return c
		}}
		results, greeting, err := r.Run(g.ids)
		if err != nil {
			return nil, err
		}
		out.add(results, greeting)
	}
	return out, nil
}

// group is the cases of one setting.
type group struct {
	setting []string
	ids     []string
}

// groups sorts the cases whose ID contains filter by their setting.
func groups(items []Item, filter string) []*group {
	var out []*group
	for _, c := range items {
		if !strings.Contains(c.ID, filter) {
			continue
		}
		i := slices.IndexFunc(out, func(g *group) bool { return slices.Equal(g.setting, c.Setting) })
		if i < 0 {
			i = len(out)
			out = append(out, &group{setting: c.Setting})
		}
		out[i].ids = append(out[i].ids, c.ID)
	}
	return out
}

// save writes a report to a file, with a suffix before its extension; an empty path writes nothing.
func save(path, suffix string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	ext := filepath.Ext(path)
	return writeFile(strings.TrimSuffix(path, ext)+suffix+ext, write)
}
