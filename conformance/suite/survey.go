package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/anynpu/anynpu/conformance/suite/models"
)

// Variables that tell a child where models are, and whether it is to save them there.
const (
	modelsVariable = "CONFORMANCE_MODELS"
	saveVariable   = "CONFORMANCE_SAVE_MODELS"
)

// probe is the task in which a child tells whether its library loads ONNX.
const probe = "?loads"

// exchanged is what becomes of models in this child.
func exchanged() exchange {
	return exchange{dir: os.Getenv(modelsVariable), record: os.Getenv(saveVariable) != ""}
}

// probing answers the task probe.
func (l *Library) probing(compute func(Task) (Result, error)) func(Task) (Result, error) {
	return func(t Task) (Result, error) {
		if t.ID != probe {
			return compute(t)
		}
		if l.API.Models.Loads(l) {
			return Result{Status: Pass}, nil
		}
		return Result{Status: Fail}, nil
	}
}

// Free are the cases that need no model, by the lines of Models.Free.
type Free map[string]bool

// Free returns the cases that need no model.
func (m *Models) free() Free {
	f := Free{}
	for line := range strings.Lines(m.Free) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			f[line] = true
		}
	}
	return f
}

// Has tells whether a case of a suite needs no model.
func (f Free) Has(suite, id string) bool {
	key := suite + " " + id
	for !f[key] {
		i := strings.LastIndexByte(strings.TrimSuffix(key, "/*"), '/')
		if i < 0 {
			return false
		}
		key = key[:i] + "/*"
	}
	return true
}

// survey finds out what models each library gets, tells its children, and prints what will be judged.
func (n *session) survey(w io.Writer) error {
	o := &n.options
	for i, r := range n.runs {
		a := r.suite.API
		first := slices.IndexFunc(n.runs, func(x *suiteRun) bool { return x.suite.API == a })
		if a.Models == nil || first != i {
			continue
		}
		switch {
		case o.SaveModels != "":
			dir := filepath.Join(o.SaveModels, a.Name)
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return err
			}
			n.tell(a, modelsVariable+"="+dir, saveVariable+"=1")
		case o.Models != "" || !r.outcome.Own:
			if o.Board != "" && a.Board != "" {
				n.tell(a, a.Board+"="+o.Board)
			}
			if err := n.choose(r, w); err != nil {
				return err
			}
		}
	}
	return nil
}

// tell gives variables to all children of an API.
func (n *session) tell(a *API, variables ...string) {
	seen := map[*kind]bool{}
	for i, q := range n.cases {
		if k := n.jobs[i].kind; q.suite.API == a && !seen[k] {
			seen[k] = true
			k.environ = append(slices.Clip(k.environ), variables...)
		}
	}
}

// choose decides what models the library of a run's API gets, and prints it.
func (n *session) choose(r *suiteRun, w io.Writer) error {
	a, o := r.suite.API, &n.options
	loads, dir := r.outcome.Own || n.loads(a), ""
	var sheets map[string][]*models.Sheet
	if o.Models != "" {
		dir = filepath.Join(o.Models, a.Name)
		if path, err := filepath.Abs(dir); err == nil {
			dir = path
		}
		var err error
		if sheets, err = readSheets(dir); err != nil {
			return err
		}
		n.tell(a, modelsVariable+"="+dir)
	} else if !loads {
		n.tell(a, modelsVariable+"="+NoModels)
	}
	var all, own, free, have, lack, never int
	table := a.Models.free()
	for _, q := range n.cases {
		if q.suite.API != a {
			continue
		}
		all++
		switch {
		case q.own != "":
			own++
		case table.Has(q.suite.Name, q.id):
			free++
		case sheets != nil:
			switch needs(sheets[q.suite.Name+" "+q.id], dir) {
			case converted:
				have++
			case impossible:
				never++
			default:
				lack++
			}
		}
	}
	fmt.Fprintf(w, "%s: ", a.Name)
	switch {
	case loads && dir == "":
		fmt.Fprintf(w, "this library loads ONNX models: %d of %d cases are judged", all-own, all)
	case loads:
		fmt.Fprintf(w, "this library gets the models in %s: %d of %d cases need none", dir, free, all)
	default:
		fmt.Fprintf(w, "this library loads no ONNX model: %d of %d cases need none", free, all)
	}
	if dir != "" {
		fmt.Fprintf(w, ", %d have converted models, %d lack one, %d have models that no converter makes", have, lack, never)
	}
	fmt.Fprintf(w, "; %d are AnyNPU's own or another board's\n", own)
	return nil
}

// loads tries a small ONNX model with the library of an API. One that dies or hangs then is judged with ONNX: its cases
// show what is wrong with it.
func (n *session) loads(a *API) bool {
	i := slices.IndexFunc(n.cases, func(q queued) bool { return q.suite.API == a })
	if i < 0 {
		return false
	}
	k := n.jobs[i].kind
	one := &kind{file: &file{path: k.file.path}, environ: k.environ, command: func() *exec.Cmd { return k.command() }}
	p := n.options.pool()
	p.workers = 1
	ctx, cancel := context.WithTimeout(n.options.context(), 2*max(p.limit(""), time.Second))
	defer cancel()
	done, err := p.run(ctx, []job{{kind: one, task: Task{ID: probe}}})
	return err != nil || done[0].Status != Fail
}

// What a case that needs models has of them.
const (
	unconverted = iota // some are not converted
	converted          // all are
	impossible         // one that no converter makes
)

// readSheets reads the sheets of a folder, by case.
func readSheets(dir string) (map[string][]*models.Sheet, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	out := map[string][]*models.Sheet{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		s := &models.Sheet{}
		if err := json.Unmarshal(data, s); err != nil || s.Schema != models.Schema {
			return nil, fmt.Errorf("%s is no sheet of a model: want schema %q, got %q", path, models.Schema, s.Schema)
		}
		for _, c := range s.Cases {
			out[c] = append(out[c], s)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no sheets of models: conformance models writes them", dir)
	}
	return out, nil
}

// needs tells what a case has of the models that it hands over, whose sheets these are.
func needs(sheets []*models.Sheet, dir string) int {
	best := converted
	for _, s := range sheets {
		switch {
		case s.Reason != "":
			return impossible
		case !slices.ContainsFunc(s.Want, func(name string) bool {
			_, err := os.Stat(filepath.Join(dir, name))
			return err == nil
		}):
			best = unconverted
		}
	}
	if len(sheets) == 0 {
		return unconverted
	}
	return best
}

// misplaced are the cases for which the list of those that need no model is wrong, as far as this project's library
// has shown.
func (r *suiteRun) misplaced(whole bool) (out []string) {
	m := r.suite.API.Models
	if m == nil || !r.outcome.Own {
		return nil
	}
	table, needs, order := m.free(), map[string]bool{}, []string(nil)
	for _, rep := range r.outcome.Reports {
		for _, x := range rep.Results {
			if x.Status == Pass || x.NeedsModel {
				if _, seen := needs[x.ID]; !seen {
					order = append(order, x.ID)
				}
				needs[x.ID] = needs[x.ID] || x.NeedsModel
			}
		}
	}
	for _, id := range order {
		free := table.Has(r.suite.Name, id)
		if free && needs[id] || whole && !free && !needs[id] {
			out = append(out, id)
		}
	}
	return out
}
