package export

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/format/onnx/lower"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func layoutRules() []rule {
	return []rule{
		moving(func(n *node, o *op.DepthToSpace, x string) (string, error) {
			dims, err := n.batched(0)
			if err != nil {
				return "", err
			}
			return n.depthToSpace(o, x, dims), nil
		}),
		moving(func(n *node, o *op.SpaceToDepth, x string) (string, error) {
			dims, err := n.batched(0)
			if err != nil {
				return "", err
			}
			return n.spaceToDepth(o, x, dims), nil
		}),
		on(exportSpaceToBatch),
		moving(exportBatchToSpace),
		on(exportPad),
	}
}

// batched are the sizes of input i, -1 for a batch that is not known.
func (n *node) batched(i int) ([]int64, error) {
	s := n.fact(i).Shape
	if s.Rank() < 1 || s.Dims[0].Known() {
		return n.sizes(i)
	}
	rest, ok := tensor.OfDims(s.Dims[1:]...).Ints()
	if !ok || slices.Contains(rest, 0) {
		return nil, refuse("input %d: its sizes are not known: %v", i, s)
	}
	return append([]int64{-1}, rest...), nil
}

// plainImage are the types for which runtimes have the operators of blocks.
func plainImage(d tensor.DType) bool { return d == tensor.Float32 || d == tensor.Float64 }

func (n *node) depthToSpace(o *op.DepthToSpace, x string, d []int64) string {
	b := o.Block
	if o.ChannelsLast {
		rest := d[3] / (b * b)
		if o.Mode == op.CRD {
			x = n.reshape(x, d[0], d[1], d[2], rest, b, b)
			return n.reshape(n.transpose(x, 0, 1, 4, 2, 5, 3), d[0], d[1]*b, d[2]*b, rest)
		}
		x = n.reshape(x, d[0], d[1], d[2], b, b, rest)
		return n.reshape(n.transpose(x, 0, 1, 3, 2, 4, 5), d[0], d[1]*b, d[2]*b, rest)
	}
	mode := "DCR"
	if o.Mode == op.CRD {
		mode = "CRD"
	}
	if plainImage(n.fact(0).DType) {
		return n.one("DepthToSpace", []string{x}, number("blocksize", b), text("mode", mode))
	}
	rest := d[1] / (b * b)
	if o.Mode == op.CRD {
		x = n.reshape(x, d[0], rest, b, b, d[2], d[3])
		return n.reshape(n.transpose(x, 0, 1, 4, 2, 5, 3), d[0], rest, d[2]*b, d[3]*b)
	}
	x = n.reshape(x, d[0], b, b, rest, d[2], d[3])
	return n.reshape(n.transpose(x, 0, 3, 4, 1, 5, 2), d[0], rest, d[2]*b, d[3]*b)
}

func (n *node) spaceToDepth(o *op.SpaceToDepth, x string, d []int64) string {
	b := o.Block
	switch {
	case o.ChannelsLast && o.Mode == op.CRD:
		x = n.transpose(n.reshape(x, d[0], d[1]/b, b, d[2]/b, b, d[3]), 0, 1, 3, 5, 2, 4)
		return n.reshape(x, d[0], d[1]/b, d[2]/b, d[3]*b*b)
	case o.ChannelsLast:
		x = n.transpose(n.reshape(x, d[0], d[1]/b, b, d[2]/b, b, d[3]), 0, 1, 3, 2, 4, 5)
		return n.reshape(x, d[0], d[1]/b, d[2]/b, d[3]*b*b)
	case o.Mode == op.CRD:
		x = n.transpose(n.reshape(x, d[0], d[1], d[2]/b, b, d[3]/b, b), 0, 1, 3, 5, 2, 4)
		return n.reshape(x, d[0], d[1]*b*b, d[2]/b, d[3]/b)
	case plainImage(n.fact(0).DType):
		return n.one("SpaceToDepth", []string{x}, number("blocksize", b))
	}
	x = n.transpose(n.reshape(x, d[0], d[1], d[2]/b, b, d[3]/b, b), 0, 3, 5, 1, 2, 4)
	return n.reshape(x, d[0], d[1]*b*b, d[2]/b, d[3]/b)
}

