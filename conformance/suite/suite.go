package suite

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
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
	// Stated is what the suite adds to the statements about its API, in their notation; nil: nothing.
	Stated func() (string, error)
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
	Long    bool     // only runs when Options.Long asks for it: the case takes more than a second

	// How reports sort the case.
	Part   string // of what is judged: "rules", "operators", "networks", "formats"; "": the suite's name
	Object string // of the API, or the operator; "": the ID up to its first slash
	Type   string // of the elements, "" where it is of no interest

	Rule string // what the library is held to, as a sentence; "": the suite's Short
	Own  string // why other libraries than this project's are not held to it, "": they are
}

// Basis is why a case demands what it does.
type Basis struct {
	Rule   string `json:"rule,omitempty"`   // what the library is held to, as a sentence
	Source string `json:"source,omitempty"` // of the rule
}

// basis is the case's in reports of the suite.
func (c *Item) basis(s *Suite, o *Options) Basis {
	b := Basis{Rule: cmp.Or(c.Rule, s.Short)}
	if o.Source != nil {
		b.Source = o.Source(s, c.ID)
	}
	return b
}

// Place is how reports sort a case.
type Place struct {
	Part   string `json:"part"`
	Object string `json:"object"`
	Type   string `json:"type,omitempty"`
}

// place is the case's place in reports of the suite.
func (c *Item) place(s *Suite) Place {
	object, _, _ := strings.Cut(c.ID, "/")
	return Place{cmp.Or(c.Part, s.Name), cmp.Or(c.Object, object), c.Type}
}

// Computer computes a case in a folder of its own. Its error is one of the suite, and ends the process.
type Computer func(id, dir string) (Result, error)

// Outcome is what a run of a suite gave.
type Outcome struct {
	Reports  []*Report // one for each mode that ran
	Filtered bool      // only some of the cases ran
	Own      bool      // the library is this project's own
}

// Passed tells whether the library has passed the cases of a report. One that is not the project's own may lack what
// some cases are about, but not what all are about.
func (o *Outcome) Passed(rep *Report) bool {
	passed := rep.Counts[Pass]
	if passed == 0 && len(rep.Results) > 0 && !o.Filtered {
		return false
	}
	if !o.Own {
		passed += rep.Counts[Skip]
	}
	return passed == len(rep.Results)
}

// Options say what of suites is run with which libraries.
type Options struct {
	Library     func(*API) string // the file of an API; nil: that of API.File
	JSON, JUnit string            // files for a suite's reports, "" for none; of several modes with -MODE
	Filter      string            // only cases whose ID contains this
	Mode        string            // only this mode
	Sample      int               // only each case of such a number; 0 and 1: all
	Share       int               // which of them, below Sample: those whose numbers leave it as remainder
	Placement   bool              // children tell which devices compute, see PlacementVariable
	Long        bool              // also cases that take long
	Workers     int               // children at a time
	Verbose     bool              // print every case

	Board      string // of libraries of others, "": that which cases expect by default
	Models     string // folder of converted models, with a folder for each API; "": libraries get ONNX, if they load it
	SaveModels string // folder to which the models of the cases are written; "": they are not

	Timeout  time.Duration               // bounds a case, and the loading of a library; 0: DefaultTimeout
	Hangs    int                         // in a row, or 4 times as many in all, after which a suite stops; 0: it does not
	Context  context.Context             // ends the run when it is done; nil: nothing does
	Progress *Progress                   // is told of each case; nil: nobody is
	Source   func(*Suite, string) string // where the rule of a case stands; nil: nobody knows

	// Child is the command that runs Serve of a suite with a library in a mode.
	Child func(s *Suite, library, mode string) *exec.Cmd
}

func (o *Options) library(a *API) string {
	if o.Library != nil {
		return o.Library(a)
	}
	return a.File(".")
}

// Locate is the path of a library file from anywhere: a name without a slash is that of a file in the current folder,
// if there is one, else the system's loader looks for it.
func Locate(library string) string {
	if !strings.Contains(library, "/") {
		if _, err := os.Stat(library); err != nil {
			return library
		}
	}
	path, err := filepath.Abs(library)
	if err != nil {
		return library
	}
	return path
}

func (o *Options) context() context.Context {
	if o.Context == nil {
		return context.Background()
	}
	return o.Context
}

// pool computes jobs as the options say.
func (o *Options) pool() *pool { return &pool{workers: o.Workers, timeout: o.Timeout, hangs: o.Hangs} }

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
// could not be judged, or not to the end; the reports are written all the same if cases were run.
func (s *Suite) Run(o Options, w io.Writer) (bool, error) {
	session := &session{options: o}
	if err := session.add(s); err != nil {
		return false, err
	}
	if err := session.check(); err != nil {
		return false, err
	}
	if err := session.survey(w); err != nil {
		return false, err
	}
	failure := session.run()
	r := session.runs[0]
	for _, rep := range r.outcome.Reports {
		suffix := ""
		if len(r.outcome.Reports) > 1 {
			suffix = "-" + rep.Mode
		}
		if err := save(o.JSON, suffix, rep.WriteJSON); err != nil {
			return false, err
		}
		if err := save(o.JUnit, suffix, rep.WriteJUnit); err != nil {
			return false, err
		}
	}
	if failure != nil {
		return false, failure
	}
	return r.print(w, &o), nil
}

// save writes a report to a file, with a suffix before its extension; an empty path writes nothing.
func save(path, suffix string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	ext := filepath.Ext(path)
	return Save(strings.TrimSuffix(path, ext)+suffix+ext, write)
}
