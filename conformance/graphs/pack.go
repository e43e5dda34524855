package graphs

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/anynpu/anynpu/core/graph"
	_ "github.com/anynpu/anynpu/core/op" // registers the operators
	"github.com/anynpu/anynpu/core/tensor"
)

// line is a line of gen/random_graphs.py.
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

// Pack turns the JSON lines of gen/random_graphs.py into files of cases in a folder, and returns how many there are and
// how many bytes they have.
func Pack(lines io.Reader, folder string) (count, size int, err error) {
	in := bufio.NewScanner(lines)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		var l line
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			return count, size, err
		}
		n, err := l.write(folder)
		if err != nil {
			return count, size, fmt.Errorf("%s: %w", l.Name, err)
		}
		count, size = count+1, size+n
	}
	return count, size, in.Err()
}

func (l *line) write(folder string) (int, error) {
	c, err := l.convert()
	if err != nil {
		return 0, err
	}
	b, err := c.Encode()
	if err != nil {
		return 0, err
	}
	return len(b), os.WriteFile(filepath.Join(folder, l.Name+".graph"), b, 0o644)
}

func (l *line) convert() (*Case, error) {
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
	c := &Case{Name: l.Name, Graph: g, Rel: l.Rel, Abs: l.Abs, Why: l.Why}
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
