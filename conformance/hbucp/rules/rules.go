// Package rules checks a library against the rules of Horizon's UCP C API: which calls succeed, which are refused with
// which code, what properties say, how tasks are made, submitted and released, and how long objects live. It knows no
// implementation; it calls a library file through the C ABI, in child processes, so that a crash or a hang is a result.
//
// A rule is one statement and has a number, SECTION.LETTERS, by the sections of docs/abi/hbucp.md: 2 functions, 5.1
// loading and queries, 5.2 tasks, 5.3 memory, 5.4 tensors and strides, 5.5 images, 5.6 quantization, 9 choices where
// boards are silent.
package rules

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/conformance/hbucp"
	"github.com/anynpu/anynpu/conformance/suite"
)

// Rule is one statement about the API; its ID is SECTION.LETTERS_topic.
type Rule = suite.Rule[*T]

// T is what a case runs with. Its methods make the objects of the API.
type T struct{ *hbucp.T }

func newT(t *suite.T) *T { return &T{&hbucp.T{T: t}} }

func rule(id, text string) *Rule { return suite.NewRule[*T](id, text) }

// Rules returns all rules in the order of their sections.
func Rules() []*Rule {
	return slices.Concat(functions, loading, queries, tasks, groups, callbacks, results, memory, strides, images,
		quantization, handles(), pointers(), indices())
}

// Suite is the rules of the API.
func Suite() *suite.Suite { return all().Suite() }

func all() *suite.Rules[*T] {
	return &suite.Rules[*T]{
		API:    hbucp.API,
		All:    Rules(),
		New:    newT,
		Object: about,
		Environ: []string{"ANYNPU_LOG=warn", "ANYNPU_LOG_FILE=/dev/null", "ANYNPU_MODEL_MAP=", "ANYNPU_HBDNN_ABI=ucp",
			"ANYNPU_HBDNN_TARGET=", "ANYNPU_THREADS=1", "HB_UCP_MAX_TASK_NUM="},
		Tally: "hbucp rules %d of %d",
		NotCovered: []suite.Statement{
			{Text: "5.2: which core computes, and models for several cores", Reason: "the CPU has no cores of a BPU"},
			{Text: "5.3: caches and physical addresses", Reason: "memory is coherent, and there is no device behind it"},
		},
	}
}

// sections are what the rules of a section are about.
var sections = map[string]string{"2": "functions", "5.1": "loading and queries", "5.2": "tasks", "5.3": "memory",
	"5.4": "tensors and strides", "5.5": "images", "5.6": "quantization", "9": "choices where boards are silent"}

// sectionOf is the section of a rule and its letters: 5.2 and a of 5.2.a_new.
func sectionOf(id string) (section, letters string) {
	number, _, _ := strings.Cut(id, "_")
	at := strings.LastIndex(number, ".")
	return number[:max(at, 0)], number[at+1:]
}

func about(r *Rule) string {
	section, _ := sectionOf(r.ID)
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

func number() *int32    { return new(int32) }
func length() *uint32   { return new(uint32) }
func address() *uintptr { return new(uintptr) }
