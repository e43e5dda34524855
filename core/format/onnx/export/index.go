package export

import (
	"github.com/anynpu/anynpu/core/format/onnx/lower"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// indices is input i as int32 or int64.
func (n *node) indices(i int) string {
	if d := n.fact(i).DType; d == tensor.Int32 || d == tensor.Int64 {
		return n.code(i)
	}
	return n.cast(n.code(i), tensor.Int64)
}

// long is input i as int64.
func (n *node) long(i int) string {
	if n.fact(i).DType == tensor.Int64 {
		return n.code(i)
	}
	return n.cast(n.code(i), tensor.Int64)
}

// word is the shortest text that stands for a value; false if there is none.
func word[V comparable](of map[string]V, v V) (string, bool) {
	best := ""
	for text, is := range of {
		if is == v && text != "" && (best == "" || len(text) < len(best) || len(text) == len(best) && text < best) {
			best = text
		}
	}
	return best, best != ""
}

// moving is the rule of an operator that moves the elements of input 0.
func moving[O graph.Op](f func(n *node, o O, x string) (string, error)) rule {
	return on(func(n *node, o O) error {
		return n.move([]int{0}, func(x []string) (string, error) { return f(n, o, x[0]) })
	})
}

func indexRules() []rule {
	return []rule{
		moving(func(n *node, _ *op.Gather, x string) (string, error) {
			axis := []int64{0}
			if n.has(2) {
				var err error
				if axis, err = n.known(2, "the axis"); err != nil {
					return "", err
				}
			}
			return n.one("Gather", []string{x, n.indices(1)}, number("axis", axis[0])), nil
		}),
		moving(func(n *node, o *op.GatherElements, x string) (string, error) {
			return n.one("GatherElements", []string{x, n.indices(1)}, number("axis", o.Axis)), nil
		}),
		moving(func(n *node, o *op.GatherND, x string) (string, error) {
			return n.one("GatherND", []string{x, n.long(1)}, number("batch_dims", o.BatchDims)), nil
		}),
		on(func(n *node, o *op.ScatterElements) error {
			return n.scatter("ScatterElements", n.indices(1), o.Reduction, number("axis", o.Axis))
		}),
		on(func(n *node, o *op.ScatterND) error { return n.scatter("ScatterND", n.long(1), o.Reduction) }),
		moving(func(n *node, o *op.Compress, x string) (string, error) {
			if o.Flatten {
				return n.one("Compress", []string{x, n.code(1)}), nil
			}
			return n.one("Compress", []string{x, n.code(1)}, number("axis", o.Axis)), nil
		}),
		on(func(n *node, o *op.Unique) error {
			attrs := []attr{flag("sorted", !o.Unsorted)}
			if !o.Flatten {
				attrs = append(attrs, number("axis", o.Axis))
			}
			as := n.carried(0)
			x := n.x(0)
			if as {
				x = n.code(0)
			}
			out := n.emit("Unique", len(n.n.Out), []string{x}, attrs...)
			for k := 1; k < len(out); k++ {
				if err := n.set(k, out[k], tensor.Int64); err != nil {
					return err
				}
			}
			if as {
				n.put(0, out[0])
				return nil
			}
			return n.set(0, out[0], n.dtype(0))
		}),
		on(exportOneHot),
		on(exportTopK),
		on(func(n *node, o *op.ArgMax) error { return n.argument("ArgMax", o.Axis, o.KeepDims, o.SelectLast) }),
		on(func(n *node, o *op.ArgMin) error { return n.argument("ArgMin", o.Axis, o.KeepDims, o.SelectLast) }),
		on(func(n *node, o *op.NonMaxSuppression) error {
			in := n.codes()
			for i := range in {
				switch {
				case i == 2 && n.has(i):
					in[i] = n.scalar(i)
				case i != 2:
					in[i] = n.as(i, tensor.Float32)
					if i > 2 && n.has(i) && n.fact(i).Shape.Rank() != 0 {
						in[i] = n.reshape(in[i])
					}
				}
			}
			return n.set(0, n.one("NonMaxSuppression", in, flag("center_point_box", o.CenterBox)), tensor.Int64)
		}),
		on(func(n *node, _ *op.HashtableLookup) error {
			return exportLookup(n)
		}),
		moving(func(n *node, o *op.ReverseSequence, x string) (string, error) {
			r, err := n.rank(0)
			if err != nil {
				return "", err
			}
			batch, time := (o.BatchAxis+int64(r))%int64(r), (o.TimeAxis+int64(r))%int64(r)
			perm := []int64{time, batch}
			for i := range int64(r) {
				if i != batch && i != time {
					perm = append(perm, i)
				}
			}
			if batch == 0 && time == 1 {
				return n.one("ReverseSequence", []string{x, n.long(1)}, number("batch_axis", 0), number("time_axis", 1)), nil
			}
			y := n.one("ReverseSequence", []string{n.transpose(x, perm...), n.long(1)}, number("batch_axis", 1),
				number("time_axis", 0))
			return n.transpose(y, inverse(perm)...), nil
		}),
		on(func(n *node, o *op.TensorScatter) error {
			n.needs(24)
			mode := "linear"
			if o.Circular {
				mode = "circular"
			}
			return n.move([]int{0, 1}, func(x []string) (string, error) {
				in := []string{x[0], x[1], ""}
				if n.has(2) {
					in[2] = n.long(2)
				}
				return n.one("TensorScatter", in, number("axis", o.Axis), text("mode", mode)), nil
			})
		}),
	}
}

// inverse is the permutation that undoes another.
func inverse(perm []int64) []int64 {
	out := make([]int64, len(perm))
	for i, p := range perm {
		out[p] = int64(i)
	}
	return out
}

func (n *node) scatter(name, at string, r op.ScatterReduction, attrs ...attr) error {
	how, ok := word(lower.Reductions, r)
	if !ok {
		return refuse("there is no reduction %d", r)
	}
	attrs = append(attrs, text("reduction", how))
	if r == op.ScatterSet {
		return n.move([]int{0, 2}, func(x []string) (string, error) {
			return n.one(name, []string{x[0], at, x[1]}, attrs...), nil
		})
	}
	return n.set(0, n.one(name, []string{n.x(0), at, n.x(2)}, attrs...), n.dtype(0))
}

// exportOneHot: indices below 0 count from the end in ONNX.
func exportOneHot(n *node, o *op.OneHot) error {
	at := n.x(0)
	if n.dtype(0) != tensor.Int64 {
		at = n.cast(at, tensor.Int64)
	}
	depth := n.scalar(1)
	if o.Outside == op.OneHotOff {
		at = n.one("Where", []string{n.one("Less", []string{at, n.int(0)}), depth, at})
	}
	return n.move([]int{2, 3}, func(x []string) (string, error) {
		values := n.one("Concat", []string{n.reshape(x[1], 1), n.reshape(x[0], 1)}, number("axis", 0))
		return n.one("OneHot", []string{at, depth, values}, number("axis", o.Axis)), nil
	})
}

// exportTopK: of equal elements ONNX has the first first. The last comes first in the reversed line.
func exportTopK(n *node, o *op.TopK) error {
	as := n.carried(0)
	x, d := n.x(0), n.dtype(0)
	if as {
		x, d = n.code(0), n.fact(0).DType
	}
	if q := n.fact(0).Quant; as && q != nil && !q.IsPerTensor() {
		as, x, d = false, n.x(0), tensor.Float32
	}
	plain := d
	if d.IsInt() && d.Bits() < 32 {
		x, d = n.cast(x, tensor.Int32), tensor.Int32
	}
	size := ""
	if o.SelectLast {
		size = n.reshape(n.one("Gather", []string{n.one("Shape", []string{x}), n.int(o.Axis)}))
		x = n.one("Slice", []string{x, n.ints(-1), n.ints(-1 << 63), n.ints(o.Axis), n.ints(-1)})
	}
	k := n.vector(1)
	out := n.emit("TopK", 2, []string{x, k}, number("axis", o.Axis), flag("largest", !o.Smallest), number("sorted", 1))
	values, at := out[0], out[1]
	if o.SelectLast {
		at = n.one("Sub", []string{n.one("Sub", []string{size, n.int(1)}), at})
	}
	if o.Order == op.TopKByIndex {
		sorted := n.emit("TopK", 2, []string{at, k}, number("axis", o.Axis), number("largest", 0), number("sorted", 1))
		values = n.one("GatherElements", []string{values, sorted[1]}, number("axis", o.Axis))
		at = sorted[0]
	}
	if err := n.set(1, at, tensor.Int64); err != nil {
		return err
	}
	if !as {
		return n.set(0, values, d)
	}
	if d != plain {
		values = n.cast(values, plain)
	}
	n.put(0, values)
	return nil
}

func (n *node) argument(name string, axis int64, keep, last bool) error {
	x, d := n.x(0), n.dtype(0)
	if d == tensor.Bool || d.IsInt() && d.Bits() < 32 {
		x = n.cast(x, tensor.Int32)
	}
	y := n.one(name, []string{x}, number("axis", axis), flag("keepdims", keep), flag("select_last_index", last))
	return n.set(0, y, tensor.Int64)
}

// exportLookup compares each lookup with all keys; the first that is equal counts.
func exportLookup(n *node) error {
	rank, err := n.rank(2)
	if err != nil {
		return err
	}
	if !n.carried(2) {
		return refuse("rows that are quantized otherwise than the values")
	}
	equal := n.cast(n.one("Equal", []string{n.reshape(n.code(0), -1, 1), n.reshape(n.code(1), 1, -1)}), tensor.Int32)
	at := n.one("ArgMax", []string{equal}, number("axis", 1), number("keepdims", 0))
	hit := n.one("ReduceMax", []string{equal, n.ints(1)}, number("keepdims", 0))
	n.put(1, n.cast(hit, n.made(1).DType))
	dims := []int64{-1}
	for range rank - 1 {
		dims = append(dims, 1)
	}
	d := n.fact(2).DType
	rows := n.one("Gather", []string{n.code(2), at}, number("axis", 0))
	n.put(0, n.one("Where", []string{n.reshape(n.cast(hit, tensor.Bool), dims...), rows, n.number(d, 0)}))
	return nil
}
