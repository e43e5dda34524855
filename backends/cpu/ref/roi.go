package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
)

// region is a region of interest in cells of the image.
type region struct {
	image          int
	x1, y1, x2, y2 float64
}

// newRegion scales and checks the corners of region i; a scale of 0 is 1.
func newRegion(i int, image float64, corners []float64, images int, scaleHeight, scaleWidth float32) (region, error) {
	sh, sw := float64(scaleHeight), float64(scaleWidth)
	if sh == 0 {
		sh = 1
	}
	if sw == 0 {
		sw = 1
	}
	if !(image >= 0 && image < float64(images)) {
		return region{}, fault.New(fault.Data, "region %d: batch index %v is outside %d images", i, image, images)
	}
	r := region{int(image), round32(corners[0] * sw), round32(corners[1] * sh), round32(corners[2] * sw),
		round32(corners[3] * sh)}
	for _, v := range []float64{r.x1, r.y1, r.x2, r.y2} {
		if !(math.Abs(v) <= 1<<30) {
			return region{}, fault.New(fault.Data, "region %d: corner at %v", i, v)
		}
	}
	return r, nil
}

// inside refuses region i when it is not a part of the image, or its corners are out of order.
func (r region) inside(i, height, width int) error {
	if !(0 <= r.x1 && r.x1 <= r.x2 && r.x2 <= float64(width) && 0 <= r.y1 && r.y1 <= r.y2 && r.y2 <= float64(height)) {
		return fault.New(fault.Data, "region %d: from x %v, y %v to x %v, y %v is not inside %d x %d cells", i, r.x1, r.y1,
			r.x2, r.y2, height, width)
	}
	return nil
}

func round32(v float64) float64 { return float64(float32(v)) }
