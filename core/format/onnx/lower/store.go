package lower

import (
	"slices"

	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/parallel"
	"github.com/anynpu/anynpu/core/tensor"
)

// constant copies a tensor of the file into the weight store and makes it a value.
func (sc *Scope) constant(t *proto.Tensor) (graph.Value, error) {
	return sc.constantAs(t, nil)
}

// constantAs is constant with the dimensions in the order perm, nil for as they are. The original is not kept.
func (sc *Scope) constantAs(t *proto.Tensor, perm []int) (graph.Value, error) {
	k := sc.m.stored[t]
	switch {
	case k == nil:
		k = sc.m.store(t, perm, perm == nil || sc.uses[t.Name] == 1)
	case !slices.Equal(k.perm, perm):
		k = sc.m.reorder(k, perm)
	}
	sc.m.stored[t] = k // it may be read again, and the file's copy is gone
	if k.err != nil {
		return graph.None, k.err
	}
	v := sc.b.ConstOf(t.Name, k.typ, tensor.NewHashedConst(k.data, k.hash))
	return v, sc.b.Err()
}

// storeStep is the number of bytes that are copied before those of the file's copy are given back.
const storeStep = 1 << 20

// store copies a tensor into the weight store with its dimensions in the order perm, nil for as they are. last says
// that nothing else reads the file's copy.
func (m *Lowering) store(t *proto.Tensor, perm []int, last bool) *stored {
	k := &stored{perm: perm}
	typ, size, err := t.TypeAndSize()
	if err != nil {
		k.err = err
		return k
	}
	data, own, err := t.Bytes(m.opt.Folder, size, typ.DType)
	if err != nil {
		k.err = err
		return k
	}
	if own != nil {
		defer own.Close()
	}
	done := func([]byte) {}
	if last && t.HasRaw {
		done = m.src.Done
	}
	k.typ = typ
	if perm != nil {
		k.typ = tensor.T(typ.DType, Permuted(t.Dims, perm)...)
	}
	k.hash, k.data, k.err = m.opt.Weights.Make(size, func(dst []byte) error {
		rows, row := 1, len(data) // what is copied at once is whole rows, if the first dimension stays the first
		switch {
		case perm == nil:
			rows, row = len(data), 1
		case perm[0] == 0 && t.Dims[0] > 0:
			rows = int(t.Dims[0])
			row = len(data) / rows
		}
		step := max(1, storeStep/max(1, row))
		for r := 0; r < rows; r += step {
			from, to := r*row, min(rows, r+step)*row
			part := data[from:to]
			if perm == nil {
				copy(dst[from:to], part)
			} else {
				dims := t.Dims
				if rows > 1 {
					dims = append([]int64{int64((to - from) / row)}, dims[1:]...)
				}
				Permute(dst[from:to], part, dims, perm, typ.DType.Bits()/8)
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
func (m *Lowering) reorder(k *stored, perm []int) *stored {
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
	own := &stored{perm: perm, typ: tensor.T(k.typ.DType, Permuted(dims, order)...)}
	own.hash, own.data, own.err = m.opt.Weights.Make(int64(len(k.data)), func(dst []byte) error {
		Permute(dst, k.data, dims, order, k.typ.DType.Bits()/8)
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
// import. A constant that it cannot store is left to its reader, who then gets the error.
func (m *Lowering) preload(g *proto.Graph, nodes []*proto.Node, uses map[string]int) {
	filters, transposed := map[string]int{}, map[string]bool{}
	for _, n := range nodes {
		if filterInput[n.Operator()] && len(n.In) > 1 {
			filters[n.In[1]]++
			transposed[n.In[1]] = n.OpType == "ConvTranspose"
		}
	}
	var work []*proto.Tensor
	for _, t := range g.Inits {
		f := filters[t.Name]
		plain, moved := f == 0 && uses[t.Name] > 0, f == 1 && uses[t.Name] == 1 && len(t.Dims) > 2 && !transposed[t.Name]
		typ, size, err := t.TypeAndSize()
		if err == nil && size >= preloadBytes && typ.DType.Bits() >= 8 && (plain || moved) {
			work = append(work, t)
		}
	}
	kept := make([]*stored, len(work))
	parallel.Do(proto.Goroutines, len(work), func(i int) {
		var perm []int
		if filters[work[i].Name] > 0 {
			perm = filterPerm(len(work[i].Dims), false)
		}
		if k := m.store(work[i], perm, true); k.err == nil {
			kept[i] = k
		}
	})
	for i, t := range work {
		if kept[i] != nil {
			m.stored[t] = kept[i]
		}
	}
}

// preloadBytes is the size from which an initializer is worth another goroutine.
const preloadBytes = 64 << 10
