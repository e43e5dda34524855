// Package rules checks a library against the rules of Rockchip's RKNN runtime C API: which calls succeed, which are
// refused with which code, in which order arguments are judged, what queries answer, how values are converted, and how
// long objects live. It knows no implementation; it calls a library file through the C ABI, in child processes, so that
// a crash or a hang is a result.
//
// A rule is one statement and has a number, SECTION.LETTER, by the sections of docs/abi/rknn.md: 1 prototypes,
// 2 contexts, 3 queries, 4 inputs, runs and outputs, 5 memory that a program brings, 6 dynamic shapes, 7 cores, 8
// custom operators, 9 threads, 10 codes and what messages say, 11 choices where boards are silent; m of the notes on
// matrix multiplication.
package rules

import (
	"slices"
	"strings"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite"
)

// Rule is one statement about the API; its ID is SECTION.LETTER_topic.
type Rule = suite.Rule[*T]

// Case is one situation of a rule.
type Case = suite.Case[*T]

// T is what a case runs with. Its methods make the objects of the API.
type T struct{ *rknn.T }

func newT(t *suite.T) *T { return &T{&rknn.T{T: t}} }

// parallel runs f in n threads at the same time; objects of each end with it.
func (t *T) parallel(n int, f func(own *T, i int)) {
	t.Parallel(n, func(own *suite.T, i int) { f(newT(own), i) })
}

func rule(id, text string) *Rule { return suite.NewRule[*T](id, text) }

// Rules returns all rules in the order of their sections.
func Rules() []*Rule {
	return slices.Concat(prototypes, lives, models, described, elsewhere, attributes, native, queries, readBack, inputs,
		runs, formats, boundMemory, aliases, places, dynamicShapes, openOutputs, sizedOperands, cores, customOperators,
		customTensors, threads, queues, messages, choices, matmulFunctions, matmulTypes, matmulLimits, matmulLayouts,
		matmulQuantization, matmulMemory, matmulChoices)
}

// Suite is the rules of the API.
func Suite() *suite.Suite { return all().Suite() }

func all() *suite.Rules[*T] {
	return &suite.Rules[*T]{
		API:     rknn.API,
		All:     Rules(),
		New:     newT,
		Object:  about,
		Environ: []string{"ANYNPU_LOG=warn", "ANYNPU_LOG_FILE=/dev/null", "ANYNPU_MODEL_MAP=", rknn.On("")},
		Tally:   "rknn rules %d of %d",
		NotCovered: []suite.Statement{
			{Text: "2: priority, nice value, SRAM and cache flags change speed and memory of an NPU",
				Reason: "there is no NPU: only that the flags are accepted is checked (2.n)"},
			{Text: "3: drv_version is the kernel driver's", Reason: "there is no driver: only its form is checked (3.l)"},
			{Text: "5: physical addresses, DMA buffers and cached copies",
				Reason: "there is no IOMMU and no second view of memory: only refusals and no-ops are checked (5.d, 5.p)"},
			{Text: "7: which layers are split over cores, and that an idle core is picked",
				Reason: "speed only; results are the same (7.a)"},
			{Text: "10: codes -2, -10, -11, -12, -13",
				Reason: "a driver, its timeout or its version gives them; -3 is that of a forked child (ctest rknn_fork)"},
		},
	}
}

// sections are what the rules of a section are about.
var sections = map[string]string{"1": "prototypes", "2": "contexts", "3": "queries", "4": "inputs, runs and outputs",
	"5": "memory that a program brings", "6": "dynamic shapes", "7": "cores", "8": "custom operators", "9": "threads",
	"10": "codes and messages", "11": "choices where boards are silent", "m1": "matrix products: functions",
	"m2": "matrix products: types", "m3": "matrix products: limits", "m4": "matrix products: layouts",
	"m5": "matrix products: quantization", "m6": "matrix products: memory", "m8": "matrix products: choices"}

// about is what a rule is about.
func about(r *Rule) string {
	section, _, _ := strings.Cut(r.ID, ".")
	return sections[section]
}
