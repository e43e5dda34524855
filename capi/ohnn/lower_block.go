package ohnn

import (
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
			return n.emit(&op.DepthToSpace{Block: n.int("BLOCK_SIZE", 0), Mode: op.DepthMode(n.int("MODE", 0)),
				ChannelsLast: true}, n.in(0))
		},
	})
}

// blocks returns the list of block sizes and that of pads or crops, which is zeros when it is missing, of an image.
func (n *node) blocks(blocks, edges string) (b, e []int64, err error) {
	if err := n.wantRank(0, 4, 4); err != nil {
		return nil, nil, err
	}
	if err := n.wantList(blocks, false, 2, "height and width", 1); err != nil {
		return nil, nil, err
	}
	if err := n.wantList(edges, true, 4, "top, bottom, left, right", 0); err != nil {
		return nil, nil, err
	}
	if e = n.ints(edges); e == nil {
		e = make([]int64, 4)
	}
	return n.ints(blocks), e, nil
}

// lowerSpaceToBatch: a padded size that is not divisible loses its last cells.
func lowerSpaceToBatch(n *node) error {
	b, e, err := n.blocks("BLOCK_SHAPE", "PADDINGS")
	if err != nil {
		return err
	}
	return n.emit(&op.SpaceToBatch{ChannelsLast: true, Truncate: true}, n.in(0), n.param("BLOCK_SHAPE", b...),
		n.called("PADDINGS", n.matrix(e)))
}

func lowerBatchToSpace(n *node) error {
	b, e, err := n.blocks("BLOCKSIZE", "CROPS")
	if err != nil {
		return err
	}
	return n.emit(&op.BatchToSpace{ChannelsLast: true}, n.in(0), n.param("BLOCKSIZE", b...),
		n.called("CROPS", n.matrix(e)))
}
