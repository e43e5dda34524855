package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// blocked is a spatial dimension that is moved to or from the batch in blocks.
type blocked struct {
	axis        int
	batch, size tensor.Dim   // as they are before this dimension is moved
	block       tensor.Dim   // how many cells a block has
	pads        []tensor.Dim // cells added, or cropped, before and behind
}

// moveBlocks infers an operator that exchanges cells of the spatial dimensions with the batch, by the block sizes in
// input 1 and the pads or crops in input 2: move returns the batch and the size after one dimension.
func moveBlocks(in []tensor.Fact, declared []tensor.Type, channelsLast bool, move func(blocked) (batch, size tensor.Dim,
	err error)) ([]tensor.Fact, error) {
	block, pads, first, err := blockList(in, declared, channelsLast)
	if err != nil {
		return nil, err
	}
	if block == nil {
		return movedOne(declared, in[0], openLike(in[0].Shape), nil)
	}
	s := in[0].Shape.Clone()
	changed := []int{0}
	for i, b := range block {
		a := first + i
		if s.Dims[0], s.Dims[a], err = move(blocked{a, s.Dims[0], s.Dims[a], b, pads[2*i : 2*i+2]}); err != nil {
			return nil, err
		}
		changed = append(changed, a)
	}
	return movedOne(declared, in[0], s, sameAxis(changed...))
}

// blockList reads block and pads (or crops) of input 0, whose first spatial dimension is first. block is nil while the
// rank of x or the number of blocks is unknown.
func blockList(in []tensor.Fact, declared []tensor.Type, channelsLast bool) (block, pads []tensor.Dim, first int,
	err error) {
	if err := arity(in, 2, 3, declared, 1, 1); err != nil {
		return nil, nil, 0, err
	}
	if first = 1; !channelsLast {
		first = 2
	}
	block, known, err := vector(in, 1)
	if err != nil {
		return nil, nil, 0, err
	}
	for i, b := range block {
		if b.Known() && b.N < 1 {
			return nil, nil, 0, fault.New(fault.Argument, "input 1: block size %d is %d: want 1 or more", i, b.N)
		}
	}
	r := in[0].Shape.Rank()
	if known && r >= 0 && r < first+len(block) {
		return nil, nil, 0, fault.New(fault.Shape, "input 1: %d block sizes: %v has %d spatial dimensions", len(block),
			in[0].Shape, max(r-first, 0))
	}
	if !present(in, 2) {
		if pads = make([]tensor.Dim, 2*len(block)); !known || r < 0 {
			block = nil
		}
		return block, pads, first, nil
	}
	v, ok, err := list(in, 2)
	if err != nil {
		return nil, nil, 0, err
	}
	if _, err := wantDims(v); err != nil {
		return nil, nil, 0, fault.Wrap(err, "input 2")
	}
	if known && ok && len(v) != 2*len(block) {
		return nil, nil, 0, fault.New(fault.Shape, "input 2: want [%d,2], got %v", len(block), in[2].Shape)
	}
	if !known || r < 0 {
		return nil, nil, first, nil
	}
	if !ok {
		v = anyDims(2 * len(block))
	}
	return block, v, first, nil
}

// openLike is a shape of the same rank, as far as that is known, with unknown sizes.
func openLike(s tensor.Shape) tensor.Shape {
	if !s.Ranked {
		return s
	}
	return tensor.AnyOfRank(s.Rank())
}
