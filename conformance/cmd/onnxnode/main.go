// Command onnxnode runs the backend node tests of the ONNX project on the built-in device.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/conformance/onnxnode"
)

func main() {
	known := flag.String("known", "", "`file` with the failures that are known: name, then the reason")
	filter := flag.String("run", "", "only tests whose names contain this")
	least := flag.Float64("least", 97, "smallest share that must pass, in percent")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: onnxnode [flags] FOLDER\n\nFOLDER is onnx/backend/test/data/node of an installed "+
			"onnx.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	ok, err := run(flag.Arg(0), *known, *filter, *least)
	if err != nil {
		fmt.Fprintln(os.Stderr, "onnxnode:", err)
		os.Exit(3)
	}
	if !ok {
		os.Exit(1)
	}
}

func run(root, known, filter string, least float64) (bool, error) {
	reasons, err := onnxnode.ReadKnown(known)
	if err != nil {
		return false, err
	}
	d, err := cpu.New(cpu.Config{})
	if err != nil {
		return false, err
	}
	results, err := onnxnode.Run(context.Background(), root, filter, d)
	if err != nil {
		return false, err
	}
	r := onnxnode.Judge(results, reasons, filter == "")
	for _, line := range r.Lines {
		fmt.Println(line)
	}
	fmt.Println(r)
	return r.Share() >= least && r.Unexpected == 0, nil
}
