package hbdnn

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/tensor"
)

// coding is what the integers of a port stand for, as the API describes it (section 7).
type coding struct {
	quant  int32   // NONE, SHIFT or SCALE
	first  uintptr // the scales or shifts, in C memory
	zero   uintptr // the zero points
	length int32   // of each list: 1, or the size of axis
	axis   int32   // in the order of validShape
}

// tellsAxis reports whether the API can describe codes with a scale for each index of an axis. Its zero points have
// 8 bits and a sign, and its generations before 1.14 do not say which axis it is.
func tellsAxis(q *tensor.Quant) bool { return served().axis && !slices.ContainsFunc(q.Zero, tooWide) }

func tooWide(zero int32) bool { return zero < math.MinInt8 || zero > math.MaxInt8 }

// setQuant describes codes, as shifts if the metadata ask for them. Codes with a zero point that the API cannot describe
// are shown as the numbers they stand for. It returns why there are no shifts, if the metadata ask for them.
func (p *port) setQuant(shift bool) (why string) {
	q := p.PerAxis
	if q == nil && p.Quant != nil {
		q = tensor.PerTensor(p.Quant.Scale, int32(p.Quant.Zero))
	}
	switch {
	case q == nil:
		return ""
	case slices.ContainsFunc(q.Zero, tooWide):
		p.kind, p.numbers = typeF32, true
		return ""
	}
	p.length, p.axis = int32(len(q.Scale)), int32(q.Axis)
	if p.order != nil {
		p.axis = int32(slices.Index(p.order, q.Axis))
	}
	if shift {
		shifts, why := shiftsOf(q)
		if why == "" {
			boundary.SetSlice(&p.lists, shifts)
			p.quant, p.first = quantShift, p.lists.Addr()
			return ""
		}
		defer func() { p.describeScales(q) }()
		return why
	}
	p.describeScales(q)
	return ""
}

// describeScales stores the scales, and behind them the zero points.
func (p *port) describeScales(q *tensor.Quant) {
	var list []byte
	for _, s := range q.Scale {
		list = binary.NativeEndian.AppendUint32(list, math.Float32bits(s))
	}
	for i := range q.Scale {
		list = append(list, byte(int8(q.ZeroAt(i))))
	}
	boundary.SetSlice(&p.lists, list)
	p.quant, p.first = quantScale, p.lists.Addr()
	p.zero = p.first + 4*uintptr(len(q.Scale))
}

// shiftsOf returns the shift of each scale: a code stands for itself / 2^shift. Without one, why says which code needs a
// scale.
func shiftsOf(q *tensor.Quant) (shifts []uint8, why string) {
	for i, s := range q.Scale {
		fraction, exponent := math.Frexp(float64(s))
		n := 1 - exponent
		switch {
		case q.ZeroAt(i) != 0:
			return nil, "a zero point other than 0"
		case fraction != 0.5 || n < 0 || n > math.MaxUint8:
			return nil, "a scale that is not 1, 1/2, 1/4 and so on"
		}
		shifts = append(shifts, uint8(n))
	}
	return shifts, ""
}
