// Package numerics computes models and matrix products through Rockchip's RKNN runtime C API and compares every result
// and every attribute with what an exact model of the API says: how a program's elements become those of the model,
// what the operators compute, and how results lie in the program's memory. The model is part of this package, in
// float64 where sums are exact, and shares no code with a library.
package numerics

import (
	"maps"
	"math"
	"slices"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/numbers"
)

// T is what a case runs with.
type T struct{ *rknn.T }

type group = suite.Rule[*T]

func newGroup(id, text string) *group { return suite.NewRule[*T](id, text) }

// on adds a case for a board.
func on(g *group, board, name string, run func(*T)) {
	g.OK(name+"_"+board, run).With(rknn.On(board))
}

// parts are what groups judge.
var parts = map[string]string{"formats": "formats", "networks": "networks", "random": "networks",
	"vectors": "operators", "attributes": "operators", "forms": "operators", "imports": "operators", "opsets": "operators",
	"microsoft": "operators", "walks": "sequences",
	"products": "products"}

// Suite is the cases of the API.
func Suite() *suite.Suite {
	return suite.Groups(&suite.Rules[*T]{
		API:     rknn.API,
		New:     func(t *suite.T) *T { return &T{&rknn.T{T: t}} },
		Part:    func(g *group) string { return parts[g.ID] },
		Environ: []string{"ANYNPU_LOG=off", "ANYNPU_MODEL_MAP=", rknn.On("")},
	}, groups, "numerics", "Compute models and matrix products in every format and compare the results")
}

func groups() []*group {
	return []*group{formats(), networks(), randomNetworks(), vectors(), operatorAttributes(), graphForms(), rareForms(),
		opsetForms(), microsoftForms(), graphsAsModels(), walks(), memories(), products()}
}

// same ends the case unless bytes of elements of a type are those wanted, or within a tolerance of the largest: half
// precision rounds what comes within it once more.
func (t *T) same(what string, kind uint32, b []byte, want []float64, tol float64) {
	got := decoded(kind, b)
	t.Check(len(got) == len(want), "%s: %d elements, want %d", what, len(got), len(want))
	bound, step := tol*largest(want), 0.0
	if tol > 0 && kind == rknn.Float16 {
		step = 1.0 / 1024
	}
	if t.Converted() {
		switch kind {
		case rknn.Float32, rknn.Float16, rknn.BFloat16:
			bound = max(bound, suite.RealTolerance*largest(want))
		case rknn.Int8, rknn.Uint8:
			bound = max(bound, suite.CodeTolerance)
		}
	}
	var apart numbers.Apart
	for i, w := range want {
		g := got[i]
		apart.Add(g, w, g != w && !(math.Abs(g-w) <= bound+step*math.Abs(w)) && !(g != g && w != w))
	}
	t.Check(apart.Wrong() < 0, "%s: %v", what, &apart)
}

// sorted are the names of nets in order.
func sorted(nets map[string]*net) []string { return slices.Sorted(maps.Keys(nets)) }
