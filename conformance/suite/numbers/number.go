package numbers

import (
	"math"
	"strconv"
	"strings"
)

// Number is a JSON number, or one of the strings "nan", "inf", "-inf". Integers of 64 bits are exact.
type Number struct {
	Real float64
	Int  uint64 // an integer modulo 2^64; of a fraction its whole part
}

// Real returns the number of a float.
func Real(f float64) Number {
	n := Number{Real: f}
	if !math.IsNaN(f) && !math.IsInf(f, 0) {
		n.Int = uint64(int64(f))
	}
	return n
}

// Int returns the number of a signed integer, or of an unsigned one with the same 64 bits.
func Int(i int64) Number { return Number{float64(i), uint64(i)} }

// UnmarshalJSON reads either form.
func (n *Number) UnmarshalJSON(b []byte) error {
	s := strings.Trim(string(b), `"`)
	f, err := strconv.ParseFloat(s, 64)
	*n = Real(f)
	if i, e := strconv.ParseInt(s, 10, 64); e == nil {
		n.Int = uint64(i)
	} else if u, e := strconv.ParseUint(s, 10, 64); e == nil {
		n.Int = u
	}
	return err
}

// String returns the number as it is written in a case.
func (n Number) String() string {
	switch {
	case n.Real != math.Trunc(n.Real) || math.Abs(n.Real) > 1<<64:
		return strconv.FormatFloat(n.Real, 'g', -1, 64)
	case n.Real < 0:
		return strconv.FormatInt(int64(n.Int), 10)
	}
	return strconv.FormatUint(n.Int, 10)
}
