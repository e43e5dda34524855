// Calls writes an ONNX model as the calls of an NNAPI program: operands, operations, inputs and outputs. The format is
// that which bench/anynpu/calls.h and capi/probe/load.c read.
//
//	calls MODEL.onnx OUT
package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/internal/nnapicalls"
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
	described, err := nnapicalls.Describe(m.Graph)
	if err != nil {
		return err
	}
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(f)
	err = nnapicalls.Write(b, described)
	if err == nil {
		err = b.Flush()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
