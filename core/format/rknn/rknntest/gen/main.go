// Command gen writes the .rknn file of the C tests: one for examples/digits/digits.onnx, with the scales that
// capi/rknn/testdata/quantized has.
//
// usage: gen FILE
package main

import (
	"fmt"
	"os"

	"github.com/anynpu/anynpu/core/format/rknn"
	"github.com/anynpu/anynpu/core/format/rknn/rknntest"
	"github.com/anynpu/anynpu/core/rewrite"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gen FILE")
		os.Exit(2)
	}
	if err := rewrite.File(os.Args[1], rknntest.Write(digits())); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func digits() *rknn.File {
	code := func(name string, kind rknn.Kind, scale float32, zero int64, dims, native []int64) rknn.Tensor {
		return rknn.Tensor{Name: name, Type: "int8", Kind: kind, Dims: dims, Shape: native, Scale: []float32{scale},
			Zero: []int64{zero}}
	}
	image, ten := []int64{1, 1, 8, 8}, []int64{1, 10}
	return &rknn.File{Version: rknntest.Main, Targets: []string{"rk3566"}, Compiler: "2.3.2", Framework: "ONNX",
		Custom:     "ten digits",
		Inputs:     []rknn.Port{{Name: "image", Type: "int8", Layout: "nhwc", Dims: image}},
		Outputs:    []rknn.Port{{Name: "probabilities", Type: "int8", Dims: ten}},
		Preprocess: map[string]rknn.Preprocess{"image": {Mean: []float64{0}, Std: []float64{16}}},
		Graphs: []rknn.Graph{{Inputs: []int{0}, Outputs: []int{4}, Tensors: []rknn.Tensor{
			code("image", rknn.Input, 0.0625, -128, image, []int64{1, 8, 8, 1}),
			code("relu1", rknn.Intermediate, 0.230283648, -128, nil, nil),
			code("relu2", rknn.Intermediate, 0.299844384, -128, nil, nil),
			code("logits", rknn.Intermediate, 1.95143688, 58, ten, ten),
			code("probabilities", rknn.Output, 1.0/255, -128, ten, ten),
		}}}}
}
