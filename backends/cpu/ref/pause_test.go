package ref

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/op/opcase"
	"github.com/anynpu/anynpu/core/tensor"
)

// tensorsOf are the inputs and the results' types of a case.
func tensorsOf(c opcase.Case) (in []tensor.Tensor, declared []tensor.Type) {
	for i, o := range c.In {
		if o.Type.DType == tensor.Invalid {
			in = append(in, tensor.Tensor{})
			continue
		}
		dims, _ := o.Type.Shape.Ints()
		t := tensor.Tensor{DType: o.Type.DType, Dims: dims, Quant: o.Type.Quant, Data: o.Constant}
		if t.Data == nil {
			t.Data = opcase.Values(o.Type, t.Count(), i)
		}
		in = append(in, t)
	}
	declared = make([]tensor.Type, max(1, c.Results))
	copy(declared, c.Out)
	return in, declared
}

// workOf estimates the work of a case.
func workOf(c opcase.Case) int64 {
	facts := c.Facts()
	in := make([]tensor.Tensor, len(c.In))
	for i, f := range facts {
		if f.DType != tensor.Invalid {
			dims, _ := f.Shape.Ints()
			in[i] = tensor.Tensor{DType: f.DType, Dims: dims}
		}
	}
	out, ok := c.Inferred()
	if !ok {
		return 0
	}
	if _, control := c.Op.(graph.Control); control {
		return Work(nil, in, out)
	}
	return Work(c.Op, in, out)
}

// grownTo grows a case until its work is at least want.
func grownTo(c opcase.Case, want int64) opcase.Case {
	for most := workOf(c); most < want; {
		before := most
		for _, g := range c.Grown(2) {
			if w := workOf(g); w > most {
				c, most = g, w
			}
		}
		if most == before {
			break
		}
	}
	return c.Filled()
}

// still are operators that say what is known of a tensor, or hand it on: they have no work beside that of bodies.
var still = map[string]bool{"shape": true, "size": true, "rank": true, "squeeze": true, "unsqueeze": true,
	"reshape": true, "flatten": true, "declare": true, "assert": true, "if": true, "loop": true}

// enough is how many ticks a computation of half the work that pauses has at least: bytes that are copied have the
// fewest.
const enough = 4

// TestTicks_inEveryOperator: whatever is large enough to pause does so all along, and a pause can end it.
func TestTicks_inEveryOperator(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range opcase.All() {
		name := graph.NameOf(c.Op)
		if seen[name] || still[name] {
			continue
		}
		g := grownTo(c, long/2)
		in, declared := tensorsOf(g)
		n := ticksOf(g.Op, in, declared, enough)
		seen[name] = n >= enough
	}
	for _, c := range opcase.All() {
		name := graph.NameOf(c.Op)
		assert.True(t, seen[name] || still[name], "%s cannot be interrupted", name)
	}
}

// ticksOf counts the ticks of a computation, which ends with the one that is given.
func ticksOf(o graph.Op, in []tensor.Tensor, declared []tensor.Type, most int) (n int) {
	type end struct{}
	defer func() {
		if v := recover(); v != nil {
			if _, ended := v.(end); !ended {
				panic(v)
			}
		}
	}()
	var p *pausing
	defer pauses(func() {
		if n++; n == most {
			panic(end{})
		}
		p.fall()
	})()
	p = onLoan.threads[thread()]
	p.fall()
	_, _ = ComputePausing(context.Background(), nil, o, in, declared)
	return n
}

// TestComputeContext_endsInsideOfAnOperator: a computation of seconds ends soon after its context does, and says so.
func TestComputeContext_endsInsideOfAnOperator(t *testing.T) {
	const n = 1400
	x := tensor.New(tensor.Float32, n, n)
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(5*time.Millisecond, cancel)
	_, err := ComputeContext(ctx, &op.MatMul{}, []tensor.Tensor{x, x}, make([]tensor.Type, 1))
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, fault.Canceled, fault.KindOf(err))
	assert.Zero(t, due.Load())
	assert.Empty(t, onLoan.threads)
}

// TestPauses_ofOthers: a tick pauses the computation of its own thread alone.
func TestPauses_ofOthers(t *testing.T) {
	var mine, theirs int
	end := pauses(func() { mine++ })
	p := onLoan.threads[thread()]
	done := make(chan bool)
	go func() {
		defer close(done)
		defer pauses(func() { theirs++ })()
		p.fall()
		tick()
		assert.Zero(t, mine)
		onLoan.threads[thread()].fall()
		tick()
		assert.Equal(t, 1, theirs)
	}()
	<-done
	tick()
	assert.Equal(t, 1, mine)
	end()
	assert.Zero(t, due.Load())
}

// TestInner_addsInOneOrder: ticks inside of a long sum change no bit of it.
func TestInner_addsInOneOrder(t *testing.T) {
	a, b := make([]float32, 3*stretch+7), make([]float32, 3*stretch+7)
	for i := range a {
		a[i], b[i] = float32(i%97)/7, float32(i%31)/3-5
	}
	var s [4]float64
	for i := range len(a) / 4 * 4 {
		s[i%4] += float64(a[i]) * float64(b[i])
	}
	for i := len(a) / 4 * 4; i < len(a); i++ {
		s[0] += float64(a[i]) * float64(b[i])
	}
	assert.Equal(t, s[0]+s[1]+s[2]+s[3], inner[float32, float64](a, b))
}
