package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// roiShape checks x [N,C,H,W], rois [R,columns] and batch indices [R] if there is an input 2, and returns
// [R,C,height,width].
func roiShape(in []tensor.Fact, columns, height, width int64, channelsLast bool) (tensor.Shape, error) {
	none := tensor.AnyShape()
	if height < 1 || width < 1 || height > maxWindow || width > maxWindow {
		return none, fault.New(fault.Argument, "output size %d x %d", height, width)
	}
	for i, r := range []int{4, 2, 1}[:len(in)] {
		if err := wantRank(in, i, r); err != nil {
			return none, err
		}
	}
	channels, rois := tensor.AnyDim(), tensor.AnyDim()
	if in[0].Shape.Ranked {
		_, channels, _ = image(in[0].Shape, channelsLast)
	}
	if s := in[1].Shape; s.Ranked {
		if _, err := agree(s.Dims[1], tensor.D(columns), "columns"); err != nil {
			return none, fault.Wrap(err, "input 1")
		}
		rois = s.Dims[0]
	}
	if len(in) > 2 && in[2].Shape.Ranked {
		d, err := agree(rois, in[2].Shape.Dims[0], "one batch index per region")
		if err != nil {
			return none, fault.Wrap(err, "input 2")
		}
		rois = d
	}
	return imageOf(rois, channels, []tensor.Dim{tensor.D(height), tensor.D(width)}, channelsLast), nil
}
