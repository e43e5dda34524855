// Package layout tests how the packages may depend on each other.
package layout

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/anynpu/anynpu/"

// mayImport lists, for each top folder, the folders of this module that its packages may import. Tests may import any:
// they check a layer with what stands on it.
var mayImport = map[string][]string{
	"core":     {"core"},
	"backends": {"core", "backends"},
	"capi":     {"core", "backends", "capi"},
}

// mayImportDevices is the only folder under capi whose packages import devices: façades find them in the registry.
const mayImportDevices = "capi/devices/"

// mayImportWithin lists, for packages that are one part of the library, which of the others they may import, so that
// each can be read without those that are not listed. Tests may import any.
var mayImportWithin = map[string][]string{
	"core/format/onnx":        {"core/format/onnx/expand", "core/format/onnx/lower", "core/format/onnx/proto"},
	"core/format/onnx/expand": {"core/format/onnx/proto"},
	"core/format/onnx/lower":  {"core/format/onnx/proto"},
	"core/format/onnx/proto":  {},
}

// judges are the suites that judge a library by its C API, and what they have in common: what they rest on must not be
// what is judged, so that no chain of imports leads from them to what judged lists. Tests of theirs may import any.
var (
	judges = []string{"conformance/suite", "conformance/ohnn", "conformance/rknn", "conformance/hbdnn",
		"conformance/hbucp",
		"conformance/nnapi"}
	judged = []string{"capi", "backends"}
)

// mayServe lists who may import the server, and HTTP for it: programs of their own, not what is linked into the
// library.
var (
	server   = "internal/serve"
	mayServe = []string{"cmd/anynpu", "internal/serve", "scripts"}
	noHTTP   = []string{"core", "capi"}
)

// noGRPC is the module that the product does not import: the messages and the calls are the project's own
// (internal/serve/RATIONALE.md). The benchmarks compare with it.
const noGRPC = "google.golang.org/grpc"

// mayUseUnsafe lists where unsafe is allowed: where C memory or kernels are, and in conformance, whose runners call a
// library file as a C program does. Tests may use it anywhere.
var mayUseUnsafe = []string{"capi/", "backends/", "core/mem/", "core/record/", "conformance/"}

type imported struct{ file, path string }

// imports returns every import of the Go files below root, test data and build output left out.
func imports(t *testing.T, root string) []imported {
	var out []imported
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (name == "build" || name == "testdata" || strings.HasPrefix(name, ".") ||
				strings.HasPrefix(name, "_")) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			out = append(out, imported{filepath.ToSlash(rel), p})
		}
		return nil
	})
	require.NoError(t, err)
	return out
}

// faults returns what is wrong with one import, "" if it is allowed.
func faults(i imported) string {
	top, _, _ := strings.Cut(i.file, "/")
	if target, ours := strings.CutPrefix(i.path, module); ours {
		targetTop, _, _ := strings.Cut(target, "/")
		allowed, layered := mayImport[top]
		within, part := mayImportWithin[path.Dir(i.file)]
		_, inPart := mayImportWithin[target]
		switch {
		case strings.HasSuffix(i.file, "_test.go"):
		case part && inPart && !slices.Contains(within, target):
			return path.Dir(i.file) + " must not import " + target
		case layered && !slices.Contains(allowed, targetTop):
			return top + " must not import " + targetTop
		case below(target, []string{server}) && !below(path.Dir(i.file), mayServe):
			return path.Dir(i.file) + " must not import the server"
		case top == "capi" && targetTop == "backends" && !strings.HasPrefix(i.file, mayImportDevices):
			return "capi must not import " + targetTop + " outside " + mayImportDevices
		}
		return ""
	}
	switch {
	case i.path == "C" && top != "capi":
		return "cgo is used under capi only"
	case below(i.path, []string{noGRPC}) && top != "bench": // a module of its own, which compares with it
		return "the module " + noGRPC + " is not used"
	case i.path == "net/http" && slices.Contains(noHTTP, top) && !strings.HasSuffix(i.file, "_test.go"):
		return top + " must not import net/http"
	case i.path == "unsafe" && !strings.HasSuffix(i.file, "_test.go"):
		for _, prefix := range mayUseUnsafe {
			if strings.HasPrefix(i.file, prefix) {
				return ""
			}
		}
		return "unsafe is not allowed here"
	}
	return ""
}

