package node

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
)

// Report sums results up.
type Report struct {
	Lines                     []string // one per failure, and per entry of the list of known failures that does not fail
	Passed, Excluded, Counted int
	Kinds                     map[string]int // of those excluded
	Refused                   int            // of those that count
	Drawn, DrawnPassed        int            // of those that count: tests of Bernoulli, judged by statistics
	Unexpected                int            // failures that are not listed, listed ones that pass
}

// Share returns the percentage that passed of the tests that count and are not refused by name.
func (r Report) Share() float64 {
	if r.Counted == r.Refused {
		return 0
	}
	return 100 * float64(r.Passed) / float64(r.Counted-r.Refused)
}

// String is the last line of a run.
func (r Report) String() string {
	s := fmt.Sprintf("onnx node tests: passed %d of %d, refused %d by name (%.1f %% of the others), excluded %d", r.Passed,
		r.Counted, r.Refused, r.Share(), r.Excluded)
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(r.Kinds)) {
		kinds = append(kinds, fmt.Sprintf("%s %d", kind, r.Kinds[kind]))
	}
	if len(kinds) > 0 {
		s += " (" + strings.Join(kinds, ", ") + ")"
	}
	if r.Drawn > 0 {
		s += fmt.Sprintf("; %d draw random numbers: judged by frequencies over %d runs, with a seed by the spread of the "+
			"thresholds; without them %d of %d (%.1f %%)", r.Drawn, bernoulliRuns, r.Passed-r.DrawnPassed, r.Counted-r.Drawn,
			100*float64(r.Passed-r.DrawnPassed)/float64(max(1, r.Counted-r.Drawn)))
	}
	return s
}

// Judge compares results with the known failures; whole tells that every test was run.
func Judge(results []Result, known map[string]string, whole bool) Report {
	r := Report{Kinds: map[string]int{}}
	seen := map[string]bool{}
	for _, t := range results {
		seen[t.Name] = true
		reason, listed := known[t.Name]
		switch {
		case t.Excluded != "":
			r.Excluded++
			r.Kinds[t.Excluded]++
			continue
		case t.Failure == "":
			r.Passed++
			if listed {
				r.Unexpected++
				r.Lines = append(r.Lines, fmt.Sprintf("passes but is listed: %s", t.Name))
			}
		case listed:
			r.Lines = append(r.Lines, fmt.Sprintf("known: %s: %s (%s)", t.Name, t.Failure, reason))
		default:
			r.Unexpected++
			r.Lines = append(r.Lines, fmt.Sprintf("FAILED: %s: %s", t.Name, t.Failure))
		}
		r.Counted++
		if t.Refused {
			r.Refused++
		}
		if isBernoulli(t.Name) {
			r.Drawn++
			if t.Failure == "" {
				r.DrawnPassed++
			}
		}
	}
	for name := range known {
		if whole && !seen[name] {
			r.Unexpected++
			r.Lines = append(r.Lines, fmt.Sprintf("listed but there is no such test: %s", name))
		}
	}
	return r
}

// ReadKnown reads a list of known failures: a name and a reason a line, # begins a comment. An empty path is an empty
// list.
func ReadKnown(path string) (map[string]string, error) {
	known := map[string]string{}
	if path == "" {
		return known, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.As(fault.File, err, "known failures")
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		name, reason, _ := strings.Cut(line, " ")
		if strings.TrimSpace(reason) == "" {
			return nil, fault.New(fault.File, "known failures: %s: no reason", name)
		}
		known[name] = strings.TrimSpace(reason)
	}
	return known, fault.As(fault.File, lines.Err(), "known failures")
}
