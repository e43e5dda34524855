package devicecheck

import (
	"cmp"
	"slices"
)

// Row is the results of one operator.
type Row struct {
	Op         string
	Count      map[Outcome]int
	Difference float64 // the largest of those that pass or are wrong
	MinMS      float64 // the sum of the lowest times
	Reasons    []Reason
}

// Reason is why checks do not pass.
type Reason struct {
	Outcome Outcome
	Why     string
	Checks  int
}

// Rows are the results by operator, in order.
func Rows(results []Result) []Row {
	var rows []Row
	for _, r := range results {
		i := slices.IndexFunc(rows, func(row Row) bool { return row.Op == r.Op })
		if i < 0 {
			i = len(rows)
			rows = append(rows, Row{Op: r.Op, Count: map[Outcome]int{}})
		}
		rows[i].add(r)
	}
	for i := range rows {
		slices.SortStableFunc(rows[i].Reasons, func(a, b Reason) int { return cmp.Compare(b.Checks, a.Checks) })
	}
	return rows
}

func (row *Row) add(r Result) {
	row.Count[r.Outcome]++
	row.Difference = max(row.Difference, r.Difference)
	row.MinMS += r.MinMS
	if r.Why == "" {
		return
	}
	i := slices.IndexFunc(row.Reasons, func(w Reason) bool { return w.Outcome == r.Outcome && w.Why == r.Why })
	if i < 0 {
		i = len(row.Reasons)
		row.Reasons = append(row.Reasons, Reason{r.Outcome, r.Why, 0})
	}
	row.Reasons[i].Checks++
}

// Total adds up the checks of an outcome.
func Total(rows []Row, o Outcome) int {
	n := 0
	for _, r := range rows {
		n += r.Count[o]
	}
	return n
}