func TestImports_goOneWay(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	_, err = os.Stat(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	all := imports(t, root)
	require.Greater(t, len(all), 50, "the tree was not found")
	for _, i := range all {
		assert.Empty(t, faults(i), "%s imports %s", i.file, i.path)
	}
}

func TestImports_whatIsWrongIsSaid(t *testing.T) {
	for _, wrong := range []imported{
		{"backends/cpu/device.go", module + "internal/serve/queue"}, {"internal/session/session.go", module + "internal/serve"},
		{"core/model/load.go", "net/http"}, {"cmd/anynpu/serve.go", "google.golang.org/grpc/codes"},
	} {
		assert.NotEmpty(t, faults(wrong), "%s imports %s", wrong.file, wrong.path)
	}
	for _, right := range []imported{
		{"cmd/anynpu/serve.go", module + "internal/serve"}, {"internal/serve/server.go", module + "internal/serve/models"},
		{"internal/serve/server.go", "net/http"}, {"core/model/load_test.go", "net/http"},
	} {
		assert.Empty(t, faults(right), "%s imports %s", right.file, right.path)
	}
}

// below tells whether a folder is one of those listed or below it.
func below(folder string, of []string) bool {
	return slices.ContainsFunc(of, func(f string) bool { return folder == f || strings.HasPrefix(folder, f+"/") })
}

// dependence returns a chain of imports from a suite that judges a library to what it judges, "" if there is none.
func dependence(all []imported) string {
	next := map[string][]string{} // folder to the folders of this module that it imports
	for _, i := range all {
		if target, ours := strings.CutPrefix(i.path, module); ours && !strings.HasSuffix(i.file, "_test.go") {
			from := path.Dir(i.file)
			next[from] = append(next[from], target)
		}
	}
	seen := map[string]bool{}
	var follow func(folder string) string
	follow = func(folder string) string {
		switch {
		case below(folder, judged):
			return folder
		case seen[folder]:
			return ""
		}
		seen[folder] = true
		for _, n := range next[folder] {
			if chain := follow(n); chain != "" {
				return folder + " imports " + chain
			}
		}
		return ""
	}
	for folder := range next {
		if below(folder, judges) {
			if chain := follow(folder); chain != "" {
				return chain
			}
		}
	}
	return ""
}

func TestSuites_dependOnNothingThatTheyJudge(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	all := imports(t, root)
	for _, j := range judges {
		in := func(i imported) bool { return below(path.Dir(i.file), []string{j}) }
		assert.True(t, slices.ContainsFunc(all, in), "no %s", j)
	}
	assert.Empty(t, dependence(all))
	for _, wrong := range []imported{
		{"conformance/rknn/rules/cores.go", module + "backends/cpu"},
		{"conformance/suite/api.go", module + "capi/abi"},
		{"internal/built/built.go", module + "capi/ohnn"}, // conformance/suite imports it
	} {
		assert.NotEmpty(t, dependence(append(slices.Clone(all), wrong)), "%s imports %s", wrong.file, wrong.path)
	}
	test := imported{"conformance/suite/api_test.go", module + "capi/abi"}
	assert.Empty(t, dependence(append(slices.Clone(all), test)))
}

func TestFaults_areFound(t *testing.T) {
	for _, i := range []imported{
		{"core/op/add.go", module + "backends/cpu"},
		{"core/op/add.go", module + "capi/ohnn"},
		{"backends/cpu/cpu.go", module + "capi/handle"},
		{"capi/rknn/convert.go", module + "backends/cpu/kernel"},
		{"capi/main.go", module + "backends/cpu"},
		{"core/format/onnx/lower/control.go", module + "core/format/onnx/expand"},
		{"core/format/onnx/expand/site.go", module + "core/format/onnx/lower"},
		{"core/format/onnx/proto/order.go", module + "core/format/onnx/lower"},
		{"core/exec/run.go", "C"},
		{"backends/rknn/driver.go", "C"},
		{"core/op/add.go", "unsafe"},
	} {
		assert.NotEmpty(t, faults(i), "%s imports %s", i.file, i.path)
	}
	assert.Empty(t, faults(imported{"capi/ohnn/model.go", module + "core/graph"}))
	assert.Empty(t, faults(imported{"capi/devices/devices.go", module + "backends/cpu"}))
	assert.Empty(t, faults(imported{"capi/ohnn/model_test.go", module + "backends/cpu"}))
	assert.Empty(t, faults(imported{"core/mem/memfd.go", "unsafe"}))
}
