package node

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/session"
)

// The tests of Bernoulli carry one draw, which another generator cannot repeat; what the operator promises (ONNX
// operators, Bernoulli: ones with the probability that the input gives) is checked over many runs instead.
const (
	bernoulliRuns = 3000
	bernoulliSide = 6 // standard deviations that a frequency may be away: one test in ten million fails by chance
	bernoulliGrid = 400
	// Kolmogorov-Smirnov distance that ten uniform numbers exceed once in a thousand draws; larger samples less.
	bernoulliDistance = 0.58
)

// isBernoulli reports whether a test is one of Bernoulli, also spelled out in other operators.
func isBernoulli(name string) bool { return strings.HasPrefix(name, "test_bernoulli") }

// draws computes the output of a model with one input and one output.
type draws func(in tensor.Tensor) (tensor.Tensor, error)

// drawsOf returns the draws of a session. The function of Bernoulli in onnx 1.18, which the expanded tests spell out,
// gives one where a uniform number is Greater than the probability, so with one minus the probability: its zeros and
// ones change places here.
func drawsOf(ctx context.Context, s *session.Session, greater bool) draws {
	return func(in tensor.Tensor) (tensor.Tensor, error) {
		got, err := s.Run(ctx, []tensor.Tensor{in}, time.Now().Add(time.Minute))
		if err != nil {
			return tensor.Tensor{}, fault.Wrap(err, "run")
		}
		y := got[0]
		if greater {
			for i := range y.Count() {
				tensor.PutFloat(y.DType, y.Data, i, 1-number(y, i), false)
			}
		}
		return y, nil
	}
}

// zerosAndOnes returns the elements of a result as truth values.
func zerosAndOnes(t tensor.Tensor, like tensor.Tensor) ([]bool, error) {
	if t.DType != like.DType || !slices.Equal(t.Dims, like.Dims) {
		return nil, fmt.Errorf("%v%v, want %v%v", t.DType, t.Dims, like.DType, like.Dims)
	}
	out := make([]bool, t.Count())
	for i := range out {
		switch v := number(t, i); v {
		case 0, 1:
			out[i] = v == 1
		default:
			return nil, fmt.Errorf("element %d is %g, want 0 or 1", i, v)
		}
	}
	return out, nil
}

// number is element i of a tensor of any plain type.
func number(t tensor.Tensor, i int) float64 {
	if t.DType.IsFloat() {
		return tensor.FloatAt(t.DType, t.Data, i)
	}
	return float64(tensor.IntAt(t.DType, t.Data, i))
}

// checkFrequencies runs a model without a seed many times with the probabilities p: every element is one as often as
// its probability says, and neighbouring elements are one together as often as independent draws are.
func checkFrequencies(draw draws, p, like tensor.Tensor) error {
	n := p.Count()
	ones, both := make([]int, n), make([]int, n)
	for range bernoulliRuns {
		t, err := draw(p)
		if err != nil {
			return err
		}
		bits, err := zerosAndOnes(t, like)
		if err != nil {
			return err
		}
		for i, one := range bits {
			if one {
				ones[i]++
				if i > 0 && bits[i-1] {
					both[i]++
				}
			}
		}
	}
	for i := range ones {
		if bad := unlikely(ones[i], number(p, i)); bad != "" {
			return fmt.Errorf("element %d: %s", i, bad)
		}
		if i == 0 {
			continue
		}
		if bad := unlikely(both[i], number(p, i-1)*number(p, i)); bad != "" {
			return fmt.Errorf("elements %d and %d together: %s", i-1, i, bad)
		}
	}
	return nil
}

// unlikely says what is wrong with a number of ones in all runs, "" when it fits probability p.
func unlikely(ones int, p float64) string {
	want := p * bernoulliRuns
	if math.Abs(float64(ones)-want) <= bernoulliSide*math.Sqrt(want*(1-p)) {
		return ""
	}
	return fmt.Sprintf("one %d times in %d runs with probability %.3g", ones, bernoulliRuns, p)
}

// checkThresholds runs a model with a seed, whose draws repeat, with all probabilities at k/400 for every k: each
// element turns from zero to one at a threshold of its own, the thresholds are spread like uniform numbers, and p, the
// test's input, gives ones above them alone.
func checkThresholds(draw draws, p, like tensor.Tensor) error {
	at := make([]int, p.Count()) // the first k that gives one
	for k := range bernoulliGrid + 1 {
		t := tensor.New(p.DType, p.Dims...)
		for i := range at {
			tensor.PutFloat(t.DType, t.Data, i, float64(k)/bernoulliGrid, false)
		}
		y, err := draw(t)
		if err != nil {
			return err
		}
		bits, err := zerosAndOnes(y, like)
		if err != nil {
			return err
		}
		for i, one := range bits {
			switch {
			case one && at[i] == 0:
				if k == 0 {
					return fmt.Errorf("element %d is 1 with probability 0", i)
				}
				at[i] = k
			case !one && (at[i] != 0 || k == bernoulliGrid):
				return fmt.Errorf("element %d is 0 with probability %d/%d, and 1 with %d/%d", i, k, bernoulliGrid, at[i],
					bernoulliGrid)
			}
		}
	}
	y, err := draw(p)
	if err != nil {
		return err
	}
	bits, err := zerosAndOnes(y, like)
	if err != nil {
		return err
	}
	for i, one := range bits {
		if v := number(p, i) * bernoulliGrid; one && v < float64(at[i]-1) || !one && v > float64(at[i]) {
			return fmt.Errorf("element %d is %v with probability %g, its threshold is %d/%d", i, one, number(p, i), at[i],
				bernoulliGrid)
		}
	}
	slices.Sort(at)
	for i, k := range at {
		u := float64(k) / bernoulliGrid
		if d := max(u-float64(i)/float64(len(at)), float64(i+1)/float64(len(at))-u); d > bernoulliDistance {
			return fmt.Errorf("thresholds %v of %d are not spread evenly", at, bernoulliGrid)
		}
	}
	return nil
}

// checkBernoulli chooses the check: a model whose draws repeat has a seed.
func checkBernoulli(draw draws, seeded bool, p, like tensor.Tensor) error {
	if seeded {
		return fault.Wrap(checkThresholds(draw, p, like), "with a seed")
	}
	return checkFrequencies(draw, p, like)
}
