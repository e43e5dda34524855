package kernel

import (
	"fmt"
	"math"
)

// Requantize says how a sum of integer products becomes a code. In Go, for
// column j:
//
//	v := float32(sum) * Scale[j] // rounded
//	v += Add[j]                  // rounded
//	code = clamp(roundToEven(v) + Zero, Lo, Hi)
//
// The arithmetic is float32 with the roundings shown, the same for every
// instruction set, to the bit. |v| must stay below 2^31; roundToEven(v) counts as
// a 16-bit number beyond which nothing lies, as does the sum with Zero.
//
// With Low the factor has two parts, and there is one rounding:
//
//	v := float32(sum)*Scale[j] + Add[j] // exact where a code is in range
//	code = clamp(floor(v + float32(sum)*Low[j]) + Zero, Lo, Hi)
//
// That is exact for a Scale that is a multiple of 2^-15; 1/2 in Add makes halves
// go up.
type Requantize struct {
	Init       []int32   // per column, what a sum starts with; nil: zeros
	Scale, Add []float32 // per column; Add may be nil without Low: zeros
	Low        []float32 // per column; nil: Scale is all
	Zero       int       // of 16 bits
	Lo, Hi     uint8
}

func (q *Requantize) check(fn string, n int) {
	need(fn, "Scale", len(q.Scale), n)
	if q.Init != nil {
		need(fn, "Init", len(q.Init), n)
	}
	if q.Add != nil || q.Low != nil {
		need(fn, "Add", len(q.Add), n)
	}
	if q.Low != nil {
		need(fn, "Low", len(q.Low), n)
	}
	if q.Zero != int(int16(q.Zero)) {
		panic(fmt.Sprintf("kernel: %s: zero point %d does not fit 16 bits", fn, q.Zero))
	}
}

// code is the definition.
func (q *Requantize) code(sum int32, j int) uint8 {
	if q.Low != nil {
		return q.narrow(q.down(sum, j))
	}
	v := float32(sum) * q.Scale[j]
	if q.Add != nil {
		v = float32(v) + q.Add[j]
	}
	return q.narrow(toInt(v))
}

// down is the floor of a sum times the two parts of the factor.
func (q *Requantize) down(sum int32, j int) int32 {
	s := float64(float32(sum))
	v, w := float64(s*float64(q.Scale[j]))+float64(q.Add[j]), s*float64(q.Low[j])
	x := v + w
	rest := x - v
	rest = (v - (x - rest)) + (w - rest) // what is lost in x
	f := math.Floor(x)
	if f == x && rest < 0 {
		f--
	}
	if !(f < 1<<31 && f >= -1<<31) {
		return math.MinInt32
	}
	return int32(f)
}

// toInt rounds to even as the processor does: what is out of range is the smallest integer.
func toInt(v float32) int32 {
	if !(v < 1<<31 && v >= -1<<31) {
		return math.MinInt32
	}
	return int32(math.RoundToEven(float64(v)))
}

// narrow adds the zero point, saturating, and clamps.
func (q *Requantize) narrow(v int32) uint8 {
	v = min(max(v, math.MinInt16), math.MaxInt16) + int32(q.Zero)
	return uint8(min(max(v, int32(q.Lo)), int32(q.Hi)))
}
