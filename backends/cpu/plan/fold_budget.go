package plan

import (
	"math"

	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
)

// newBudget returns the budget of a graph.
func newBudget(g *graph.Graph) run.Budget {
	stored, largest := int64(0), int64(0)
	for i := range g.Values {
		f := &g.Values[i].Fact
		if f.Const != nil {
			n, _ := f.Shape.Count()
			stored += min(n, math.MaxInt64>>16)
		} else if n, ok := f.Type.ByteSize(); ok {
			largest = max(largest, n)
		}
	}
	stored = min(stored, math.MaxInt64>>10)
	return run.Budget{Elements: foldElements + foldPerStored*stored, Work: foldWork + foldWorkStored*stored,
		Tables: max(tableBytes, largest)}
}

// Limits of folded constants: so much held the model is, and so much more for each element that the model stores. A few
// bytes can ask for any amount; what is not folded is computed by each run.
const (
	foldElements    = 8 << 20
	foldPerStored   = 16 // weights of 4 bits become bytes, lists of them and numbers
	foldWork        = 1 << 28
	foldWorkStored  = 256
	fastWork        = 32       // steps of a fast kernel in the time of one by reference
	leastFastFold   = 1 << 15  // work from which a kernel is looked for
	tableBytes      = 64 << 20 // or as much as the largest value, which a run writes in any case
	foldInputCutoff = 64       // elements of a first operand that a kernel may want to know
)
