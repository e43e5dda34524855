package onnx

import (
	"io"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
)

// Names holds a model's names of its values, and their sizes.
type Names struct {
	In, Out []Port
	Inner   []string           // results of the main graph's nodes
	Nodes   []string           // what those are called
	Sizes   map[string][]int64 // of initializers and of values with a declared shape; -1: open
	// Biased has the sum, by the addend of an initializer: of results that nothing but this Add reads.
	Biased map[string]string
}

// ReadNames reads the names in the model of size bytes in r, passing over the data of constants. Errors are of kind
// fault.File or those of r.
func ReadNames(r io.ReaderAt, size int64) (*Names, error) {
	n := &Names{Sizes: map[string][]int64{}}
	s := &nameScan{m: &proto.Model{}, to: n, inits: map[string]bool{}, sums: sums{readers: map[string]int{}}}
	found := false
	err := proto.EachSpan(&pagedReader{r: r}, size, func(num protowire.Number, _, value proto.Span) error {
		if num != 7 || found {
			return nil
		}
		found = true
		return s.graph(io.NewSectionReader(r, value.Off, value.N), value.N)
	})
	if err == nil && !found {
		err = fault.New(fault.File, "model: no graph: not an ONNX model, or a truncated one")
	}
	if err != nil {
		return nil, err
	}
	n.In, n.Out = portsOf(s.in, s.inits), portsOf(s.out, nil)
	for _, v := range s.out {
		s.readers[v.Name]++
	}
	n.Biased = s.biased(s.inits)
	for _, v := range slices.Concat(s.values, s.out) {
		if !v.Ranked {
			continue
		}
		dims := make([]int64, len(v.Dims))
		for i, d := range v.Dims {
			if dims[i] = -1; d.Known {
				dims[i] = d.Value
			}
		}
		n.Sizes[v.Name] = dims
	}
	return n, nil
}

// nameScan reads names and counts them against the limits of a model.
type nameScan struct {
	m               *proto.Model
	to              *Names
	inits           map[string]bool
	in, out, values []*proto.ValueInfo
	sums
}

// sums describes the Adds of a graph.
type sums struct {
	readers map[string]int // of every value: inputs of nodes and outputs of the graph
	adds    [][3]string    // first input, second input and result of each Add
}

// node takes in a node.
func (s *sums) node(kind string, in, out []string) {
	for _, name := range in {
		s.readers[name]++
	}
	if kind == "Add" && len(in) == 2 && len(out) == 1 {
		s.adds = append(s.adds, [3]string{in[0], in[1], out[0]})
	}
}

// biased is Names.Biased.
func (s *sums) biased(inits map[string]bool) map[string]string {
	found := map[string]string{}
	for _, add := range s.adds {
		for i, name := range add[:2] {
			if inits[add[1-i]] && !inits[name] && s.readers[name] == 1 {
				found[name] = add[2]
			}
		}
	}
	return found
}

func (s *nameScan) graph(r io.ReaderAt, size int64) error {
	p := &pagedReader{r: r}
	return proto.EachSpan(p, size, func(num protowire.Number, _, value proto.Span) error {
		switch num {
		case 1:
			return s.node(p, value)
		case 5:
			return s.initializer(p, value)
		case 11, 12, 13:
			b, err := p.whole(value)
			if err != nil {
				return err
			}
			v, err := s.m.ParseValueInfo(proto.Field{Type: protowire.BytesType, Bytes: b})
			if err != nil {
				return err
			}
			list := map[protowire.Number]*[]*proto.ValueInfo{11: &s.in, 12: &s.out, 13: &s.values}[num]
			*list = append(*list, v)
		}
		return nil
	})
}

// node reads what a node and its results are called, and what it reads.
func (s *nameScan) node(p *pagedReader, at proto.Span) error {
	var in, out []string
	kind := ""
	err := p.within(at, func(num protowire.Number, value proto.Span) error {
		if num < 1 || num > 4 {
			return nil
		}
		if err := s.m.Count(); err != nil {
			return err
		}
		name, err := p.text(value)
		switch {
		case num == 4:
			kind = name
		case name == "":
		case num == 1:
			in = append(in, name)
		case num == 2:
			out = append(out, name)
		case num == 3:
			s.to.Nodes = append(s.to.Nodes, name)
		}
		return err
	})
	s.to.Inner = append(s.to.Inner, out...)
	s.sums.node(kind, in, out)
	return err
}

// initializer reads name and sizes of a constant.
func (s *nameScan) initializer(p *pagedReader, at proto.Span) error {
	if err := s.m.Count(); err != nil {
		return err
	}
	name, dims := "", []int64{}
	err := proto.EachSpan(offsetReader{p, at.Off}, at.N, func(num protowire.Number, whole, value proto.Span) (err error) {
		switch {
		case num == 8:
			name, err = p.text(proto.Span{Off: at.Off + value.Off, N: value.N})
		case num == 1 && whole.N <= 16*proto.MaxRank:
			var b []byte
			if b, err = p.whole(proto.Span{Off: at.Off + whole.Off, N: whole.N}); err == nil {
				err = proto.EachField("tensor", b, func(f proto.Field) (err error) {
					dims, err = f.AppendInts(dims, "tensor")
					return err
				})
			}
		}
		return err
	})
	if err == nil && len(dims) <= proto.MaxRank {
		s.inits[name], s.to.Sizes[name] = true, dims
	}
	return err
}

// pagedReader reads ahead, so that small parts one after the other cost few reads.
type pagedReader struct {
	r    io.ReaderAt
	off  int64
	page []byte
}

const pageBytes = 1 << 15

// ReadAt reads all of b, or what there is of it with io.EOF.
func (p *pagedReader) ReadAt(b []byte, off int64) (int, error) {
	if len(b) > pageBytes {
		return p.r.ReadAt(b, off)
	}
	if off < p.off || off+int64(len(b)) > p.off+int64(len(p.page)) {
		page := make([]byte, pageBytes)
		n, err := p.r.ReadAt(page, off)
		if err != nil && err != io.EOF {
			return 0, err
		}
		p.off, p.page = off, page[:n]
	}
	n := copy(b, p.page[off-p.off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// maxValueInfo bounds the bytes of the description of one value.
const maxValueInfo = 1 << 20

// whole reads a part.
func (p *pagedReader) whole(at proto.Span) ([]byte, error) {
	if at.N > maxValueInfo {
		return nil, fault.New(fault.File, "model: a name or shape of %d bytes, at most %d are read", at.N, maxValueInfo)
	}
	b := make([]byte, at.N)
	if n, err := p.ReadAt(b, at.Off); n < len(b) {
		return nil, fault.As(fault.File, err, "byte %d", at.Off)
	}
	return b, nil
}

func (p *pagedReader) text(at proto.Span) (string, error) {
	if at.N > proto.MaxName {
		return "", fault.New(fault.File, "model: a name of %d bytes, at most %d are read", at.N, proto.MaxName)
	}
	b, err := p.whole(at)
	return string(b), err
}

// within calls f for the fields of the message in a part.
func (p *pagedReader) within(at proto.Span, f func(num protowire.Number, value proto.Span) error) error {
	return proto.EachSpan(offsetReader{p, at.Off}, at.N, func(num protowire.Number, _, value proto.Span) error {
		return f(num, proto.Span{Off: at.Off + value.Off, N: value.N})
	})
}

// offsetReader reads from an offset on.
type offsetReader struct {
	r   io.ReaderAt
	off int64
}

func (o offsetReader) ReadAt(b []byte, off int64) (int, error) { return o.r.ReadAt(b, o.off+off) }
