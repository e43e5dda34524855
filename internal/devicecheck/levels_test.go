package devicecheck

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/op/opcase"
	"github.com/anynpu/anynpu/core/tensor"
)

// oddWork bounds what the reference does for an odd case.
const oddWork = 200_000

// TestLevels holds the kernels of every level against the reference: each operator in each element type that it takes,
// and odd cases, which are changed by chance: remainders, strides, dilations and pads that differ, negative axes, sizes
// of 0. The other tests of make test have the best level alone.
//
// ANYNPU_ODD=COUNT has that many odd cases of each case, and ANYNPU_ODD_SEED another seed than 1.
func TestLevels(t *testing.T) {
	count, seed := 8, uint64(1)
	if text := os.Getenv("ANYNPU_ODD"); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(t, err, "ANYNPU_ODD")
		count = n
	}
	if text := os.Getenv("ANYNPU_ODD_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		require.NoError(t, err, "ANYNPU_ODD_SEED")
		seed = n
	}
	checks, err := Checks()
	require.NoError(t, err)
	whole := len(checks)
	met := map[string]int{}
	for k, c := range opcase.All() {
		times := count
		if windowed(c.Op) {
			times *= 6 // how windows lie has the most forms
		}
		for i := range times {
			r := oddity{rand.New(rand.NewPCG(seed, uint64(k)<<32|uint64(i)))}
			for range 20 { // most changes make no case
				if check, ok := r.check(c); ok {
					met[check.Op]++
					checks = append(checks, check)
					break
				}
			}
		}
	}
	d := newCPU(t, cpu.Config{})
	levels := kernel.Supported()
	for _, isa := range levels {
		restore, err := kernel.Select(isa)
		require.NoError(t, err)
		run := checks
		if isa == levels[len(levels)-1] {
			run = checks[whole:] // TestRun_cpu has the others
		}
		results, err := Run(context.Background(), d, run, Options{Limit: time.Minute})
		restore()
		require.NoError(t, err)
		for _, r := range results {
			assert.Equal(t, Pass, r.Outcome, "%v: %s %s %s: %s", isa, r.Op, r.Types, r.Form, r.Why)
		}
	}
	few := 0
	for _, name := range graph.OpNames() {
		if _, excused := opcase.Without[name]; !excused && met[name] == 0 {
			few++
			t.Logf("no odd case of %s", name)
		}
	}
	t.Logf("%d cases, %d odd ones", whole, len(checks)-whole)
	assert.LessOrEqual(t, few, len(met)/4)
}

// check is a changed case with what the reference gives, ok: it is a case.
func (r oddity) check(from opcase.Case) (c Check, ok bool) {
	odd, ok := r.of(from)
	if !ok {
		return c, false
	}
	g, in, err := r.graph(odd)
	if err != nil {
		return c, false
	}
	_, deformed := odd.Op.(*op.DeformConv)
	r.filled(in, !deformed) // infinite cells beside a sample, which have no weight, give NaN or nothing
	want, err := ref.Run(context.Background(), g, in)
	if err != nil {
		return c, false
	}
	if len(g.Nodes) > 1 && slices.ContainsFunc(want, overflown) {
		return c, false // plans do not round between nodes
	}
	nodes := ""
	for i := range g.Nodes {
		nodes += graph.NameOf(g.Nodes[i].Op) + " "
	}
	return Check{graph.NameOf(odd.Op), odd.Types(), fmt.Sprintf("%s (%s) %s", attributes(odd.Op), nodes, constants(odd)),
		g, in, want}, true
}

// windowed reports whether an operator has windows.
func windowed(o graph.Op) bool {
	_, ok := reflect.TypeOf(o).Elem().FieldByName("Strides")
	return ok
}

// overflown reports whether a half is infinite.
func overflown(x tensor.Tensor) bool {
	if x.DType != tensor.Float16 && x.DType != tensor.BFloat16 {
		return false
	}
	for i := range x.Count() {
		if math.IsInf(tensor.FloatAt(x.DType, x.Data, i), 0) {
			return true
		}
	}
	return false
}

// constants are the short constant lists of a case as text.
func constants(c opcase.Case) (text string) {
	for i, f := range c.Facts() {
		if n, _ := f.Shape.Count(); f.Const != nil && f.DType.IsInt() && n <= 8 {
			text += fmt.Sprintf("input %d %v ", i, f.IntValues())
		}
	}
	return text
}
