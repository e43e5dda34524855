package ohnn

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	lowerAll(map[string]func(n *node) error{"LSTM": lowerLSTM})
}

// lowerLSTM: one layer, gates in the order input, output, forget, cell, without projection; DROPOUT means nothing when
// a model runs. The sequence comes out as [T,D,B,H], or, declared with rank 3, as [T,B,D H].
func lowerLSTM(n *node) error {
	directions := int64(1)
	o := &op.LSTM{Gates: op.GatesIOFC, ZoneoutCell: n.float("ZONEOUT_CELL", 0), ZoneoutHidden: n.float("ZONEOUT_HIDDEN",
		0)}
	if n.flag("BIDIRECTIONAL", false) {
		o.Direction, directions = op.Bidirectional, 2
	}
	if err := n.checkLSTM(directions); err != nil {
		return err
	}
	bias := graph.None
	if n.flag("HAS_BIAS", false) {
		bias = n.in(3)
	}
	declared := []tensor.Type{n.outType(0), n.outType(1), n.outType(2)}
	declared[0].Shape = tensor.AnyShape()
	out, err := n.addTyped(o, declared, n.in(0), n.in(1), n.in(2), bias, graph.None, n.in(4), n.in(5))
	if err != nil {
		return err
	}
	y := out[0]
	if n.outType(0).Shape.Rank() == 3 {
		if y, err = n.addAs(0, &op.Transpose{}, y, n.b.Int64s(0, 2, 1, 3)); err != nil {
			return err
		}
		features := int64(-1) // the run knows
		if hidden := n.fact(2).Shape.Dims[2]; hidden.Known() {
			features = directions * hidden.N
		}
		if y, err = n.addAs(0, &op.Reshape{ZeroCopies: true}, y, n.b.Int64s(0, 0, features)); err != nil {
			return err
		}
	}
	for i, v := range []graph.Value{y, out[1], out[2]} {
		if err := n.put(i, v); err != nil {
			return err
		}
	}
	return nil
}

// checkLSTM refuses parameters that contradict each other or the tensors, and what only other engines have.
func (n *node) checkLSTM(directions int64) error {
	for i, rank := range []int{3, 3, 3, 2, 3, 3} {
		if i == 3 && !n.flag("HAS_BIAS", false) {
			continue
		}
		if err := n.wantRank(i, rank, rank); err != nil {
			return err
		}
		if err := n.wantReals(i); err != nil {
			return err
		}
	}
	if v := n.int("NUM_LAYERS", 1); v < 0 || v > 1 {
		return fault.New(fault.Unsupported, "NUM_LAYERS: %d: only one layer is supported: chain operations "+
			"[ohnn-num-layers-layer]", v)
	}
	if v := n.int("PROJ_SIZE", 0); v != 0 {
		return fault.New(fault.Unsupported, "PROJ_SIZE: %d: projection is not supported [ohnn-proj-size-projection]", v)
	}
	for _, name := range []string{"ZONEOUT_CELL", "ZONEOUT_HIDDEN"} {
		if v := n.float(name, 0); !(v >= 0 && v <= 1) {
			return fault.New(fault.Argument, "%s: %v: want 0 to 1 [ohnn-parameter-fraction]", name, v)
		}
	}
	for _, p := range []struct {
		name string
		want tensor.Dim
		from string
	}{
		{"NUM_DIRECTIONS", tensor.D(directions), "BIDIRECTIONAL"},
		{"INPUT_SIZE", n.fact(0).Shape.Dims[2], "the last dimension of input 0"},
		{"HIDDEN_SIZE", n.fact(2).Shape.Dims[2], "the last dimension of input 2"},
	} {
		if v := n.int(p.name, 0); v != 0 && p.want.Known() && v != p.want.N {
			return fault.New(fault.Argument, "%s: %d: want %d as %s says "+
				"[ohnn-parameter-differs]", p.name, v, p.want.N, p.from)
		}
	}
	return nil
}
