package operators

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/conformance/suite"
)

// roundings says how the library rounds halves of 8-bit codes in cases that leave it open, by operator, "" if no case
// told. The ways are those of gen/pattern.py.
func roundings(rep *suite.Report) string {
	byWay, cases := map[string]map[string]bool{}, 0
	for _, x := range rep.Results {
		if x.Rounding == "" {
			continue
		}
		if byWay[x.Rounding] == nil {
			byWay[x.Rounding] = map[string]bool{}
		}
		op, _, _ := strings.Cut(x.ID, "/")
		byWay[x.Rounding][op] = true
		cases++
	}
	if cases == 0 {
		return ""
	}
	var ways []string
	for _, way := range slices.Sorted(maps.Keys(byWay)) {
		ops := slices.Sorted(maps.Keys(byWay[way]))
		ways = append(ways, fmt.Sprintf("%s (%s)", way, strings.Join(ops, ", ")))
	}
	return fmt.Sprintf("ohnn operators: halves of 8-bit codes are rounded %s: %d cases", strings.Join(ways, "; "), cases)
}
