package hbdnn

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/tensor"
)

// tellsAxis reports whether the API can describe codes with a scale for each index of an axis. Its zero points have
// 8 bits and a sign, and its generations before 1.14 do not say which axis it is.
func tellsAxis(q *tensor.Quant) bool { return served().axis && !slices.ContainsFunc(q.Zero, tooWide) }

func tooWide(zero int32) bool { return zero < math.MinInt8 || zero > math.MaxInt8 }

// shiftsOf returns the shift of each scale: a code stands for itself / 2^shift. Without one, why says which code needs
// a scale.
func shiftsOf(q *tensor.Quant) (shifts []uint8, why string) {
	for i, s := range q.Scale {
		fraction, exponent := math.Frexp(float64(s))
		n := 1 - exponent
		switch {
		case q.ZeroAt(i) != 0:
			return nil, "a zero point other than 0"
		case fraction != 0.5 || n < 0 || n > math.MaxUint8:
			return nil, "a scale that is not 1, 1/2, 1/4 and so on"
		}
		shifts = append(shifts, uint8(n))
	}
	return shifts, ""
}
