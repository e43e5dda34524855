package nnapi

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(map[string]func(t *translation) error{
		"box_with_nms_limit": lowerBoxWithNMSLimit,
		"generate_proposals": lowerGenerateProposals,
		"multinomial":        lowerMultinomial,
	})
}

// finds are the operators whose results have as many rows as a run finds. No node of this device reads such a result,
// as its operands have known sizes: so they are outputs of the model, or unread.
var finds = map[string]bool{"box_with_nms_limit": true, "generate_proposals": true}

// makes is takes of a result, whose first size may be open.
func makes(f tensor.Fact) error {
	if s := f.Shape; s.Ranked && len(s.Dims) > 0 && !s.Dims[0].Known() {
		f.Shape = s.Clone()
		f.Shape.Dims[0] = tensor.D(1)
	}
	return takes(f)
}

// found are the results of the node, with the largest number of rows that they can have.
func (t *translation) found(rows int64) (out []*operand, err error) {
	for k := range t.N.Out {
		if !t.given(k) {
			return nil, refuse("a result is left out")
		}
		y := t.Out(k)
		out = append(out, y)
		if y.typ.Shape.Static() {
			continue
		}
		y.most = []int64{rows}
		for _, d := range y.typ.Shape.Dims[1:] {
			y.most = append(y.most, d.N)
		}
	}
	return out, nil
}

// lowerBoxWithNMSLimit: a box is there once for each class at most, and as often as the limit of its batch allows.
func lowerBoxWithNMSLimit(t *translation) error {
	o, scores := t.N.Op.(*op.BoxWithNMSLimit), t.In(0)
	boxes, classes := scores.Dims()[0], scores.Dims()[1]
	if o.Max >= 0 {
		classes = min(classes, o.Max)
	}
	out, err := t.found(boxes * classes)
	if err != nil {
		return err
	}
	kernel := map[op.NMSKernel]int64{op.NMSHard: spec.NMSHard, op.NMSLinear: spec.NMSLinear,
		op.NMSGaussian: spec.NMSGaussian}[o.Kernel]
	t.addMulti(spec.BoxWithNMSLimit, out, scores, t.In(1), t.In(2), floatScalar(o.Score, scores),
		int32Scalar(min(o.Max, math.MaxInt32)), int32Scalar(kernel), floatScalar(o.IoU, scores), floatScalar(o.Sigma, scores),
		floatScalar(o.Keep, scores))
	return nil
}

// lowerGenerateProposals: the limits come from the image.
func lowerGenerateProposals(t *translation) error {
	o, scores := t.N.Op.(*op.GenerateProposals), t.In(0)
	d := scores.Dims()
	rows := d[1] * d[2] * d[3]
	for _, limit := range []int64{o.Before, o.After} {
		if limit > 0 {
			rows = min(rows, limit)
		}
	}
	out, err := t.found(d[0] * rows)
	if err != nil {
		return err
	}
	limit := func(n int64) *operand { return int32Scalar(min(max(n, 0), math.MaxInt32)) }
	t.addMulti(spec.GenerateProposals, out, t.Image(scores, o.ChannelsLast), t.Image(t.In(1), o.ChannelsLast), t.In(2),
		t.In(3), floatScalar(o.StrideHeight, scores), floatScalar(o.StrideWidth, scores), limit(o.Before), limit(o.After),
		floatScalar(o.IoU, scores), floatScalar(o.MinSize, scores), boolScalar(false))
	return nil
}

// lowerMultinomial: two seeds of 0 stand for other numbers in each run. Which numbers seeds decide is the driver's.
func lowerMultinomial(t *translation) error {
	o, seeds := t.N.Op.(*op.Multinomial), t.In(2)
	switch {
	case o.Seeded && o.Seed == 0:
		return refuse("seeds of 0 are none to RANDOM_MULTINOMIAL")
	case seeds == nil:
		seeds = list(o.Seed&math.MaxUint32, o.Seed>>32)
		if !o.Seeded {
			seeds = list(0, 0)
		}
	}
	t.add(spec.RandomMultinomial, t.Out(0), t.In(0), int32Scalar(t.Out(0).Dims()[1]), seeds)
	return nil
}
