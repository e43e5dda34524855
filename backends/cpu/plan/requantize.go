package plan

import (
	"math"
	"unsafe"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// requantized turns sums into codes: round(sum*scale[j] + offset[j] as reals, divided by step, plus zero) in float64, halves away from zero.
type requantized struct {
	scale, offset    []float64 // per column
	step, zero       float64
	lo, hi           float64
	quick, quickZero []float64 // scale/step, offset/step + zero: the result but for some units in the last place
	close            float64   // results as close as this to a half are computed again
}

func newRequantized(t tensor.Type, scale, offset []float64) *requantized {
	lo, hi := tensor.IntLimits(t.DType)
	q := &requantized{scale: scale, offset: offset, step: float64(t.Quant.Scale[0]), zero: float64(t.Quant.ZeroAt(0)), lo: float64(lo), hi: float64(hi), close: 1e-6}
	for j := range scale {
		q.quick = append(q.quick, scale[j]/q.step)
		q.quickZero = append(q.quickZero, offset[j]/q.step+q.zero)
		if math.Abs(q.quickZero[j]) > 1e7 {
			q.close = 1
		}
	}
	return q
}

// exactly is the definition.
func (q *requantized) exactly(sum float64, j int) byte {
	v := (sum*q.scale[j]+q.offset[j])/q.step + q.zero
	return byte(int(min(max(math.Round(v), q.lo), q.hi)))
}

// row computes one row of codes.
func (q *requantized) row(dst []byte, sums []float32) {
	scale, zero := q.quick[:len(dst)], q.quickZero[:len(dst)]
	sums = sums[:len(dst)]
	const up = 512.5
	lo, hi := q.lo+up, q.hi+up
	for j, s := range sums {
		v := float64(float64(s)*scale[j]) + (zero[j] + up)
		v = min(max(v, lo), hi)
		k := int(v)
		if f := v - float64(k); f < q.close || f > 1-q.close {
			dst[j] = q.exactly(float64(s), j)
			continue
		}
		dst[j] = byte(k - 512)
	}
}

// requantizeTask turns rows of sums into codes; sums that were computed in parts are added first.
type requantizeTask struct {
	st         *step
	q          *requantized
	rows, cols int
	per        int
	parts      [][]float32
	y          []byte
}

// requantize adds the step that stores sums as v.
func (b *builder) requantize(v graph.Value, sums []graph.Value, q *requantized) {
	y := &b.values[v]
	cols := len(q.scale)
	t := requantizeTask{q: q, rows: y.count() / cols, cols: cols, per: max(1, blockLen/4/cols)}
	s := step{fast: true}
	for _, p := range sums {
		s.reads = append(s.reads, b.wantPlain(p))
	}
	s.writes = []int{b.makeBytes(v)}
	s.start = func(_ *State, st *step) process {
		own := t
		own.st, own.parts = st, make([][]float32, len(sums))
		return &own
	}
	b.unnamed(s)
}

func (t *requantizeTask) run(s *State) error {
	for i, r := range t.st.reads {
		t.parts[i] = s.f32(r)
	}
	t.y = s.mem[t.st.writes[0]]
	s.do((t.rows+t.per-1)/t.per, t)
	return nil
}

// Chunk stores some rows.
func (t *requantizeTask) Chunk(i, _ int) {
	for r := i * t.per; r < min(t.rows, (i+1)*t.per); r++ {
		y := t.y[r*t.cols:][:t.cols]
		if len(t.parts) == 1 {
			t.q.row(y, t.parts[0][r*t.cols:])
			continue
		}
		for j := range y {
			var sum int32
			for _, p := range t.parts {
				sum += int32(p[r*t.cols+j])
			}
			y[j] = t.q.exactly(float64(sum), j)
		}
	}
}

func signedBytes(b []byte) []int8 {
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}