// pairs are the numbers of an optional table of n rows and two columns.
func (n *node) pairs(i, rows int) ([]int64, error) {
	if !n.has(i) {
		return make([]int64, 2*rows), nil
	}
	return n.known(i, "a table of sizes")
}

// exportSpaceToBatch pads, splits the spatial dimensions and moves their parts to the front.
func exportSpaceToBatch(n *node, o *op.SpaceToBatch) error {
	d, err := n.sizes(0)
	if err != nil {
		return err
	}
	block, err := n.known(1, "the block")
	if err != nil {
		return err
	}
	pads, err := n.pairs(2, len(block))
	if err != nil {
		return err
	}
	first := 2
	if o.ChannelsLast {
		first = 1
	}
	return n.move([]int{0}, func(in []string) (string, error) {
		x := in[0]
		before, after := make([]int64, len(d)), make([]int64, len(d))
		d := slices.Clone(d)
		for i, b := range block {
			a := first + i
			before[a], after[a] = pads[2*i], pads[2*i+1]
			d[a] += before[a] + after[a]
			if o.Truncate {
				after[a] -= d[a] % b
				d[a] -= d[a] % b
			}
		}
		if slices.ContainsFunc(slices.Concat(before, after), func(v int64) bool { return v != 0 }) {
			x = n.one("Pad", []string{x, n.ints(slices.Concat(before, after)...), n.zeroOf(0, x != n.code(0))})
		}
		var split, perm, rest, out []int64
		batch := d[0]
		for a, size := range d {
			i := a - first
			if i < 0 || i >= len(block) {
				rest = append(rest, int64(len(split)))
				split, out = append(split, size), append(out, size)
				continue
			}
			perm = append(perm, int64(len(split))+1)
			rest = append(rest, int64(len(split)))
			split, out = append(split, size/block[i], block[i]), append(out, size/block[i])
			batch *= block[i]
		}
		out[0] = batch
		return n.reshape(n.transpose(n.reshape(x, split...), slices.Concat(perm, rest)...), out...), nil
	})
}

// zeroOf is the value that pads input i: 0, or the zero point of integers.
func (n *node) zeroOf(i int, real bool) string {
	f := n.fact(i)
	switch {
	case f.Quant == nil:
		return n.number(f.DType, 0)
	case real && !n.carried(i):
		return n.number(tensor.Float32, 0)
	}
	return n.number(f.DType, float64(f.Quant.ZeroAt(0)))
}

func exportBatchToSpace(n *node, o *op.BatchToSpace, x string) (string, error) {
	d, err := n.sizes(0)
	if err != nil {
		return "", err
	}
	block, err := n.known(1, "the block")
	if err != nil {
		return "", err
	}
	crops, err := n.pairs(2, len(block))
	if err != nil {
		return "", err
	}
	first := 2
	if o.ChannelsLast {
		first = 1
	}
	batch := d[0]
	for _, b := range block {
		batch /= b
	}
	split := append(append(slices.Clone(block), batch), d[1:]...)
	perm := []int64{int64(len(block))}
	out := []int64{batch}
	for a := 1; a < len(d); a++ {
		perm = append(perm, int64(len(block)+a))
		size := d[a]
		if i := a - first; i >= 0 && i < len(block) {
			perm = append(perm, int64(i))
			size *= block[i]
		}
		out = append(out, size)
	}
	x = n.reshape(n.transpose(n.reshape(x, split...), perm...), out...)
	var starts, ends, axes []int64
	for i := range block {
		if crops[2*i] != 0 || crops[2*i+1] != 0 {
			a := first + i
			starts, ends, axes = append(starts, crops[2*i]), append(ends, out[a]-crops[2*i+1]), append(axes, int64(a))
		}
	}
	if len(axes) > 0 {
		x = n.one("Slice", []string{x, n.ints(starts...), n.ints(ends...), n.ints(axes...)})
	}
	return x, nil
}

