package tensordump

import (
	"path"
	"strconv"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
)

// Selection says what is written. The zero Selection is every value of every run.
type Selection struct {
	patterns   []string
	runs       [][2]int // first and last, from 0
	statistics bool     // no files of values

	// Fused leaves programs as they are without a dump: of nodes that are computed together only the results of the last
	// one are there to be written.
	Fused bool
}

// Select reads a selection: patterns of names as path.Match has them and numbers of runs ("0,3-5"), both separated by
// commas, and "files" or "statistics". An empty part selects all.
func Select(names, runs, form string) (s Selection, err error) {
	for _, p := range fields(names) {
		if _, err := path.Match(p, ""); err != nil {
			return s, fault.New(fault.Argument, "%q: want a pattern such as conv*", p)
		}
		s.patterns = append(s.patterns, p)
	}
	for _, r := range fields(runs) {
		from, to, both := strings.Cut(r, "-")
		first, err := strconv.ParseUint(from, 10, 31)
		last := first
		if err == nil && both {
			last, err = strconv.ParseUint(to, 10, 31)
		}
		if err != nil || last < first {
			return s, fault.New(fault.Argument, "%q: want numbers of runs such as 0,3-5", r)
		}
		s.runs = append(s.runs, [2]int{int(first), int(last)})
	}
	switch form {
	case "", "files":
	case "statistics":
		s.statistics = true
	default:
		return s, fault.New(fault.Argument, "%q: want files or statistics", form)
	}
	return s, nil
}

func fields(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// Name reports whether a value is written.
func (s Selection) Name(name string) bool {
	for _, p := range s.patterns {
		if ok, _ := path.Match(p, name); ok {
			return true
		}
	}
	return len(s.patterns) == 0
}

func (s Selection) run(n int) bool {
	for _, r := range s.runs {
		if r[0] <= n && n <= r[1] {
			return true
		}
	}
	return len(s.runs) == 0
}
