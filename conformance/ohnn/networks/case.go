// Package networks is the suite of models of several operations of the OH_NN C API: what fusion, layouts, memory that
// is used again and values that several operations read make of them. It knows no backend. Written cases come from
// gen/networks.py; the committed random graphs of conformance/graphs are translated into operations of the API.
package networks

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/anynpu/anynpu/conformance/graphs"
	"github.com/anynpu/anynpu/conformance/ohnn/model"
	"github.com/anynpu/anynpu/conformance/suite/numbers"
)

//go:embed cases/*.json
var files embed.FS

// Case is a model with its name.
type Case struct {
	Name string
	Why  string // the argument for a tolerance wider than the usual one
	model.Model
}

// written is a case as gen/networks.py writes it.
type written struct {
	Name       string
	Why        string
	From       string
	Tensors    []model.Tensor
	Operations []struct {
		model.Operation
		Set [][3]json.RawMessage // parameters: name without OH_NN_, element type, value (a number: of rank 0)
	}
	Inputs, Outputs []uint32
	model.Tolerance
}

// load returns the case, in which parameters are tensors.
func (w *written) load() (*Case, error) {
	c := &Case{Name: w.Name, Why: w.Why, Model: model.Model{Tensors: w.Tensors, Inputs: w.Inputs, Outputs: w.Outputs,
		Tolerance: w.Tolerance}}
	for _, o := range w.Operations {
		for _, s := range o.Set {
			var t model.Tensor
			err := json.Unmarshal(s[0], &t.Param)
			if err == nil {
				err = json.Unmarshal(s[1], &t.Type)
			}
			if err == nil && s[2][0] == '[' {
				err = json.Unmarshal(s[2], &t.Data)
				t.Dims = []int32{int32(len(t.Data))}
			} else if err == nil {
				t.Data = make([]numbers.Number, 1)
				err = json.Unmarshal(s[2], &t.Data[0])
			}
			if err != nil {
				return nil, fmt.Errorf("%s: parameter %s: %w", w.Name, s[0], err)
			}
			o.Params = append(o.Params, uint32(len(c.Tensors)))
			c.Tensors = append(c.Tensors, t)
		}
		c.Operations = append(c.Operations, o.Operation)
	}
	return c, nil
}

// cases returns all cases by their names, and the names in order.
var cases = sync.OnceValues(func() (all list, err error) {
	names, err := fs.Glob(files, "cases/*.json")
	if err != nil {
		return all, err
	}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return all, err
		}
		var some []*written
		if err := json.Unmarshal(text, &some); err != nil {
			return all, fmt.Errorf("%s: %w", name, err)
		}
		for _, w := range some {
			c, err := w.load()
			if err != nil {
				return all, err
			}
			all.add(c)
		}
	}
	random, err := graphs.Cases()
	if err != nil {
		return all, err
	}
	for _, g := range random {
		c, err := translate(g)
		if err != nil {
			return all, fmt.Errorf("%s: %w", g.Name, err)
		}
		all.add(c)
	}
	return all, nil
})

// list is cases in order.
type list struct {
	names  []string
	byName map[string]*Case
}

func (l *list) add(c *Case) {
	if l.byName == nil {
		l.byName = map[string]*Case{}
	}
	l.names = append(l.names, c.Name)
	l.byName[c.Name] = c
}

// find returns the case and the variant of an ID.
func (l *list) find(id string) (*Case, string, error) {
	i := strings.LastIndexByte(id, '/')
	if i < 0 || l.byName[id[:i]] == nil {
		return nil, "", fmt.Errorf("no case %q", id)
	}
	return l.byName[id[:i]], id[i+1:], nil
}
