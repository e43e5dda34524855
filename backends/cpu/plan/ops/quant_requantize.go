package ops

import (
	"math"
	"slices"
	"unsafe"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/tensor"
)

// requantized makes codes of sums: round(sum*scale[j] + offset[j] as real values, divided by step, plus zero) in
// float64, halves away from zero.
type requantized struct {
	scale, offset []float64 // per column
	step, zero    float64
	lo, hi        float64

	// float32 gives the same but for results close to a half, which are computed again.
	signed       bool
	rows         int       // that are computed at once
	quick, shift []float32 // scale/step and offset/step, for that many rows
	close        float32   // the largest error
}

// exactCodes is an error that says nothing about halves.
const exactCodes = 0.25

func newRequantized(c ir.QuantParams, scale, offset []float64) *requantized {
	lo, hi, zero := c.Limits()
	q := &requantized{
		scale: scale, offset: offset, step: float64(c.Scale), zero: float64(zero), lo: float64(lo),
		hi:     float64(hi),
		signed: c.DType == tensor.Int8, rows: max(1, 512/len(scale)),
	}
	largest := 0.0
	for j := range scale {
		largest = max(largest, math.Abs(offset[j]/q.step))
	}
	// A sum times quick is at most 512 + largest when the result is in range; each of three roundings errs by 2^-24 of it.
	q.close = float32(min(exactCodes, 4*(1024+largest)/(1<<24)))
	for i := range q.rows*len(scale) + kernel.NearestStep {
		j := i % len(scale)
		q.quick = append(q.quick, float32(scale[j]/q.step))
		q.shift = append(q.shift, float32(offset[j]/q.step))
	}
	if slices.ContainsFunc(q.quick, func(v float32) bool { return !finite(v) }) {
		q.close = exactCodes
	}
	return q
}

// exactly is the definition.
func (q *requantized) exactly(sum float64, j int) byte {
	v := (sum*q.scale[j]+q.offset[j])/q.step + q.zero
	return byte(int(min(max(math.Round(v), q.lo), q.hi)))
}

// work is how many values of scratch memory store needs.
func (q *requantized) work() int { return 16 + 2*kernel.NearestStep }

// store computes up to q.rows rows of codes.
func (q *requantized) store(dst []byte, sums, work []float32) {
	n := len(dst)
	sums = sums[:n]
	cols := len(q.scale)
	if q.close >= exactCodes || q.zero < q.lo || q.zero > q.hi {
		for i, s := range sums {
			dst[i] = q.exactly(float64(s), i%cols)
		}
		return
	}
	zero, flip := int(q.zero), uint8(0)
	if q.signed {
		zero, flip = zero+128, 128
	}
	far, near := 0.5-q.close, run.BytesOf(work[:16])
	for from := 0; from < n; {
		end := min(n, from+len(near)*kernel.NearestStep)
		d, x := dst[from:end], sums[from:end]
		if whole := (end - from) &^ (kernel.NearestStep - 1); whole > 0 {
			end, d, x = from+whole, d[:whole], x[:whole]
		} else { // the rest, as the front of a whole block
			x, d = work[16:][:kernel.NearestStep], run.BytesOf(work[16+kernel.NearestStep:])[:kernel.NearestStep]
			clear(x[copy(x, sums[from:end]):])
		}
		kernel.NearestU8(d, x, q.quick[from:], q.shift[from:], zero, flip, far, near)
		if end-from < len(d) {
			copy(dst[from:end], d)
		}
		for k := range len(d) / kernel.NearestStep {
			if near[k] == 0 {
				continue
			}
			for i := from + k*kernel.NearestStep; i < min(end, from+(k+1)*kernel.NearestStep); i++ {
				v := float64(float32(sums[i]*q.quick[i]) + q.shift[i])
				if math.Abs(v-math.RoundToEven(v)) > float64(far) || v-v != 0 {
					dst[i] = q.exactly(float64(sums[i]), i%cols)
				}
			}
		}
		from = end
	}
}

// requantizeTask turns rows of sums into codes; sums that were computed in parts are added first.
type requantizeTask struct {
	st         *run.Step
	q          *requantized
	rows, cols int
	per        int
	parts      [][]float32
	y          []byte
	work       []float32
}

// requantizeOp stores sums, whose parts are its operands, as codes.
type requantizeOp struct {
	ir.InOrder
	task requantizeTask
}

func newRequantize(q *requantized, n int) *requantizeOp {
	cols := len(q.scale)
	return &requantizeOp{task: requantizeTask{q: q, rows: n / cols, cols: cols,
		per: max(1, run.BlockLen/4/(cols*q.rows)) * q.rows}}
}

func (r *requantizeOp) Lower(_ *ir.Lowering, n *ir.Node) run.Step {
	t, parts := r.task, len(n.In)
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		own := t
		own.st, own.parts = st, make([][]float32, parts)
		return &own
	}}
}

func (t *requantizeTask) Run(s *run.State) error {
	for i, r := range t.st.Reads {
		t.parts[i] = s.F32(r)
	}
	t.y = s.Mem[t.st.Writes[0]]
	var err error
	if t.work, err = s.Borrow(max(1, s.Threads) * t.q.work()); err != nil {
		return err
	}
	s.Do((t.rows+t.per-1)/t.per, t)
	return nil
}

// Chunk stores some rows.
func (t *requantizeTask) Chunk(i, worker int) {
	end := min(t.rows, (i+1)*t.per)
	for r := i * t.per; r < end; r += t.q.rows {
		from, to := r*t.cols, min(end, r+t.q.rows)*t.cols
		y := t.y[from:to]
		if len(t.parts) == 1 {
			t.q.store(y, t.parts[0][from:to], t.work[worker*t.q.work():][:t.q.work()])
			continue
		}
		for j := range y {
			var sum int32
			for _, p := range t.parts {
				sum += int32(p[from+j])
			}
			y[j] = t.q.exactly(float64(sum), j%t.cols)
		}
	}
}

func signedBytes(b []byte) []int8 {
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}
