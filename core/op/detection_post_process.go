package op

import (
	"fmt"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// DetectionPostProcess decodes boxes against anchors and selects detections by non-maximum suppression. With (ay, ax,
// ah, aw) the anchor and (y, x, h, w) the encoded box: centre y = y/Scale[0]·ah + ay, height = exp(h/Scale[2])·ah, x
// and width alike with Scale[1], Scale[3]. Columns of scores before the last Classes belong to the background and are
// skipped; Classes 0 means all columns but the first. A score below Score never counts; of two boxes whose intersection
// over union exceeds IoU only the better stays (0 where a box has no area; equal scores: lower box first).
//
// Fast (Regular false): suppression runs once, on each box's best class score, and keeps MaxDetections boxes; each
// yields its min(MaxClasses, Classes) best classes, best first (equal scores: lower class first), without a further
// threshold. Regular: suppression runs per class, keeping DetectionsPerClass boxes each, and the MaxDetections best
// over all classes are the result (equal: lower class).
//
// Inputs, floats or quantized: boxes [B, A, 4 or more]; scores [B, A, Classes or Classes+1], with Classes 0 any number
// of columns from 2 on; anchors [A, 4]. Outputs, float32, zeros behind the last detection: boxes [B, M, 4] as ymin,
// xmin, ymax, xmax; classes [B, M] without the background; scores [B, M]; count [B]; M = MaxDetections·max(1,
// MaxClasses). Source: OH_NN_OPS_DETECTION_POST_PROCESS (docs/abi/ohnn.md, operators 6),
// ANEURALNETWORKS_DETECTION_POSTPROCESSING.
type DetectionPostProcess struct {
	MaxDetections, MaxClasses, DetectionsPerClass, Classes int64
	IoU, Score                                             float32
	Scale                                                  []float32 // y, x, h, w; positive
	Regular                                                bool
}

func init() { graph.Register[*DetectionPostProcess]("detection_post_process", graph.Traits{}) }

// Infer checks attributes and shapes; the output sizes follow from the attributes.
func (o *DetectionPostProcess) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 3, 3, declared, 4, 4); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	for i, rank := range []int{3, 3, 2} {
		if err := wantTensor(in, i, realWords, isReal); err != nil {
			return nil, err
		}
		if err := wantRank(in, i, rank); err != nil {
			return nil, err
		}
	}
	batch, anchors := tensor.AnyDim(), tensor.AnyDim()
	fits := true
	join := func(d *tensor.Dim, e tensor.Dim) {
		var ok bool
		*d, ok = meet(*d, e)
		fits = fits && ok
	}
	b, s, a := in[0].Shape, in[1].Shape, in[2].Shape
	if b.Ranked {
		join(&batch, b.Dims[0])
		join(&anchors, b.Dims[1])
		fits = fits && (!b.Dims[2].Known() || b.Dims[2].N >= 4)
	}
	if s.Ranked {
		join(&batch, s.Dims[0])
		join(&anchors, s.Dims[1])
		n := s.Dims[2]
		fits = fits && (!n.Known() || n.N == o.Classes && n.N > 0 || n.N == o.Classes+1 && o.Classes > 0 || o.Classes == 0 &&
			n.N > 1)
	}
	if a.Ranked {
		join(&anchors, a.Dims[0])
		fits = fits && (!a.Dims[1].Known() || a.Dims[1].N == 4)
	}
	if !fits {
		columns := fmt.Sprintf("%d or %d", o.Classes, o.Classes+1)
		if o.Classes == 0 {
			columns = "2 or more"
		}
		return nil, fault.New(fault.Shape, "want boxes [B,A,4] as input 0, scores [B,A,%s] as input 1 and anchors [A,4] as "+
			"input 2, got %v, %v and %v", columns, b, s, a)
	}
	m, err := timesDims(tensor.D(o.MaxDetections), tensor.D(max(1, o.MaxClasses)))
	if err != nil {
		return nil, err
	}
	f := func(d ...tensor.Dim) tensor.Fact {
		return tensor.Fact{Type: tensor.Type{DType: tensor.Float32, Shape: tensor.OfDims(d...)}}
	}
	return []tensor.Fact{f(batch, m, tensor.D(4)), f(batch, m), f(batch, m), f(batch)}, nil
}

func (o *DetectionPostProcess) check() error {
	switch {
	case o.MaxDetections < 1 || o.Classes < 0 || o.MaxClasses < 0 || o.DetectionsPerClass < 0:
		return fault.New(fault.Argument, "%d detections of %d classes, %d classes each, %d detections a class",
			o.MaxDetections, o.Classes, o.MaxClasses, o.DetectionsPerClass)
	case !o.Regular && o.MaxClasses < 1:
		return fault.New(fault.Argument, "max classes %d", o.MaxClasses)
	case o.Regular && o.DetectionsPerClass < 1:
		return fault.New(fault.Argument, "detections per class %d", o.DetectionsPerClass)
	case len(o.Scale) != 4:
		return fault.New(fault.Argument, "want 4 scales, got %d", len(o.Scale))
	}
	for i, v := range o.Scale {
		if !(v > 0) {
			return fault.New(fault.Argument, "scale %d is %v: want a number above 0", i, v)
		}
	}
	return nil
}
