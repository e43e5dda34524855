package onnx

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// dtypes maps TensorProto.DataType.
var dtypes = map[int64]tensor.DType{
	1: tensor.Float32, 2: tensor.Uint8, 3: tensor.Int8, 4: tensor.Uint16, 5: tensor.Int16, 6: tensor.Int32,
	7: tensor.Int64, 9: tensor.Bool,
	10: tensor.Float16, 11: tensor.Float64, 12: tensor.Uint32, 13: tensor.Uint64, 14: tensor.Complex64,
	15: tensor.Complex128,
	16: tensor.BFloat16, 17: tensor.Float8E4M3FN, 18: tensor.Float8E4M3FNUZ, 19: tensor.Float8E5M2,
	20: tensor.Float8E5M2FNUZ,
	21: tensor.Uint4, 22: tensor.Int4, 23: tensor.Float4E2M1,
}

// stringType is TensorProto.STRING.
const stringType = 8

func dtypeOf(n int64) (tensor.DType, error) {
	if d, ok := dtypes[n]; ok {
		return d, nil
	}
	if n == stringType {
		return 0, fault.New(fault.Unsupported, "tensors of strings are not supported")
	}
	return 0, fault.New(fault.File, "element type %d is none that ONNX has", n)
}

// tensorType returns the type of a tensor, checked: sizes that are not negative, a product that fits.
func (t *tensorProto) tensorType() (tensor.Type, int64, error) {
	d, err := dtypeOf(t.dtype)
	if err != nil {
		return tensor.Type{}, 0, err
	}
	typ := tensor.T(d, t.dims...)
	size, ok := typ.ByteSize()
	if !ok {
		return typ, 0, fault.New(fault.File, "%v has no size", typ)
	}
	return typ, size, nil
}

// bytes returns the tensor's elements as the project stores them, and what must be closed after they are copied.
func (im *importer) bytes(t *tensorProto, size int64, d tensor.DType) (data []byte, own *source, err error) {
	count, _ := tensor.Count(t.dims)
	switch {
	case t.location == 1:
		own, err := im.externalData(t, size)
		if err != nil {
			return nil, nil, err
		}
		return own.data, own, nil
	case t.hasRaw:
		data = t.raw
	case len(t.floats) > 0:
		if d == tensor.Complex64 {
			count *= 2
		}
		if int64(len(t.floats)) == count {
			data = tensor.Float32s(t.floats...)
		}
	case len(t.doubles) > 0:
		if d == tensor.Complex128 {
			count *= 2
		}
		if int64(len(t.doubles)) == count {
			for _, v := range t.doubles {
				data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
			}
		}
	case len(t.ints) > 0:
		data = packInts(t.ints, d, count)
	}
	if int64(len(data)) != size {
		return nil, nil, fault.New(fault.File, "%v%v takes %d bytes, the file holds %d", d, t.dims, size, len(data))
	}
	return data, nil, nil
}

// packInts stores int32_data, int64_data or uint64_data in the element type: one number an element; types below 8 bits
// come packed, one byte a number. It returns nil when the count does not fit.
func packInts(v []int64, d tensor.DType, count int64) []byte {
	want := count
	if d.Bits() < 8 {
		want, _ = d.ByteSize(count)
	}
	if int64(len(v)) != want {
		return nil
	}
	var b []byte
	for _, x := range v {
		switch {
		case d.Bits() <= 8:
			b = append(b, byte(x))
		case d.Bits() == 16:
			b = binary.LittleEndian.AppendUint16(b, uint16(x))
		case d.Bits() == 32:
			b = binary.LittleEndian.AppendUint32(b, uint32(x))
		default:
			b = binary.LittleEndian.AppendUint64(b, uint64(x))
		}
	}
	return b
}

// constant copies a tensor of the file into the weight store and makes it a value.
func (sc *scope) constant(t *tensorProto) (graph.Value, error) {
	return sc.constantAs(t, nil)
}

