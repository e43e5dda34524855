package fault

import (
	"fmt"
	"math"
)

// Numbers says how many things may be: "1 input", "2 to 3 inputs", "at least 1 input" where there is no limit but that
// of an int.
func Numbers(lo, hi int, thing string) string {
	s := "s"
	switch {
	case hi >= math.MaxInt32:
		if lo == 1 {
			s = ""
		}
		return fmt.Sprintf("at least %d %s%s", lo, thing, s)
	case lo < hi:
		return fmt.Sprintf("%d to %d %ss", lo, hi, thing)
	case lo == 1:
		s = ""
	}
	return fmt.Sprintf("%d %s%s", lo, thing, s)
}
