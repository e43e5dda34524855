package ohnn

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
)

func init() {
	lowerAll(map[string]func(n *node) error{
		"SPACE_TO_BATCH_ND": lowerSpaceToBatch,
		"BATCH_TO_SPACE_ND": lowerBatchToSpace,
		"SPACE_TO_DEPTH": func(n *node) error {
			if err := n.wantPositive("BLOCK_SIZE"); err != nil {
				return err
			}
			return n.emit(&op.SpaceToDepth{Block: n.int("BLOCK_SIZE", 0), ChannelsLast: true}, n.in(0))
		},
		"DEPTH_TO_SPACE": func(n *node) error {
			if err := n.wantPositive("BLOCK_SIZE"); err != nil {
				return err
			}
			return n.emit(&op.DepthToSpace{Block: n.int("BLOCK_SIZE", 0), Mode: op.DepthMode(n.int("MODE", 0)), ChannelsLast: true}, n.in(0))
		},
	})
}

// blocks returns the list of block sizes and that of pads or crops, which is zeros when it is missing.
func (n *node) blocks(blocks, edges string) (b, e []int64, err error) {
	if n.rank(0) != 4 {
		return nil, nil, fault.New(fault.Shape, "input 0: want rank 4, got %v", n.fact(0).Shape)
	}
	if b = n.ints(blocks); len(b) != 2 {
		return nil, nil, fault.New(fault.Argument, "%s: %v: want height and width", blocks, b)
	}
	if e = n.ints(edges); e == nil {
		e = make([]int64, 4)
	}
	if slices.Min(e) < 0 {
		return nil, nil, fault.New(fault.Argument, "%s: %v: want 0 or more", edges, e)
	}
	return b, e, nil
}

// lowerSpaceToBatch: a padded size that is not divisible loses its last cells.
func lowerSpaceToBatch(n *node) error {
	b, e, err := n.blocks("BLOCK_SHAPE", "PADDINGS")
	if err != nil {
		return err
	}
	return n.emit(&op.SpaceToBatch{ChannelsLast: true, Truncate: true}, n.in(0), n.b.Int64s(b...), n.matrix(e))
}

func lowerBatchToSpace(n *node) error {
	b, e, err := n.blocks("BLOCKSIZE", "CROPS")
	if err != nil {
		return err
	}
	return n.emit(&op.BatchToSpace{ChannelsLast: true}, n.in(0), n.b.Int64s(b...), n.matrix(e))
}
