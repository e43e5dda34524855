package ohnn

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

func init() {
	lowerAll(map[string]func(n *node) error{"RESIZE_BILINEAR": lowerResizeBilinear})
}

// resizeCoords are the coordinate modes by number; the last one clamps the coordinate to the first cell.
var resizeCoords = []op.Coord{op.CoordAsymmetric, op.CoordAlignCorners, op.CoordHalfPixelClamped}

// lowerResizeBilinear resizes height and width. PRESERVE_ASPECT_RATIO has no meaning that the sources agree on: the
// sample driver fails too.
func lowerResizeBilinear(n *node) error {
	h, w, mode := n.int("NEW_HEIGHT", 0), n.int("NEW_WIDTH", 0), n.int("COORDINATE_TRANSFORM_MODE", 0)
	switch {
	case n.rank(0) != 4:
		return n.wantRank(0, 4, 4)
	case h < 1 || w < 1 || h > math.MaxInt32 || w > math.MaxInt32:
		return fault.New(fault.Argument, "NEW_HEIGHT %d, NEW_WIDTH %d: want sizes of at least 1 "+
			"[ohnn-new-height-new]", h, w)
	case mode < 0 || mode >= int64(len(resizeCoords)):
		return fault.New(fault.Argument, "COORDINATE_TRANSFORM_MODE: %d: want 0 to %d "+
			"[ohnn-coordinate-transform-mode]", mode, len(resizeCoords)-1)
	case n.flag("PRESERVE_ASPECT_RATIO", false):
		return fault.New(fault.Argument, "PRESERVE_ASPECT_RATIO: true is not supported: give a height and width of the "+
			"image's ratio [ohnn-preserve-aspect-ratio]")
	}
	o := &op.Resize{Mode: op.ResizeLinear, Coord: resizeCoords[mode], Axes: []int64{1, 2}}
	return n.emit(o, n.in(0), graph.None, graph.None, n.param("NEW_HEIGHT, NEW_WIDTH", h, w))
}
