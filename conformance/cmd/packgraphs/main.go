// Command packgraphs turns the JSON lines of random_graphs.py into the case files of package graphs.
//
//	packgraphs FOLDER < graphs.jsonl
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/anynpu/anynpu/conformance/graphs"
	"github.com/anynpu/anynpu/core/graph"
	_ "github.com/anynpu/anynpu/core/op" // registers the operators
	"github.com/anynpu/anynpu/core/tensor"
)

type line struct {
	Name   string
	Values []struct {
		Name, Type string
		Dims       []int64
		Data       []float64
	}
	Nodes []struct {
		Op      string
		Fields  json.RawMessage
		In, Out []graph.Value
	}
	Inputs, Outputs []graph.Value
	Feeds, Expect   []struct {
		Dims []int64
		Data []float64
	}
	Rel, Abs float64
	Why      string
}

var dtypes = map[string]tensor.DType{"float32": tensor.Float32, "int64": tensor.Int64, "int32": tensor.Int32,
	"bool": tensor.Bool}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: packgraphs FOLDER < graphs.jsonl")
		os.Exit(2)
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	total, n := 0, 0
	for in.Scan() {
		var l line
		err := json.Unmarshal(in.Bytes(), &l)
		var c *graphs.Case
		if err == nil {
			c, err = l.convert()
		}
		var b []byte
		if err == nil {
			b, err = c.Encode()
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(os.Args[1], l.Name+".graph"), b, 0o644)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", l.Name, err)
			os.Exit(1)
		}
		total += len(b)
		n++
	}
	if err := in.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%d graphs, %d bytes\n", n, total)
}

func (l *line) convert() (*graphs.Case, error) {
	g := &graph.Graph{Name: l.Name, In: l.Inputs, Out: l.Outputs}
	for _, v := range l.Values {
		info := graph.ValueInfo{Name: v.Name}
		if v.Dims == nil {
			g.Values = append(g.Values, info)
			continue
		}
		dims := make([]tensor.Dim, len(v.Dims))
		for i, d := range v.Dims {
			dims[i] = tensor.D(d)
			if d < 0 {
				dims[i] = tensor.Dim{Sym: uint32(-d)}
			}
		}
		d := dtypes[v.Type]
		info.Fact = tensor.Fact{Type: tensor.Type{DType: d, Shape: tensor.OfDims(dims...)}}
		if v.Data != nil {
			info.Fact.Const = tensor.NewConst(encode(d, v.Data))
		}
		g.Values = append(g.Values, info)
	}
	for i, n := range l.Nodes {
		op, ok := graph.NewOp(n.Op)
		if !ok {
			return nil, fmt.Errorf("node %d: no operator %q", i, n.Op)
		}
		if err := json.Unmarshal(n.Fields, op); err != nil {
			return nil, fmt.Errorf("node %d: %w", i, err)
		}
		g.Nodes = append(g.Nodes, graph.Node{Op: op, Origin: i, In: n.In, Out: n.Out})
	}
	if err := g.Validate(); err != nil {
		return nil, err
	}
	if err := g.Infer(); err != nil {
		return nil, err
	}
	c := &graphs.Case{Name: l.Name, Graph: g, Rel: l.Rel, Abs: l.Abs, Why: l.Why}
	for _, t := range l.Feeds {
		c.In = append(c.In, tensor.Tensor{DType: tensor.Float32, Dims: t.Dims, Data: encode(tensor.Float32, t.Data)})
	}
	for _, t := range l.Expect {
		c.Want = append(c.Want, tensor.Tensor{DType: tensor.Float32, Dims: t.Dims, Data: encode(tensor.Float32, t.Data)})
	}
	return c, nil
}

func encode(d tensor.DType, v []float64) []byte {
	var b []byte
	for _, x := range v {
		switch d {
		case tensor.Float32:
			b = append(b, tensor.Float32s(float32(x))...)
		case tensor.Int32:
			b = append(b, tensor.Int32s(int32(x))...)
		case tensor.Int64:
			b = append(b, tensor.Int64s(int64(x))...)
		default:
			b = append(b, byte(x))
		}
	}
	return b
}
