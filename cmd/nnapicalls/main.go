// Calls writes an ONNX model as what a program of NNAPI says by calls: operands, operations, inputs and outputs. The
// format is that which bench/anynpu/calls.h reads.
//
//	calls MODEL.onnx OUT
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"github.com/anynpu/anynpu/backends/nnapi"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/mem"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: calls MODEL.onnx OUT")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "calls:", err)
		os.Exit(1)
	}
}

func run(from, to string) (err error) {
	w := mem.NewWeights()
	defer w.Release()
	m, err := onnx.ImportFile(from, onnx.Options{Weights: w})
	if err != nil {
		return err
	}
	g, err := integers(m.Graph)
	if err != nil {
		return err
	}
	described, err := nnapi.Describe(g, spec.Level8)
	if err != nil {
		return err
	}
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(f)
	err = write(b, described)
	if err == nil {
		err = b.Flush()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// magic is what the file begins with.
const magic = "ANNCALL1"

// write writes a model in the processor's byte order.
func write(w io.Writer, m *spec.Model) (err error) {
	put := func(v any) {
		if err == nil {
			err = binary.Write(w, binary.NativeEndian, v)
		}
	}
	list := func(v []uint32) {
		put(uint32(len(v)))
		put(v)
	}
	put([]byte(magic))
	put(uint32(len(m.Operands)))
	for i := range m.Operands {
		o := &m.Operands[i]
		put(int32(o.Type))
		list(o.Dims)
		put(o.Scale)
		put(o.ZeroPoint)
		if c := o.Channel; c != nil {
			put([]uint32{uint32(len(c.Scales)), c.Dim})
			put(c.Scales)
		} else {
			put(uint32(0))
		}
		put(uint32(o.Lifetime))
		put(uint64(len(o.Data)))
		put(o.Data)
	}
	put(uint32(len(m.Operations)))
	for _, o := range m.Operations {
		put(int32(o.Code))
		list(o.Inputs)
		list(o.Outputs)
	}
	list(m.Inputs)
	list(m.Outputs)
	return err
}
