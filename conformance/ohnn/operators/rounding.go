package operators

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/conformance/ohnn/model"
	"github.com/anynpu/anynpu/conformance/suite"
)

// roundings says how the library rounds halves of 8-bit codes in cases that leave it open, by operator where operators
// differ; "" if no case told. The ways are those of gen/pattern.py.
func roundings(rep *suite.Report) string {
	var all []string
	byOp, cases := map[string][]string{}, 0
	for _, x := range rep.Results {
		if x.Rounding == "" {
			continue
		}
		fit := strings.Split(x.Rounding, model.Or)
		op, _, _ := strings.Cut(x.ID, "/")
		byOp[op] = narrow(byOp[op], fit)
		all = narrow(all, fit)
		cases++
	}
	switch {
	case cases == 0:
		return ""
	case len(all) > 0:
		return fmt.Sprintf("ohnn operators: halves of 8-bit codes are rounded %s: %d cases of %d operators",
			strings.Join(all, model.Or), cases, len(byOp))
	}
	var ways []string
	for _, op := range slices.Sorted(maps.Keys(byOp)) {
		way := strings.Join(byOp[op], model.Or)
		if way == "" {
			way = "in several ways"
		}
		ways = append(ways, op+" "+way)
	}
	return fmt.Sprintf("ohnn operators: halves of 8-bit codes are rounded by %s: %d cases", strings.Join(ways, ", by "),
		cases)
}

// narrow returns those of the ways that fit, too; nil ways are all.
func narrow(ways, fit []string) []string {
	if ways == nil {
		return fit
	}
	return slices.DeleteFunc(slices.Clone(ways), func(w string) bool { return !slices.Contains(fit, w) })
}
