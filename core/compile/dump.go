package compile

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/export"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensordump"
)

// Dumps writes what is compiled into a folder: NUMBER-NAME.onnx for each graph and, when several devices share it,
// NUMBER-NAME.partK-DEVICE.onnx for each part. Numbers are the next that no file of the folder has. The metadata of the
// whole graph have the placement as describedMeta. A file that cannot be written is reported once and has no other
// effect.
type Dumps struct {
	folder string
	tell   func(text string)
	once   sync.Once
	mu     sync.Mutex
	next   int
	list   func(folder string) ([]os.DirEntry, error) // os.ReadDir
}

// NewDumps returns dumps into folder; tell gets the reason why files are missing, once.
func NewDumps(folder string, tell func(text string)) *Dumps {
	return &Dumps{folder: folder, tell: tell, next: 1, list: os.ReadDir}
}

// Dump, unless nil, gets every graph that is compiled. Set before the first compilation.
var Dump *Dumps

// Graph writes a graph that is computed without a compilation.
func (d *Dumps) Graph(g *graph.Graph) {
	d.guarded(func() error { return d.graph(g, nil) })
}

// dump writes a placed graph and its parts.
func (d *Dumps) dump(pl *placed, parts [][]int, devices []device.Device) {
	d.guarded(func() error {
		g := pl.graph
		report := *pl.report
		report.Nodes, report.Parts, report.Edges = append([]device.NodePlacement(nil), report.Nodes...), nil, edges(g)
		var more []dumped
		for k, nodes := range parts {
			id := devices[pl.owner[nodes[0]]].Info().ID
			for _, i := range nodes {
				report.Nodes[i].Part = k
			}
			report.Parts = append(report.Parts, device.PartPlacement{Device: id, Nodes: len(nodes)})
			if len(parts) > 1 {
				sub, _, _ := g.Extract(nodes)
				more = append(more, dumped{fmt.Sprintf(".part%d-%s", k, id), sub})
			}
		}
		return d.graph(g, map[string]string{describedMeta: string(report.JSON())}, more...)
	})
}

// guarded keeps what goes wrong from the compilation.
func (d *Dumps) guarded(f func() error) {
	defer func() {
		if v := recover(); v != nil {
			d.failed(fault.New(fault.Internal, "panic: %v", v))
		}
	}()
	if err := f(); err != nil {
		d.failed(err)
	}
}

func (d *Dumps) failed(err error) {
	d.once.Do(func() {
		d.tell(fmt.Sprintf("ANYNPU_DUMP=%s: graphs are not written: %v [compile-dump-not-written]", d.folder, err))
	})
}

// dumped is a part of a graph, with the ending of its file's name after the graph's.
type dumped struct {
	suffix string
	graph  *graph.Graph
}

func (d *Dumps) graph(g *graph.Graph, meta map[string]string, parts ...dumped) error {
	path, err := d.reserve(cmp.Or(fileName(g.Name), "graph"))
	if err != nil {
		return err
	}
	if err := write(g, path+".onnx", meta); err != nil {
		os.Remove(path + ".onnx")
		return err
	}
	for _, p := range parts {
		if err := write(p.graph, path+fileName(p.suffix)+".onnx", nil); err != nil {
			return err
		}
	}
	return nil
}

// write writes a graph. Nodes that ONNX cannot express become nodes of the domain anynpu, which no runtime computes.
func write(g *graph.Graph, path string, meta map[string]string) error {
	m, err := export.Of(g, export.Options{Metadata: meta, Foreign: true})
	if err != nil {
		return err
	}
	return m.WriteFile(path)
}

// reserve makes the file of the next number and returns its path without the ending.
func (d *Dumps) reserve(name string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	taken := map[string]bool{}
	entries, err := d.list(d.folder)
	if err != nil { // perhaps a folder that can be written only
		entries = nil
	}
	for _, e := range entries {
		if number, _, ok := strings.Cut(e.Name(), "-"); ok {
			taken[number] = true
		}
	}
	for ; ; d.next++ {
		number := fmt.Sprintf("%04d", d.next)
		if taken[number] {
			continue
		}
		path := filepath.Join(d.folder, number+"-"+name)
		f, err := os.OpenFile(path+".onnx", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if os.IsExist(err) {
			continue
		}
		if err != nil {
			return "", fault.New(fault.File, "%v", err)
		}
		d.next++
		return path, f.Close()
	}
}

// fileName is a text as part of a file's name.
func fileName(text string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, text)
	return clean[:min(len(clean), 64)]
}

// Tensors, unless nil, gets what goes in and out of the nodes of every program that is compiled, run by run. Such a
// program computes its values one by one, as each is a result of it that its ports do not show; with Selection.Fused
// those that it has anyhow are. Set before the first compilation.
var Tensors *tensordump.Dump

// label gives names to the values of g that nodes make and that have none.
func label(g *graph.Graph) {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		for k, v := range n.Out {
			if v != graph.None && g.Values[v].Name == "" {
				g.Values[v].Name = fmt.Sprintf("%s.%d", cmp.Or(n.Name, fmt.Sprintf("node%d", i)), k)
			}
		}
	}
}

// expose makes every value of g that is wanted, and is one of only unless that is nil, an output of g, behind its own.
func expose(g *graph.Graph, only map[string]bool) (*exec.Exposed, error) {
	order, err := g.Order()
	if err != nil {
		return nil, err
	}
	s := &exec.Exposed{Dump: Tensors, Model: cmp.Or(g.Name, "graph"), Visible: len(g.Out),
		In: make([]tensordump.Value, len(g.In))}
	for i, v := range g.In {
		if name := cmp.Or(g.Values[v].Name, fmt.Sprintf("input%d", i)); Tensors.Wants(name) {
			s.In[i].Name = name
		}
	}
	g.Out = slices.Clone(g.Out)
	s.Out = make([]tensordump.Value, len(g.Out))
	for _, i := range order {
		n := &g.Nodes[i]
		for _, v := range n.Out {
			if v == graph.None {
				continue
			}
			name := g.Values[v].Name
			if !Tensors.Wants(name) || only != nil && !only[name] {
				continue
			}
			value := tensordump.Value{Name: name, Node: n.Name, Operator: graph.NameOf(n.Op)}
			if at := slices.Index(g.Out, v); at >= 0 {
				s.Out[at] = value
				continue
			}
			g.Out, s.Out = append(g.Out, v), append(s.Out, value)
		}
	}
	return s, nil
}
