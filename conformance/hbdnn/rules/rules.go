// Package rules checks a library against the rules of Horizon's hbDNN and hbSys C API: which calls succeed, which are
// refused with which code, in which order arguments are judged, what properties say, how tasks follow one another, and
// how long objects live. It knows no implementation; it calls a library file through the C ABI, in child processes, so
// that a crash or a hang is a result.
//
// A rule is one statement and has a number, SECTION.LETTERS, by the sections of docs/abi/hbdnn.md: 2 prototypes
// and conversions, 3 loading and queries, 4 tasks, 5 memory, 6 tensors and images, 7 quantization, 8 regions, 11
// choices where boards are silent.
package rules

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/conformance/hbdnn"
	"github.com/anynpu/anynpu/conformance/suite"
)

// Rule is one statement about the API; its ID is SECTION.LETTERS_topic.
type Rule = suite.Rule[*T]

// T is what a case runs with. Its methods make the objects of the API.
type T struct{ *hbdnn.T }

func newT(t *suite.T) *T { return &T{&hbdnn.T{T: t}} }

func rule(id, text string) *Rule { return suite.NewRule[*T](id, text) }

// Rules returns all rules in the order of their sections.
func Rules() []*Rule {
	return slices.Concat(versions, conversions(), loading, queries, tasks, groups, callbacks, memory, tensors, images,
		yuv, quantization, outputs, batches, regions, handles(), pointers(), indices(), orders())
}

// Suite is the rules of the API.
func Suite() *suite.Suite { return all().Suite() }

func all() *suite.Rules[*T] {
	return &suite.Rules[*T]{
		API:    hbdnn.API,
		All:    Rules(),
		New:    newT,
		Object: about,
		Modes:  hbdnn.Modes,
		Environ: []string{"ANYNPU_LOG=warn", "ANYNPU_LOG_FILE=/dev/null", "ANYNPU_MODEL_MAP=",
			"ANYNPU_HBDNN_TARGET=", "ANYNPU_THREADS=1"},
		Tally: "hbdnn rules %d of %d",
		NotCovered: []suite.Statement{
			{Text: "8: limits of sizes, scales and parities of regions", Reason: "chips differ; a library on a CPU has none"},
			{Text: "4: which core computes", Reason: "the CPU has none; only the values are checked (4.f)"},
			{Text: "5: caches and physical addresses", Reason: "memory is coherent, and there is no device behind it"},
		},
	}
}

// sections are what the rules of a section are about.
var sections = map[string]string{"2": "prototypes and conversions", "3": "loading and queries", "4": "tasks",
	"5": "memory", "6": "tensors and images", "7": "quantization", "8": "regions", "11": "choices where boards are silent"}

// about is what a rule is about.
func about(r *Rule) string {
	section, _, _ := strings.Cut(r.ID, ".")
	return sections[section]
}

// file writes a file into the case's directory and returns its path.
func (t *T) file(name string, data []byte) string {
	path := filepath.Join(t.Dir, name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Failf("%v", err)
	}
	return path
}
