// Package graphs is the suite of random graphs: models of up to 30 nodes in the graph codec, with inputs and the
// outputs that an independent float64 evaluation gives. It knows no device: a runner gives it a function that computes
// a graph. gen/random_graphs.py says how they are made.
package graphs

import (
	"bytes"
	"embed"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math"

	"github.com/anynpu/anynpu/conformance/suite/numbers"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

//go:embed cases/*.graph
var files embed.FS

// The standard tolerance. A case with a wider one must say why.
const (
	StandardRel = 1e-5
	StandardAbs = 1e-6
)

const magic = "ANPUCAS2"

// Case is a graph with inputs and expected outputs.
type Case struct {
	Name     string
	Graph    *graph.Graph
	In, Want []tensor.Tensor
	Rel, Abs float64 // an element may differ by Abs + Rel x |expected|
	Why      string  // the argument for a tolerance wider than the standard one, else ""
}

// Cases returns all cases in the order of their names.
func Cases() ([]*Case, error) {
	names, err := fs.Glob(files, "cases/*.graph")
	if err != nil {
		return nil, err
	}
	cases := make([]*Case, len(names))
	for i, name := range names {
		b, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if cases[i], err = Decode(b); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return cases, nil
}

// Encode returns the file form of a case: magic, tolerance and its argument, graph codec, inputs and outputs
// (dimensions and float32 elements).
func (c *Case) Encode() ([]byte, error) {
	var g bytes.Buffer
	if err := graph.Encode(&g, c.Graph, graph.EncodeOptions{}); err != nil {
		return nil, err
	}
	b := []byte(magic)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(c.Rel))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(c.Abs))
	b = binary.AppendUvarint(b, uint64(len(c.Why)))
	b = append(b, c.Why...)
	b = binary.AppendUvarint(b, uint64(g.Len()))
	b = append(b, g.Bytes()...)
	for _, list := range [][]tensor.Tensor{c.In, c.Want} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, t := range list {
			b = binary.AppendUvarint(b, uint64(len(t.Dims)))
			for _, d := range t.Dims {
				b = binary.AppendUvarint(b, uint64(d))
			}
			b = append(b, t.Data...)
		}
	}
	return b, nil
}

// Decode reads what Encode wrote.
func Decode(b []byte) (*Case, error) {
	if len(b) < len(magic)+16 || string(b[:len(magic)]) != magic {
		return nil, fmt.Errorf("not a case file")
	}
	c := &Case{
		Rel: math.Float64frombits(binary.LittleEndian.Uint64(b[8:])),
		Abs: math.Float64frombits(binary.LittleEndian.Uint64(b[16:])),
	}
	r := &reader{b: b[24:]}
	c.Why = string(r.take(r.uint()))
	var err error
	if c.Graph, err = graph.Decode(r.take(r.uint()), graph.DecodeOptions{Const: clone}); err != nil {
		return nil, err
	}
	c.Name = c.Graph.Name
	c.In, c.Want = r.tensors(), r.tensors()
	if r.short {
		return nil, fmt.Errorf("the file is too short")
	}
	return c, nil
}

// clone copies a constant out of the file, where it may lie at any address.
func clone(_ tensor.Hash, data []byte, length int64) ([]byte, error) {
	if int64(len(data)) != length {
		return nil, fmt.Errorf("a constant is absent")
	}
	return append(make([]byte, 0, length), data...), nil
}

type reader struct {
	b     []byte
	short bool
}

func (r *reader) uint() int {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > math.MaxInt32 {
		r.short = true
		return 0
	}
	r.b = r.b[n:]
	return int(v)
}

func (r *reader) take(n int) []byte {
	if n > len(r.b) {
		r.short = true
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) tensors() []tensor.Tensor {
	list := make([]tensor.Tensor, min(r.uint(), 64))
	for i := range list {
		dims := make([]int64, min(r.uint(), 16))
		for k := range dims {
			dims[k] = int64(r.uint())
		}
		size, ok := tensor.T(tensor.Float32, dims...).ByteSize()
		if !ok || size > int64(len(r.b)) {
			r.short = true
			return nil
		}
		data := append(make([]byte, 0, size), r.take(int(size))...)
		list[i] = tensor.Tensor{DType: tensor.Float32, Dims: dims, Data: data}
	}
	return list
}

// Parts are the name of a case, its graph and the inputs.
func (c *Case) Parts() (name string, g *graph.Graph, in []tensor.Tensor) {
	return c.Name, c.Graph, c.In
}

// Compare judges computed outputs; nil means that all are within the tolerance.
func (c *Case) Compare(got []tensor.Tensor) error {
	if len(got) != len(c.Want) {
		return fmt.Errorf("want %d outputs, got %d", len(c.Want), len(got))
	}
	for i, w := range c.Want {
		if got[i].Type().String() != w.Type().String() {
			return fmt.Errorf("output %d: want %v, got %v", i, w.Type(), got[i].Type())
		}
		x, err := tensor.ReadFloat32s(got[i].Data, got[i].Count())
		if err != nil {
			return fmt.Errorf("output %d: %w", i, err)
		}
		y, err := tensor.ReadFloat32s(w.Data, w.Count())
		if err != nil {
			return fmt.Errorf("output %d: %w", i, err)
		}
		var apart numbers.Apart
		for k := range y {
			d := math.Abs(float64(x[k]) - float64(y[k]))
			apart.Add(float64(x[k]), float64(y[k]), !(d <= c.Abs+c.Rel*math.Abs(float64(y[k]))))
		}
		if apart.Wrong() >= 0 {
			return fmt.Errorf("output %d of %v: %v", i, w.Type(), &apart)
		}
	}
	return nil
}
