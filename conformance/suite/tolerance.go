package suite

import "math"

// Tolerances of results of converted models. A device that computes in half precision rounds each step by up to 2^-11
// of a number: RealTolerance, as a part of the largest number of a result, leaves room for a few steps. A result in
// codes may be one code off. Other types, and models that a library gets as they are, have none.
const (
	RealTolerance = 1. / 256
	CodeTolerance = 1
)

// Right tells whether elements of a result are right: the same, or within the tolerance of their type if the library
// gets converted models. NaN is right where NaN is wanted.
func Right[E comparable](l *Library, got, want []E) bool {
	if len(got) != len(want) {
		return false
	}
	largest := 0.0
	for _, w := range want {
		if v := numberOf(w); !math.IsInf(v, 0) && v == v {
			largest = max(largest, math.Abs(v))
		}
	}
	for i, w := range want {
		g := got[i]
		if g == w || g != g && w != w {
			continue
		}
		bound := 0.0
		if l.Converted() {
			switch any(w).(type) {
			case float32, float64:
				bound = RealTolerance * largest
			case int8, uint8:
				bound = CodeTolerance
			}
		}
		if !(bound > 0 && math.Abs(numberOf(g)-numberOf(w)) <= bound) {
			return false
		}
	}
	return true
}

// numberOf is an element as a number, 0 if it is of no type that has a tolerance.
func numberOf(v any) float64 {
	switch v := v.(type) {
	case float32:
		return float64(v)
	case float64:
		return v
	case int8:
		return float64(v)
	case uint8:
		return float64(v)
	}
	return 0
}
