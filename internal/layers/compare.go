package layers

import (
	"context"
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// Row is a value that a node makes, beside its counterpart.
type Row struct {
	Value graph.Value
	Node  int // of the side that is judged
	// Nodes are what was computed for Added: Node, and those before it whose own results have no counterpart.
	Nodes []int
	Total *Difference // in the whole network; nil: it was not computed, or has other sizes
	Added *Difference // when the node's inputs are their counterparts; nil: see Why
	Why   string
	// Coded says that Nodes quantize or dequantize: their results have the error of that.
	Coded bool
	// Resized says that the value has other sizes than its counterpart.
	Resized bool
}

// Compare returns a row for each value of the side's network that has a counterpart, in the order of computation. want
// are the counterparts, own what the side makes in a whole run; both by value of the side's graph. own may be nil.
func Compare(ctx context.Context, s *Side, own, want Values, step func(done, of int)) ([]Row, error) {
	order := orderOf(s.Graph)
	rows := []Row{}
	for i, n := range order {
		step(i, len(order))
		for _, v := range s.Graph.Nodes[n].Out {
			w, ok := want[v]
			if v == graph.None || !ok {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			r := Row{Value: v, Node: n, Nodes: []int{n}}
			if t, ok := own[v]; ok {
				if d, ok := Measure(t, w); ok {
					r.Total = &d
				}
			}
			got, nodes, err := s.Alone(ctx, v, want)
			switch d, ok := Measure(got, w); {
			case err != nil:
				r.Nodes, r.Why = nodes, err.Error()
			case !ok:
				r.Nodes, r.Resized = nodes, true
				r.Why = "its sizes are " + got.Type().Shape.String() + ", and " + w.Type().Shape.String() + " there"
			default:
				r.Nodes, r.Added = nodes, &d
			}
			r.Coded = slices.ContainsFunc(r.Nodes, func(n int) bool { return coded(s.Graph.Nodes[n].Op) })
			rows = append(rows, r)
		}
	}
	step(len(order), len(order))
	return rows, nil
}

// lead is by how many decibels a node must be worse than the median to stand out, and exact the ratio that nodes of
// float32 have at least, in whatever order they add, see Departures.
const (
	lead  = 40
	exact = 100
)

func coded(o graph.Op) bool {
	switch o.(type) {
	case *op.Quantize, *op.Dequantize:
		return true
	}
	return false
}

// Departures returns the indices of the rows whose nodes add more than they may, in the order of computation. A node
// departs when its result, made of the counterparts of its inputs, has a signal-to-noise ratio below limit; or below
// that of the median node by 40 dB and more, so that one wrong node shows between exact ones; or when it has other
// sizes. The median is that of the coded rows for these, and that of the others for those.
func Departures(rows []Row, limit float64) []int {
	limits := map[bool]float64{}
	for _, kind := range []bool{false, true} {
		limits[kind] = limit
		var ratios []float64
		for _, r := range rows {
			if r.Added != nil && r.Coded == kind {
				ratios = append(ratios, r.Added.SNR)
			}
		}
		if len(ratios) == 0 {
			continue
		}
		slices.Sort(ratios)
		if median := ratios[len(ratios)/2]; !math.IsInf(median, -1) {
			limits[kind] = max(limit, min(median-lead, exact))
		}
	}
	var list []int
	for i, r := range rows {
		if r.Added != nil && r.Added.SNR < limits[r.Coded] || r.Resized {
			list = append(list, i)
		}
	}
	return list
}
