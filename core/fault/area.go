package fault

import (
	"runtime"
	"strings"
)

// module begins the path of every package of the library.
const module = "github.com/anynpu/anynpu/"

// areas name the packages whose messages have ids by their kind: "onnx-lower-unsupported". A package that is not listed
// has the area of the folder above it.
var areas = map[string]string{
	"core":                    "core",
	"core/cache":              "cache",
	"core/compile":            "compile",
	"core/device":             "device",
	"core/exec":               "run",
	"core/format/metadata":    "metadata",
	"core/format/onnx":        "onnx",
	"core/format/onnx/expand": "onnx-expand",
	"core/format/onnx/export": "onnx-export",
	"core/format/onnx/lower":  "onnx-lower",
	"core/format/onnx/proto":  "onnx-proto",
	"core/format/rknn":        "rknn-file",
	"core/graph":              "graph",
	"core/matrix":             "matrix",
	"core/mem":                "memory",
	"core/model":              "model",
	"core/op":                 "op",
	"core/spec/nnapi":         "nnapi-model",
	"backends/cpu":            "cpu",
	"backends/cpu/ref":        "ref",
	"backends/dl":             "driver",
	"backends/driver":         "driver",
	"backends/hbdnn":          "driver-hbdnn",
	"backends/hbucp":          "driver-hbucp",
	"backends/nnapi":          "driver-nnapi",
	"backends/ohnn":           "driver-ohnn",
	"backends/onnxruntime":    "onnxruntime",
	"backends/remote":         "remote",
	"backends/rknn":           "driver-rknn",
}

// Area returns the area of a package, which its path in the repository names: "core/op". It is "core" for one that no
// area has.
func Area(path string) string {
	for path != "" {
		if area := areas[path]; area != "" {
			return area
		}
		at := max(strings.LastIndexByte(path, '/'), 0)
		path = path[:at]
	}
	return areas["core"]
}

// caller returns where the function that calls New or As does so.
func caller() uintptr {
	var at [1]uintptr
	runtime.Callers(3, at[:])
	return at[0]
}

// area returns the area of the package that an address of code belongs to, "core" for address 0.
func area(at uintptr) string {
	if at == 0 {
		return areas["core"]
	}
	frame, _ := runtime.CallersFrames([]uintptr{at}).Next()
	return Area(packageOf(frame.Function))
}

// packageOf returns the path in the repository of a function's package: "core/op" of MODULE/core/op.(*Conv).Infer. The
// path is "" for a function of another module.
func packageOf(function string) string {
	path, ours := strings.CutPrefix(function, module)
	if !ours {
		return ""
	}
	last := strings.LastIndexByte(path, '/') + 1
	if end := strings.IndexByte(path[last:], '.'); end >= 0 {
		return path[:last+end]
	}
	return path
}
