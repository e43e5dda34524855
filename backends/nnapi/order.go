package nnapi

import (
	"slices"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(map[string]func(t *translation) error{
		"top_k": lowerTopK,
		"arg_max": func(t *translation) error {
			o := t.N.Op.(*op.ArgMax)
			return t.extreme(spec.ArgMax, o.Axis, o.SelectLast)
		},
		"arg_min": func(t *translation) error {
			o := t.N.Op.(*op.ArgMin)
			return t.extreme(spec.ArgMin, o.Axis, o.SelectLast)
		},
		"split":         lowerSplit,
		"expand":        lowerExpand,
		"strided_slice": lowerStridedSlice,
	})
}

// addMulti adds an operation with several results.
func (t *translation) addMulti(code spec.OperationCode, out []*operand, in ...*operand) {
	t.Ops = append(t.Ops, &operation{code, in, out})
}

// given reports whether output k of the node is there.
func (t *translation) given(k int) bool { return k < len(t.N.Out) && t.N.Out[k] != graph.None }

// lowerTopK is along the last dimension: another one is put there.
func lowerTopK(t *translation) error {
	o, x, values := t.N.Op.(*op.TopK), t.In(0), t.Out(0)
	k, ok := t.Ints(1, nil)
	axis, err := t.axis(o.Axis)
	switch {
	case err != nil:
		return err
	case !ok || len(k) != 1:
		return refuse("k is not known before the run")
	case o.Smallest || o.Order != op.TopKSorted:
		return refuse("TOPK_V2 gives the largest elements, the best first")
	case !o.SelectLast:
		return refuse("of equal elements TOPK_V2 gives the last one first")
	}
	indices := &operand{code: spec.TensorInt32, typ: tensor.T(tensor.Int32, values.Dims()...)}
	if t.given(1) {
		indices = t.Out(1)
	}
	rank := len(x.Dims())
	if axis == rank-1 {
		t.addMulti(spec.TopKV2, []*operand{values, indices}, x, int32Scalar(k[0]))
		return nil
	}
	if t.given(1) {
		return refuse("TOPK_V2 is along the last dimension, and TRANSPOSE moves no indices")
	}
	order, back := make([]int64, 0, rank), make([]int64, rank)
	for a := range rank {
		if a != axis {
			order = append(order, int64(a))
		}
	}
	order = append(order, int64(axis))
	for i, a := range order {
		back[a] = int64(i)
	}
	moved := t.permuted(x, order...)
	sizes := slices.Clone(moved.Dims())
	sizes[rank-1] = k[0]
	found := x.Between(sizes...)
	indices = &operand{code: spec.TensorInt32, typ: tensor.T(tensor.Int32, sizes...)}
	t.addMulti(spec.TopKV2, []*operand{found, indices}, moved, int32Scalar(k[0]))
	t.fold(found, values, back)
	return nil
}

// extreme is the place of the largest or smallest element along an axis, which EXPAND_DIMS keeps.
func (t *translation) extreme(code spec.OperationCode, a int64, selectLast bool) error {
	x, y := t.In(0), t.Out(0)
	axis, err := t.axis(a)
	switch {
	case err != nil:
		return err
	case selectLast:
		return refuse("of equal elements %v finds the first", code)
	}
	rank := len(x.Dims())
	if rank == 1 || len(y.Dims()) < rank {
		t.add(code, y, x, int32Scalar(int64(axis)))
		return nil
	}
	found := y.Between(slices.Delete(slices.Clone(x.Dims()), axis, axis+1)...)
	t.add(code, found, x, int32Scalar(int64(axis)))
	t.add(spec.ExpandDims, y, found, int32Scalar(int64(axis)))
	return nil
}

// lowerSplit is SPLIT into equal parts, else a SLICE for each.
func lowerSplit(t *translation) error {
	x := t.In(0)
	axis, err := t.axis(t.N.Op.(*op.Split).Axis)
	if err != nil {
		return err
	}
	out := make([]*operand, len(t.N.Out))
	equal := x.Dims()[axis]%int64(len(out)) == 0
	for k := range out {
		if !t.given(k) {
			return refuse("a part is left out")
		}
		out[k] = t.Out(k)
		equal = equal && out[k].Dims()[axis] == out[0].Dims()[axis]
	}
	if equal {
		t.addMulti(spec.Split, out, x, int32Scalar(int64(axis)), int32Scalar(int64(len(out))))
		return nil
	}
	begin := make([]int64, len(x.Dims()))
	for _, y := range out {
		t.add(spec.Slice, y, x, list(begin...), list(y.Dims()...))
		begin[axis] += y.Dims()[axis]
	}
	return nil
}

// lowerExpand repeats what has a size of 1, behind dimensions of size 1 where the result has more of them.
func lowerExpand(t *translation) error {
	x, y := t.In(0), t.Out(0)
	for len(x.Dims()) < len(y.Dims()) {
		more := x.Between(append([]int64{1}, x.Dims()...)...)
		t.add(spec.ExpandDims, more, x, int32Scalar(0))
		x = more
	}
	t.add(spec.Tile, y, x, list(driver.Repeats(x.Dims(), y.Dims())...))
	return nil
}

// lowerStridedSlice names the dimensions that core's operator leaves out.
func lowerStridedSlice(t *translation) error {
	o, x := t.N.Op.(*op.StridedSlice), t.In(0)
	begin, ok1 := t.Ints(1, nil)
	end, ok2 := t.Ints(2, nil)
	strides, ok3 := t.Ints(3, nil)
	switch {
	case !ok1 || !ok2 || !ok3:
		return refuse("the bounds are not known before the run")
	case o.EllipsisMask != 0 || o.NewAxisMask != 0:
		return refuse("STRIDED_SLICE has a bound for each dimension, and makes none")
	}
	begin, end, strides = slices.Clone(begin), slices.Clone(end), slices.Clone(strides)
	for a := len(begin); a < len(x.Dims()); a++ {
		begin, end, strides = append(begin, 0), append(end, x.Dims()[a]), append(strides, 1)
	}
	t.add(spec.StridedSlice, t.Out(0), x, bounds(begin), bounds(end), bounds(strides), int32Scalar(o.BeginMask),
		int32Scalar(o.EndMask), int32Scalar(o.ShrinkAxisMask))
	return nil
}

// bounds is a list of numbers, those beyond int32 as the nearest: no tensor has as many cells.
func bounds(v []int64) *operand {
	near := make([]int64, len(v))
	for i, x := range v {
		near[i] = min(max(x, -1<<31), 1<<31-1)
	}
	return list(near...)
}
