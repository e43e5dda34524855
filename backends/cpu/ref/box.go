package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
)

// boxAt reads x1, y1, x2, y2 from element i of v on and checks that they are in order.
func boxAt(v []float64, i int) (box, error) {
	b := box{float32(v[i+1]), float32(v[i]), float32(v[i+3]), float32(v[i+2])}
	if b.x1 > b.x2 || b.y1 > b.y2 {
		return b, fault.New(fault.Data, "x %v to %v, y %v to %v are out of order", b.x1, b.x2, b.y1, b.y2)
	}
	return b, nil
}

// put stores x1, y1, x2, y2 from element i on.
func (a box) put(store func(i int, r float64), i int) {
	for k, v := range [...]float32{a.x1, a.y1, a.x2, a.y2} {
		store(i+k, float64(v))
	}
}

// transform moves and scales a box by dx, dy, dw, dh and cuts it to an image; see op.AxisAlignedBoxTransform.
func (a box) transform(delta []float64, height, width float64) box {
	x1, y1, x2, y2 := float64(a.x1), float64(a.y1), float64(a.x2), float64(a.y2)
	w, h := x2-x1, y2-y1
	x, y := (x1+x2)/2+delta[0]*w, (y1+y2)/2+delta[1]*h
	w, h = math.Exp(delta[2])*w, math.Exp(delta[3])*h
	cut := func(v, end float64) float32 { return float32(min(max(v, 0), end)) }
	return box{cut(y-h/2, height), cut(x-w/2, width), cut(y+h/2, height), cut(x+w/2, width)}
}
