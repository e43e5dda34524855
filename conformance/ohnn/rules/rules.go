// Package rules checks a library against the rules of the OH_NN C API: which calls succeed, which are refused with
// which code, in which order arguments are judged, and how long objects and pointers live. It knows no implementation;
// it calls a library file through the C ABI, in child processes, so that a crash or a hang is a result.
//
// Rules are numbered by the sections of docs/abi/ohnn.md: 2 devices, 3 tensor descriptors, 4 tensors, 5
// quantization parameters, 6 models, 7 compilations, 8 executors, 9 caches, 10 executors of API 9, 11 inner functions,
// 14 places where manual and reference implementation differ. Where an upstream test asserts nothing, the manual is
// expected by default and the reference implementation with ANYNPU_OHNN_COMPAT=reference.
package rules

import (
	"slices"
	"strconv"
	"strings"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/suite"
)

// Rule is one statement about the API; its ID is s<section>_<function or topic>[_<aspect>].
type Rule = suite.Rule[*T]

// Case is one situation of a rule.
type Case = suite.Case[*T]

// T is what a case runs with. Its methods make the objects of the API.
type T struct{ *suite.T }

func newT(t *suite.T) *T { return &T{t} }

func rule(id, text string) *Rule { return suite.NewRule[*T](id, text) }

// Rules returns all rules in the order of their sections.
func Rules() []*Rule {
	return slices.Concat(devices, readBack, descriptors, tensors, aliasedTensors, quantParams, models, modelOperations,
		modelsAgain, compilations, builds, executors, connections, runs, waiting, stopped, again, caches, cachesAgain,
		legacyExecutors,
		legacyMemory, inner, differences, executorDifferences, pairRules, contents)
}

// Suite is the rules of the API, held to in both modes.
func Suite() *suite.Suite { return all().Suite() }

func all() *suite.Rules[*T] {
	return &suite.Rules[*T]{
		API:     ohnn.API,
		All:     Rules(),
		New:     newT,
		Modes:   ohnn.Modes,
		Object:  func(r *Rule) string { return sections[section(r)] },
		Environ: []string{"ANYNPU_LOG=off", DevicesVariable + "=" + manyDevices, RangeVariable + "=1:1000"},
		Tally:   "%d of %d rules",
	}
}

// sections are what the rules of a section are about.
var sections = map[int]string{2: "devices", 3: "tensor descriptors", 4: "tensors", 5: "quantization parameters",
	6: "models", 7: "compilations", 8: "executors", 9: "caches", 10: "executors of API 9", 11: "inner functions",
	14: "where manual and reference implementation differ"}

// section is the number in the rule's name.
func section(r *Rule) int {
	head, _, _ := strings.Cut(strings.TrimPrefix(r.ID, "s"), "_")
	n, err := strconv.Atoi(head)
	if err != nil {
		panic("rules: " + r.ID + " names no section")
	}
	return n
}

// by chooses an expectation by mode.
func (t *T) by(inManual, inReference int) int {
	if t.Mode == ohnn.Reference {
		return inReference
	}
	return inManual
}

// parallel does f five times in each of four threads; objects of each end with it.
func (t *T) parallel(f func(own *T)) {
	t.Parallel(4, func(own *suite.T, _ int) {
		for range 5 {
			f(newT(own))
		}
	})
}
