package hbdnn

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensordump"
)

// dumpPath is the variable that asks for the inputs and outputs of each node of the models.
const dumpPath = "HB_DNN_DUMP_PATH"

// dumping is nil unless each run is written to a folder (section 9).
var dumping *dumper

func init() {
	if folder, ok := folderOf(dumpPath, boundary.Getenv("HB_DNN_DUMP_PATH")); ok {
		dumping = newDumper(folder)
	}
}

// dumper makes a folder of each run.
type dumper struct{ *tensordump.Dump }

func newDumper(folder string) *dumper {
	return &dumper{tensordump.New(folder, tensordump.Selection{}, func(path string, err error) {
		unwritten(dumpPath, path, err)
	})}
}

// dump holds the values of each run of a model that are written.
type dump struct {
	name  string
	nodes []dumpNode
	files []dumpFile // by output of the program
}

// dumpNode is an entry of nodes.json.
type dumpNode struct {
	Name     string      `json:"name"`
	Operator string      `json:"operator"`
	Inputs   []dumpValue `json:"inputs"`
	Outputs  []dumpValue `json:"outputs"`
}

// dumpValue is a value that a node reads or makes. Without a file it is a constant of the model, or is not given.
type dumpValue struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
}

// dumpFile is an entry of nodes.json.
type dumpFile struct {
	File  string  `json:"file"`
	Type  string  `json:"type"`
	Shape []int64 `json:"shape"`
}

// expose makes every input of a graph and every result of its nodes an output of the graph, behind its own, and says
// how they are written. Nodes are numbered as they are computed.
func (d *dumper) expose(g *graph.Graph, model string) (*dump, error) {
	if d == nil {
		return nil, nil
	}
	order, err := g.Order()
	if err != nil {
		return nil, err
	}
	files := map[graph.Value]string{}
	add := func(v graph.Value, prefix string) {
		if _, known := files[v]; known || v == graph.None {
			return
		}
		files[v] = fmt.Sprintf("%s_%s.bin", prefix, tensordump.FileName(g.Values[v].Name))
		if !slices.Contains(g.Out, v) {
			g.Out = append(g.Out, v)
		}
	}
	for i, v := range g.In {
		add(v, fmt.Sprintf("input%d", i))
	}
	for i, n := range order {
		for k, v := range g.Nodes[n].Out {
			add(v, fmt.Sprintf("node%04d_output%d", i, k))
		}
	}
	out := &dump{name: tensordump.FileName(model)}
	for _, v := range g.Out {
		out.files = append(out.files, dumpFile{File: files[v]}) // of a constant: none
	}
	values := func(list []graph.Value) []dumpValue {
		all := []dumpValue{}
		for _, v := range list {
			if v == graph.None {
				all = append(all, dumpValue{})
				continue
			}
			all = append(all, dumpValue{g.Values[v].Name, files[v]})
		}
		return all
	}
	for _, i := range order {
		n := &g.Nodes[i]
		out.nodes = append(out.nodes, dumpNode{n.Name, graph.NameOf(n.Op), values(n.In), values(n.Out)})
	}
	return out, nil
}

// write writes the results of a run. A file that cannot be written does not disturb the run: it is reported, and no
// further run is written.
func (d *dump) write(e device.Execution) {
	if d == nil {
		return
	}
	folder := dumping.Begin(d.name)
	if folder == "" {
		return
	}
	if err := d.writeTo(folder, e); err != nil {
		dumping.Fail(folder, err)
	}
}

func (d *dump) writeTo(folder string, e device.Execution) error {
	files := []dumpFile{}
	for i, f := range d.files {
		if f.File == "" {
			continue
		}
		t, err := e.OutputType(i)
		if err != nil {
			return err
		}
		data, err := e.OutputData(i)
		if err != nil {
			return err
		}
		f.Type = t.DType.String()
		f.Shape, _ = t.Shape.Ints()
		if err := tensordump.Create(filepath.Join(folder, f.File), data); err != nil && !os.IsExist(err) {
			return err // an output that is listed twice is written once
		}
		files = append(files, f)
	}
	text, err := json.MarshalIndent(map[string]any{"nodes": d.nodes, "tensors": files}, "", "  ")
	if err != nil {
		return err
	}
	return tensordump.Create(filepath.Join(folder, "nodes.json"), append(text, '\n'))
}
