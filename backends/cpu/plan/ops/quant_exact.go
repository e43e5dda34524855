package ops

import (
	"math"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
)

// Kernels make codes of sums by factors of two float32 parts. The codes of quantized types are defined in float64, with
// halves away from zero. Both grow with the sum, and a code changes at 255 places at most, so the two are equal for all
// sums if they are for those next to these places. Most sums there are so far from the middle between two codes that
// the factor's error does not matter. The others are tried, with factors that differ in their last bits, until all are
// right.

// trial is a sum close to the middle between two codes.
type trial struct {
	sum   int32   // without its start
	next  float64 // the upper code, less the zero point
	upper bool    // the sum has the upper code
}

// factors make the codes of one output: a code is the floor of (sum + init) * (scale + low) + add, and the zero point.
type factors struct {
	init            int32
	scale, low, add float32
}

// passes reports whether f makes the code of a trial. All is exact in float64.
func (f factors) passes(t *trial) bool {
	s := float64(t.sum + f.init)
	return (s*float64(f.low) >= t.next-s*float64(f.scale)-float64(f.add)) == t.upper
}

const (
	scaleStep  = 1.0 / (1 << 15) // of the first part, which makes its products exact
	mostTrials = 512
	movedBits  = 4  // by how many units the second part is moved
	movedSums  = 63 // by how much sums are moved; what that and the bias add is made up for in steps of scaleStep
	mostRest   = 1.0 / (1 << 18)
)

// fit returns factors with which the kernel gives the codes of q for all sums of output j up to reach, ok false when it
// finds none. work is memory for trials.
func (q *requantized) fit(j int, reach float64, work []trial) (f factors, ok bool) {
	unit, shift := q.scale[j]/q.step, q.offset[j]/q.step
	start, high := math.Round(shift/unit), math.Floor(unit/scaleStep)*scaleStep
	if !(math.Abs(start)+reach+movedSums < (1<<31)/max(1, unit)) {
		return f, false
	}
	f = factors{init: int32(start), scale: float32(high), low: float32(unit - high), add: 0.5}
	last := float64(math.Nextafter32(f.low, 1) - f.low)
	move := max(last, 1.0/(1<<44))
	if ends := math.Abs(q.lo-q.zero) + math.Abs(q.hi-q.zero) + 2; !(ends/unit < 1<<24) || ends > 1<<9 {
		return f, false // sums that float32 does not hold
	}
	trials := work[:0]
	for code := q.lo; code < q.hi; code++ {
		next := code + 1 - q.zero
		at := (next - 0.5 - shift) / unit
		width := (mostRest+last)/unit + (math.Abs(next)/unit+movedSums+1)*(last+movedBits*move)/unit
		if math.Abs(at) > reach+width {
			continue
		}
		if !(2*width < mostTrials-float64(len(trials))-1) {
			return f, false
		}
		for s := math.Ceil(at - width); s <= at+width; s++ {
			trials = append(trials, trial{sum: int32(s), next: next,
				upper: math.Round((s*q.scale[j]+q.offset[j])/q.step+q.zero) > code})
		}
	}
	return f.search(trials, unit, shift, move)
}

// search returns factors near f that pass all trials, whose order it changes.
func (f factors) search(trials []trial, unit, shift, move float64) (found factors, ok bool) {
	passes := func(c factors) bool {
		for i := range trials {
			if !c.passes(&trials[i]) {
				trials[0], trials[i] = trials[i], trials[0] // likely to fail again
				return false
			}
		}
		return true
	}
	for sums := range int32(movedSums + 1) {
		more := float64(f.init+sums)*unit - shift
		less := math.Round(more/scaleStep) * scaleStep
		if math.Abs(more-less) > mostRest {
			continue
		}
		for n := range 2*movedBits + 1 {
			c := f
			c.init, c.add = f.init+sums, float32(0.5-less)
			if by := float64((n+1)/2) * move; n%2 == 1 {
				c.low = float32(float64(f.low) + by)
			} else {
				c.low = float32(float64(f.low) - by)
			}
			if passes(c) {
				return c, true
			}
		}
	}
	return f, false
}

// post returns how a kernel makes the codes that e names of all sums up to reach, and what it adds to them before, ok
// false when it cannot.
func (q *requantized) post(e *qdqEpilogue, reach float64) (post kernel.Requantize, init []int32, ok bool) {
	n := len(q.scale)
	post = kernel.Requantize{Zero: int(e.params.Zero), Lo: e.lo, Hi: e.hi, Scale: make([]float32, n),
		Add: make([]float32, n), Low: make([]float32, n)}
	if !(reach < 1<<30) || e.params.Zero != int32(int16(e.params.Zero)) {
		return post, nil, false
	}
	init = make([]int32, n)
	work := make([]trial, 0, mostTrials)
	for j := range n {
		f, ok := q.fit(j, reach, work)
		if !ok {
			return post, nil, false
		}
		init[j], post.Scale[j], post.Add[j], post.Low[j] = f.init, f.scale, f.add, f.low
	}
	return post, init, true
}