// constantAs is constant with the dimensions in the order perm, nil for as they are. The original is not kept.
func (sc *scope) constantAs(t *tensorProto, perm []int) (graph.Value, error) {
	k := sc.im.stored[t]
	switch {
	case k == nil:
		k = sc.im.store(t, perm, perm == nil || sc.uses[t.name] == 1)
	case !slices.Equal(k.perm, perm):
		k = sc.im.reorder(k, perm)
	}
	if sc.im.calls > 0 || sc.im.repeats > 0 { // the same node may be lowered again, and the file's copy is gone
		sc.im.stored[t] = k
	} else {
		delete(sc.im.stored, t)
	}
	if k.err != nil {
		return graph.None, k.err
	}
	v := sc.b.ConstOf(t.name, k.typ, tensor.NewHashedConst(k.data, k.hash))
	return v, sc.b.Err()
}

// stored is a tensor of the file in the weight store.
type stored struct {
	perm []int
	typ  tensor.Type
	hash tensor.Hash
	data []byte
	err  error
}

// storeStep is the number of bytes that are copied before those of the file's copy are given back.
const storeStep = 1 << 20

// store copies a tensor into the weight store with its dimensions in the order perm, nil for as they are. last says
// that nothing else reads the file's copy.
func (im *importer) store(t *tensorProto, perm []int, last bool) *stored {
	k := &stored{perm: perm}
	typ, size, err := t.tensorType()
	if err != nil {
		k.err = err
		return k
	}
	data, own, err := im.bytes(t, size, typ.DType)
	if err != nil {
		k.err = err
		return k
	}
	if own != nil {
		defer own.close()
	}
	done := func([]byte) {}
	if last && t.hasRaw {
		done = im.src.done
	}
	k.typ = typ
	if perm != nil {
		k.typ = tensor.T(typ.DType, permuted(t.dims, perm)...)
	}
	k.hash, k.data, k.err = im.opt.Weights.Make(size, func(dst []byte) error {
		rows, row := 1, len(data) // what is copied at once is whole rows, if the first dimension stays the first
		switch {
		case perm == nil:
			rows, row = len(data), 1
		case perm[0] == 0 && t.dims[0] > 0:
			rows = int(t.dims[0])
			row = len(data) / rows
		}
		step := max(1, storeStep/max(1, row))
		for r := 0; r < rows; r += step {
			from, to := r*row, min(rows, r+step)*row
			part := data[from:to]
			if perm == nil {
				copy(dst[from:to], part)
			} else {
				dims := t.dims
				if rows > 1 {
					dims = append([]int64{int64((to - from) / row)}, dims[1:]...)
				}
				permute(dst[from:to], part, dims, perm, typ.DType.Bits()/8)
			}
			done(part)
		}
		return nil
	})
	if k.err == nil {
		done(data) // the pages that two parts share
	}
	return k
}

// reorder stores k once more, with the dimensions of the file in the order perm.
func (im *importer) reorder(k *stored, perm []int) *stored {
	rank := len(k.typ.Shape.Dims)
	from, to := k.perm, perm
	if from == nil {
		from = upTo(rank)
	}
	if to == nil {
		to = upTo(rank)
	}
	order := make([]int, rank)
	for i, p := range to {
		order[i] = slices.Index(from, p)
	}
	dims, _ := k.typ.Shape.Ints()
	own := &stored{perm: perm, typ: tensor.T(k.typ.DType, permuted(dims, order)...)}
	own.hash, own.data, own.err = im.opt.Weights.Make(int64(len(k.data)), func(dst []byte) error {
		permute(dst, k.data, dims, order, k.typ.DType.Bits()/8)
		return nil
	})
	return own
}

