package rknn

import (
	"strings"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/model"
)

// Contexts of matrix products are the driver's, if it has them: nothing tells which of the two should compute.
func init() {
	matrices := func(function string) bool { return strings.HasPrefix(function, "rknn_matmul_") }
	boundary.Choose("rknn", func(function string) bool {
		return matrices(function) && boundary.DriverHas("rknn", function)
	}, func(function string) bool {
		return !matrices(function) || boundary.DriverHas("rknn", "rknn_matmul_create")
	})
}

// forDriver says whether a driver loads the model: there is one, and the model is not one that this library alone can
// read, an ONNX file or a pack list. The driver judges a file of an unknown kind, or one that cannot be opened.
func forDriver(data []byte, path string, flags uint32, extend *InitExtend) bool {
	if !boundary.HasDriver("rknn") {
		return false
	}
	if flags&flagShareWeight != 0 && handle.Ours(extend.context) {
		return false
	}
	format := model.Recognize(data[:min(len(data), 1<<16)])
	if path != "" {
		f, err := (model.Source{Path: path}).Open()
		if err != nil {
			return true
		}
		format = f.Format
		f.Close()
	}
	return format != model.ONNX && format != model.JSON
}
