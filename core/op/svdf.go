package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// SVDF is one step of a layer whose filters over time and features have rank Rank: each filter is a product over the
// features, of which the last steps are kept, and a product over these steps. With F filters, M steps, U = F/Rank units
// and s the state [B,F,M]:
//
//	s[b,f,M-1] = sum over i of x[b,i] * features[f,i]
//	y[b,u] = bias[u] + sum over r < Rank, m of s[b,u*Rank+r,m] * time[u*Rank+r,m]
//
// The state handed on is s, shifted by one step to the front, with 0 as the last step. The last step of the given state
// is not read.
//
// Inputs, float or quantized: x [B,I]; features [F,I]; time [F,M], M >= 1; bias? [U]; state [B,F*M], the steps of a
// filter side by side. Outputs: y [B,U]; state [B,F*M]. Sums in float64. An F that Rank does not divide is an error of
// kind fault.Shape. Source: ANEURALNETWORKS_SVDF, whose activation is an operator behind this one.
type SVDF struct {
	Rank int64 // 1 or more
}

func init() { graph.Register[*SVDF]("svdf", graph.Traits{}) }

// Infer returns y and the state.
func (o *SVDF) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 3, 5, declared, 2, 2); err != nil {
		return nil, err
	}
	if !present(in, 4) {
		return nil, fault.New(fault.Argument, "input 4 is missing")
	}
	if o.Rank < 1 || o.Rank > maxWindow {
		return nil, fault.New(fault.Argument, "rank: want 1 or more, got %d", o.Rank)
	}
	for i := range in {
		if !present(in, i) {
			continue
		}
		if err := wantTensor(in, i, realWords, isReal); err != nil {
			return nil, err
		}
	}
	batch, features, filters, steps := anySize(), anySize(), anySize(), anySize()
	for i, want := range [][]*tensor.Dim{{batch, features}, {filters, features}, {filters, steps}} {
		if err := fit(in, i, want...); err != nil {
			return nil, err
		}
	}
	units, state := anySize(), anySize()
	if filters.Known() {
		if filters.N%o.Rank != 0 {
			return nil, fault.New(fault.Shape, "input 1: %d filters are no multiple of the rank %d", filters.N, o.Rank)
		}
		*units = tensor.D(filters.N / o.Rank)
	}
	if steps.Known() && steps.N < 1 {
		return nil, fault.New(fault.Shape, "input 2: want 1 step or more, got %v", in[2].Shape)
	}
	if filters.Known() && steps.Known() {
		var err error
		if *state, err = timesDims(*filters, *steps); err != nil {
			return nil, err
		}
	}
	if err := fit(in, 3, units); err != nil {
		return nil, err
	}
	if err := fit(in, 4, batch, state); err != nil {
		return nil, err
	}
	return []tensor.Fact{outType(declared[0], in[0], tensor.OfDims(*batch, *units)),
		outType(declared[1], in[4], tensor.OfDims(*batch, *state))}, nil
}