func upTo(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// preload stores the large initializers of the main graph, several at a time: copying and hashing them is most of an
// import. What it cannot store is left to whoever reads it, who then gets the error.
func (im *importer) preload(g *graphProto, nodes []*nodeProto, uses map[string]int) {
	filters, transposed := map[string]int{}, map[string]bool{}
	for _, n := range nodes {
		if n.domain == "" && filterInput[n.opType] && len(n.in) > 1 {
			filters[n.in[1]]++
			transposed[n.in[1]] = n.opType == "ConvTranspose"
		}
	}
	var work []*tensorProto
	for _, t := range g.inits {
		f := filters[t.name]
		plain, moved := f == 0 && uses[t.name] > 0, f == 1 && uses[t.name] == 1 && len(t.dims) > 2 && !transposed[t.name]
		typ, size, err := t.tensorType()
		if err == nil && size >= preloadBytes && typ.DType.Bits() >= 8 && (plain || moved) {
			work = append(work, t)
		}
	}
	kept := make([]*stored, len(work))
	inParallel(len(work), func(i int) {
		var perm []int
		if filters[work[i].name] > 0 {
			perm = filterPerm(len(work[i].dims), false)
		}
		if k := im.store(work[i], perm, true); k.err == nil {
			kept[i] = k
		}
	})
	im.stored = map[*tensorProto]*stored{}
	for i, t := range work {
		if kept[i] != nil {
			im.stored[t] = kept[i]
		}
	}
}

// preloadBytes is the size from which an initializer is worth another goroutine.
const preloadBytes = 64 << 10

// permuted returns dims in the order perm.
func permuted(dims []int64, perm []int) []int64 {
	out := make([]int64, len(perm))
	for i, p := range perm {
		out[i] = dims[p]
	}
	return out
}

// permute copies elements of width bytes from src with sizes dims to dst with the dimensions in the order perm.
func permute(dst, src []byte, dims []int64, perm []int, width int) {
	if len(src) == 0 {
		return
	}
	dims, perm = mergeAxes(dims, perm)
	switch {
	case len(perm) <= 1:
		copy(dst, src)
		return
	case len(perm) == 3 && perm[0] == 0 && width == 4:
		rows, cols := int(dims[1]), int(dims[2])
		for at := 0; at < len(src); at += rows * cols * width {
			transpose4(dst[at:], src[at:], rows, cols)
		}
		return
	case len(perm) == 2 && width == 4:
		transpose4(dst, src, int(dims[0]), int(dims[1]))
		return
	}
	strides := tensor.RowMajor(dims)
	out, step, at := permuted(dims, perm), make([]int, len(perm)), make([]int64, len(perm))
	for i, p := range perm {
		step[i] = int(strides[p]) * width
	}
	pos := 0
	for d := 0; d < len(src); d += width {
		copy(dst[d:d+width], src[pos:])
		for k := len(at) - 1; k >= 0; k-- {
			at[k]++
			pos += step[k]
			if at[k] < out[k] {
				break
			}
			pos -= step[k] * int(out[k])
			at[k] = 0
		}
	}
}

// mergeAxes leaves out dimensions of size 1 and joins those that stay neighbours in the order perm, which changes no
// byte of the result. Two or three dimensions that it returns are not in their own order.
func mergeAxes(dims []int64, perm []int) (merged []int64, order []int) {
	var groups [][]int // of dimensions of src, in the order of dst
	for _, p := range perm {
		if dims[p] == 1 {
			continue
		}
		if n := len(groups); n > 0 {
			last := groups[n-1][len(groups[n-1])-1]
			next := last + 1
			for next < p && dims[next] == 1 {
				next++
			}
			if next == p {
				groups[n-1] = append(groups[n-1], p)
				continue
			}
		}
		groups = append(groups, []int{p})
	}
	rank := make([]int, len(groups)) // position in src
	for i := range groups {
		for k := range groups {
			if groups[k][0] < groups[i][0] {
				rank[i]++
			}
		}
	}
	merged = make([]int64, len(groups))
	for i, g := range groups {
		n := int64(1)
		for _, p := range g {
			n *= dims[p]
		}
		merged[rank[i]] = n
	}
	return merged, rank
}

// transpose4 is permute of a matrix of elements of four bytes.
func transpose4(dst, src []byte, rows, cols int) {
	for c := range cols {
		out := dst[4*c*rows:][:4*rows]
		for r, at := 0, 4*c; r < rows; r, at = r+1, at+4*cols {
			*(*[4]byte)(out[4*r:]) = *(*[4]byte)(src[at:])
		}
	}
}
