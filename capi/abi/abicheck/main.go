// Command abicheck writes a C file that compiles only if the headers of an API have the sizes, offsets, values and
// prototypes that its spec, a list written from the API's documents, gives. The file is C11 and C++11.
package main

//go:generate go run . -spec ohnn.json -out ../../../ctest/abi/zohnn_abi.c
//go:generate go run . -spec hbdnn.json -out ../../../ctest/abi/zhbdnn_abi.c
//go:generate go run . -spec hbucp.json -out ../../../ctest/abi/zhbucp_abi.c
//go:generate go run . -spec nnapi.json -out ../../../ctest/abi/znnapi_abi.c
//go:generate go run . -spec rknn.json -out ../../../ctest/abi/zrknn_abi.c
//go:generate go run . -spec rknn_custom_op.json -out ../../../ctest/abi/zrknn_custom_op_abi.c
//go:generate go run . -spec rknn_matmul.json -out ../../../ctest/abi/zrknn_matmul_abi.c

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/anynpu/anynpu/capi/abi/abicheck/spec"
	"github.com/anynpu/anynpu/core/rewrite"
)

func main() {
	specPath := flag.String("spec", "", "spec to read")
	out := flag.String("out", "", "C file to write")
	flag.Parse()
	if err := run(*specPath, *out); err != nil {
		fmt.Fprintln(os.Stderr, "abicheck:", err)
		os.Exit(1)
	}
}

func run(specPath, out string) error {
	s, err := spec.Read(specPath)
	if err != nil {
		return err
	}
	return rewrite.File(out, generate(s, filepath.Base(specPath)))
}
