package rules

import (
	"fmt"
	"strings"
	"sync"

	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// Functions of custom operators. Callbacks of a process cannot be given back, so there are two sets for the whole
// process, and what they do is the case's.

// stage names a function of an operator in what is recorded.
type stage string

// The stages, as they are recorded.
const (
	stageInit    stage = "init"
	stagePrepare stage = "prepare"
	stageCompute stage = "compute"
	stageDestroy stage = "destroy"
)

// opCall is what a function of an operator was called with.
type opCall struct {
	ctx     *opContext
	in, out []opTensor
}

// opSet is one set of functions.
type opSet struct {
	name  string
	table [4]uintptr // init, prepare, compute, destroy
	f     map[stage]func(opCall) int
}

var opState = struct {
	mu    sync.Mutex
	calls []string
	sets  [2]*opSet
}{}

func opFunctions(set *opSet) {
	full := func(s stage) uintptr {
		return suite.NewCallback(func(ctx, in uintptr, nIn uint32, out uintptr, nOut uint32) uintptr {
			return set.called(s, opCall{cmem.At[opContext](ctx), cmem.Span[opTensor](in, int(nIn)), cmem.Span[opTensor](out,
				int(nOut))})
		})
	}
	set.table = [4]uintptr{full(stageInit), full(stagePrepare), full(stageCompute),
		suite.NewCallback(func(ctx uintptr) uintptr {
			return set.called(stageDestroy, opCall{ctx: cmem.At[opContext](ctx)})
		})}
}

// called records a call and does what the case wants.
func (set *opSet) called(s stage, c opCall) uintptr {
	opState.mu.Lock()
	opState.calls = append(opState.calls, set.name+string(s))
	f := set.f[s]
	opState.mu.Unlock()
	if f == nil {
		return 0
	}
	return uintptr(uint32(int32(f(c))))
}

// opsOf readies set i for a case; its functions do nothing but be recorded until f says more.
func (t *T) opsOf(i int, f map[stage]func(opCall) int) *opSet {
	opState.mu.Lock()
	defer opState.mu.Unlock()
	if opState.sets[i] == nil {
		opState.sets[i] = &opSet{name: []string{"", "second "}[i]}
		opFunctions(opState.sets[i])
	}
	opState.sets[i].f = f
	opState.calls = nil
	return opState.sets[i]
}

// calls are the recorded calls since the last time.
func (t *T) calls() string {
	opState.mu.Lock()
	defer opState.mu.Unlock()
	out := strings.Join(opState.calls, " ")
	opState.calls = nil
	return out
}

func (t *T) wantCalls(want ...string) {
	got := t.calls()
	t.Check(got == strings.Join(want, " "), "calls: %q, want %q", got, strings.Join(want, " "))
}

// newOp describes an operator without functions.
func newOp(opType string) *customOp {
	op := &customOp{Version: 1, Target: 1}
	copy(op.OpType[:], opType)
	return op
}

// op describes an operator of a type with the functions of a set.
func (set *opSet) op(opType string) *customOp {
	op := newOp(opType)
	op.Init, op.Prepare, op.Compute, op.Destroy = set.table[0], set.table[1], set.table[2], set.table[3]
	return op
}

// unary computes f of each element.
func unary(f func(float32) float32) map[stage]func(opCall) int {
	return map[stage]func(opCall) int{stageCompute: func(c opCall) int {
		out := c.out[0].Floats()
		for i, v := range c.in[0].Floats() {
			out[i] = f(v)
		}
		return 0
	}}
}

func double(v float32) float32 { return 2 * v }

// foreign is y = Twice(x), Twice foreign with alpha 2.5 and beta -7.
func foreign(dims ...int64) *model {
	return (&model{}).Custom("Twice", "y", 2.5, -7, "x").Input("x", onnxFloat, dims...).Output("y", onnxFloat, dims...)
}

// attribute asks for an attribute of a node.
func (t *T) attribute(ctx *opContext, name string) opAttr {
	a := opAttr{Kind: 99, NElems: 99, Data: 99}
	t.Call("custom_op_get_op_attr", ctx, name, &a)
	return a
}

func describe(a *tensorAttr) string {
	return fmt.Sprintf("%v format %d type %d of %d elements", a.Shape(), a.Format, a.Kind, a.Elems)
}
