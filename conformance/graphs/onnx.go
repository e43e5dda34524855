package graphs

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/core/graph"
)

// models has ONNX models of some of the graphs, whose constants have no elements: those are the graph's.
//
//go:embed models.zip
var models []byte

// modelFiles is the opened archive of models.
var modelFiles = sync.OnceValue(func() *zip.Reader {
	z, err := zip.NewReader(bytes.NewReader(models), int64(len(models)))
	if err != nil {
		panic(err) // it is embedded
	}
	return z
})

// Models are the names of the cases that are there as ONNX models.
func Models() []string {
	var names []string
	for _, f := range modelFiles().File {
		names = append(names, strings.TrimSuffix(f.Name, ".onnx"))
	}
	return names
}

// ONNX returns the case's graph as an ONNX model with fixed sizes, nil if there is none.
func (c *Case) ONNX() ([]byte, error) {
	f, err := modelFiles().Open(c.Name + ".onnx")
	if err != nil {
		return nil, nil //nolint:nilerr // only some of the graphs are there
	}
	defer f.Close()
	outline, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	constants := map[string][]byte{}
	for v, info := range c.Graph.Values {
		fact := c.Graph.Fact(graph.Value(v))
		if fact.Const == nil {
			continue
		}
		constants[info.Name] = fact.Const.Data
		if d, known := fact.Shape.Ints(); known && len(d) == 4 && len(fact.Const.Data) == int(4*d[0]*d[1]*d[2]*d[3]) {
			constants[info.Name+"_oihw"] = channelsFirst(fact.Const.Data, d)
		}
	}
	return replaced(outline, 7, func(g []byte) ([]byte, error) {
		return replaced(g, 5, func(t []byte) ([]byte, error) {
			name := ""
			if err := parts(t, func(n protowire.Number, value, _ []byte) error {
				if n == 8 {
					name = string(value)
				}
				return nil
			}); err != nil {
				return nil, err
			}
			data, ok := constants[name]
			if !ok {
				return nil, fmt.Errorf("%s: the graph has no constant %q", c.Name, name)
			}
			return protowire.AppendBytes(protowire.AppendTag(bytes.Clone(t), 9, protowire.BytesType), data), nil
		})
	})
}

// channelsFirst are the 4-byte elements of a filter OHWI as ONNX has them, OIHW.
func channelsFirst(b []byte, dims []int64) []byte {
	area, channels := int(dims[1]*dims[2]), int(dims[3])
	out := make([]byte, 0, len(b))
	for o := range int(dims[0]) {
		for i := range channels {
			for k := range area {
				at := ((o*area+k)*channels + i) * 4
				out = append(out, b[at:at+4]...)
			}
		}
	}
	return out
}

// parts calls f with each field of a message: the value of one that is bytes, and all of it.
func parts(b []byte, f func(n protowire.Number, value, whole []byte) error) error {
	for len(b) > 0 {
		n, kind, tag := protowire.ConsumeTag(b)
		if tag < 0 {
			return protowire.ParseError(tag)
		}
		size := protowire.ConsumeFieldValue(n, kind, b[tag:])
		if size < 0 {
			return protowire.ParseError(size)
		}
		var value []byte
		if kind == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(b[tag:])
		}
		if err := f(n, value, b[:tag+size]); err != nil {
			return err
		}
		b = b[tag+size:]
	}
	return nil
}

// replaced is a message in which f has changed the fields of a number.
func replaced(b []byte, number protowire.Number, f func([]byte) ([]byte, error)) ([]byte, error) {
	var out []byte
	err := parts(b, func(n protowire.Number, value, whole []byte) error {
		if n != number {
			out = append(out, whole...)
			return nil
		}
		changed, err := f(value)
		out = protowire.AppendBytes(protowire.AppendTag(out, n, protowire.BytesType), changed)
		return err
	})
	return out, err
}