// exportPad: ONNX has constant, reflect, edge and wrap; what it leaves open, such as mirrors wider than the dimension,
// is gathered by constant indices.
func exportPad(n *node, o *op.Pad) error {
	r, err := n.rank(0)
	if err != nil {
		return err
	}
	if o.Mode != op.PadConstant {
		return n.move([]int{0}, func(x []string) (string, error) { return n.mirrored(o, x[0], r) })
	}
	as := n.carried(0)
	x, d := n.code(0), n.fact(0).DType
	if !as {
		x, d = n.x(0), n.dtype(0)
	}
	value, err := n.padding(as, d)
	if err != nil {
		return err
	}
	y := n.one("Pad", []string{x, n.vector(1), value, n.vector(3)}, text("mode", "constant"))
	if as {
		n.put(0, y)
		return nil
	}
	return n.set(0, y, d)
}

// padding is the value around x, which is of type d: integers as they are stored, or real numbers.
func (n *node) padding(as bool, d tensor.DType) (string, error) {
	f, x := n.fact(2), n.fact(0)
	q := x.Quant
	if q != nil && !q.IsPerTensor() && as {
		return "", refuse("a value around integers of several scales")
	}
	switch {
	case !n.has(2) && as && q != nil:
		return n.number(d, float64(q.ZeroAt(0))), nil
	case !n.has(2):
		return n.number(d, 0), nil
	case f.DType == x.DType && as:
		return n.reshape(n.code(2)), nil
	case q == nil && d.IsFloat():
		return n.reshape(n.as(2, d)), nil
	}
	v, ok := constantOf(tensor.Fact{Type: tensor.Type{DType: f.DType, Shape: f.Shape}, Const: f.Const})
	switch {
	case !ok:
		return "", refuse("input 2: a value of %v around %v that only a run knows", f.DType, x.Type)
	case q == nil: // a float around integers
		lo, hi := tensor.IntLimits(d)
		return n.number(d, min(max(v, float64(lo)), float64(hi))), nil
	case f.DType == x.DType: // an integer that stands for a real number
		return n.number(tensor.Float32, (v-float64(q.ZeroAt(0)))*float64(q.Scale[0])), nil
	case !as:
		return n.number(tensor.Float32, v), nil
	}
	lo, hi := tensor.IntLimits(d)
	return n.number(d, min(max(math.Round(v/float64(q.Scale[0])+float64(q.ZeroAt(0))), float64(lo)), float64(hi))), nil
}

// mirrored pads with cells of x.
func (n *node) mirrored(o *op.Pad, x string, r int) (string, error) {
	pads, err := n.known(1, "pads that mirror")
	if err != nil {
		return "", err
	}
	axes := make([]int64, r)
	for i := range axes {
		axes[i] = int64(i)
	}
	if n.has(3) {
		if axes, err = n.known(3, "the axes of pads that mirror"); err != nil {
			return "", err
		}
	}
	dims := n.fact(0).Shape.Dims
	direct := o.Mode != op.PadSymmetric
	for i, a := range axes {
		before, after := pads[i], pads[len(axes)+i]
		d := dims[(a+int64(r))%int64(r)]
		wide := !d.Known() || max(before, after) >= d.N
		if before < 0 || after < 0 || o.Mode != op.PadEdge && max(before, after) > 0 && wide {
			direct = false
		}
	}
	if direct {
		mode, _ := word(lower.PadModes, o.Mode)
		return n.one("Pad", []string{x, n.ints(pads...), "", n.ints(axes...)}, text("mode", mode)), nil
	}
	for i, a := range axes {
		before, after := pads[i], pads[len(axes)+i]
		a = (a + int64(r)) % int64(r)
		if before == 0 && after == 0 {
			continue
		}
		if !dims[a].Known() {
			return "", refuse("dimension %d is mirrored and its size is not known", a)
		}
		x = n.one("Gather", []string{x, n.ints(mirror(o, dims[a].N, before, after)...)}, number("axis", a))
	}
	return x, nil
}

// mirror are the cells that stand at the places of a padded dimension of size cells.
func mirror(o *op.Pad, size, before, after int64) []int64 {
	low := max(-before, 0)
	left := size - low - max(-after, 0)
	var cells []int64
	for i := -max(before, 0); i < left+max(after, 0); i++ {
		at, _ := o.Cell(i, left)
		cells = append(cells, low+at)
	}
	return cells
}
