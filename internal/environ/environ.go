// Package environ lists the environment variables that the library and its tests obey. docs/environment.md explains
// them; a test holds the list to that page and to what the code reads.
package environ

import (
	"slices"
	"strings"
)

// Prefix is how the names of the project's own variables begin.
const Prefix = "ANYNPU_"

// Names are the variables that the library reads.
var Names = []string{
	"ANYNPU_LOG", "RKNN_LOG_LEVEL", "HB_DNN_LOG_LEVEL", "HB_DNN_PROFILER_LOG_PATH", "HB_DNN_DUMP_PATH",
	"ANYNPU_LOG_FILE", "ANYNPU_REPORT", "ANYNPU_DUMP", "ANYNPU_DUMP_TENSORS",
	"ANYNPU_DUMP_NAMES", "ANYNPU_DUMP_RUNS", "ANYNPU_DUMP_FORM", "ANYNPU_DUMP_FUSED", "ANYNPU_CHECK",
	"ANYNPU_FALLBACK", "ANYNPU_CPU", "ANYNPU_CPU_ISA", "ANYNPU_THREADS", "ANYNPU_MEMORY_LIMIT", "ANYNPU_MEM",
	"ANYNPU_OHNN_COMPAT", "ANYNPU_OHNN_DEVICES", "ANYNPU_OHNN_DIM_RANGE", "ANYNPU_MODEL_MAP", "ANYNPU_RKNN_TARGET",
	"ANYNPU_RKNN_QUANTIZE", "ANYNPU_RKNN_VERSION", "ANYNPU_DRIVERS", "ANYNPU_DRIVER_HBDNN", "ANYNPU_DRIVER_OHNN",
	"ANYNPU_DRIVER_RKNN", "ANYNPU_DRIVER_HBUCP", "ANYNPU_HBUCP",
	"ANYNPU_HBDNN", "ANYNPU_OHNN", "ANYNPU_RKNN", "ANYNPU_DRIVER_NNAPI", "ANYNPU_NNAPI", "ANYNPU_PROBE",
	"ANYNPU_ONNXRUNTIME",
	"ANYNPU_HBDNN_ABI", "ANYNPU_HBDNN_TARGET", "ANYNPU_HBDNN_BYTES", "ANYNPU_DEVICE", "ANYNPU_NNAPI_FEATURE_LEVEL",
	"ANYNPU_NNAPI_DEVICES", "ANYNPU_CACHE_TRUST", "ANYNPU_RUN_TIMEOUT",
}

// TestNames are those that tests and benchmarks read beside them.
var TestNames = []string{"ANYNPU_CTS_LIBRARY", "ANYNPU_RKNN_LIBRARY", "ANYNPU_HBDNN_LIBRARY", "ANYNPU_NNAPI_LIBRARY",
	"ANYNPU_RKNN_FLIPS", "ANYNPU_STRANGERS", "ANYNPU_ONNXRUNTIME_SITE", "ANYNPU_ONNXRUNTIME_TESTS"}

// A Setting is a variable with its value.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// An Unknown is a variable that nothing reads, though its name begins with Prefix.
type Unknown struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Nearest string `json:"nearest"` // the known name that is most like it
}

// Of splits an environment, NAME=VALUE each, into the variables that are in force and those that nothing reads. An
// empty variable counts as unset.
func Of(environment []string) (set []Setting, unknown []Unknown) {
	set, unknown = []Setting{}, []Unknown{}
	for _, line := range environment {
		name, value, _ := strings.Cut(line, "=")
		switch {
		case value == "":
		case slices.Contains(Names, name):
			set = append(set, Setting{name, value})
		case strings.HasPrefix(name, Prefix) && !slices.Contains(TestNames, name):
			unknown = append(unknown, Unknown{name, value, Nearest(name)})
		}
	}
	slices.SortFunc(set, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(unknown, func(a, b Unknown) int { return strings.Compare(a.Name, b.Name) })
	return set, unknown
}

// Nearest returns the known name that the fewest insertions, deletions and replacements of a character make of name.
func Nearest(name string) string { return NearestOf(name, slices.Concat(Names, TestNames)) }

// NearestOf is Nearest for names of another kind, at least one.
func NearestOf(name string, names []string) string {
	return slices.MinFunc(names, func(a, b string) int { return edits(name, a) - edits(name, b) })
}

// edits is Levenshtein's distance.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = min(diagonal, row[j], row[j+1]) + 1
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
