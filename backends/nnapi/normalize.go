package nnapi

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/op"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(map[string]func(t *translation) error{
		"lrn":           lowerLRN,
		"l2_normalize":  lowerL2Normalize,
		"batch_norm":    lowerBatchNorm,
		"instance_norm": lowerInstanceNorm,
		"layer_norm":    lowerLayerNorm,
		"rms_norm":      lowerRMSNorm,
	})
}

// normEpsilon keeps the norm of L2_NORMALIZATION from being 0.
const normEpsilon = 1e-12

// axis is an axis of input 0, counted from the front; err says what is wrong with it.
func (t *translation) axis(a int64) (axis int, err error) {
	axis, err = op.Axis(a, len(t.In(0).Dims()))
	if err != nil {
		return 0, refuse("%v", err)
	}
	return axis, nil
}

// lastly adds an operation along an axis that is the last one of images unless it is named. Of images with their
// channels first it is the last one once they are turned around.
func (t *translation) lastly(code spec.OperationCode, axis int, params ...*operand) {
	x, y := t.In(0), t.Out(0)
	rank := len(x.Dims())
	if rank == 4 && axis == 1 {
		image := t.Image(x, false)
		to, done := t.Result(y, false)
		t.add(code, to, append([]*operand{image}, params...)...)
		done()
		return
	}
	in := append([]*operand{x}, params...)
	if rank != 4 || axis != rank-1 {
		in = append(in, int32Scalar(int64(axis)))
	}
	t.add(code, y, in...)
}

func lowerLRN(t *translation) error {
	o, x := t.N.Op.(*op.LRN), t.In(0)
	axis, err := t.axis(o.Axis)
	switch {
	case err != nil:
		return err
	case o.Before != o.After:
		return refuse("LOCAL_RESPONSE_NORMALIZATION reaches as far to both sides, not %d and %d", o.Before, o.After)
	}
	alpha := o.Alpha
	if o.DivideAlpha {
		alpha /= float32(o.Before + o.After + 1)
	}
	t.lastly(spec.LocalResponseNormalization, axis, int32Scalar(o.Before), floatScalar(o.Bias, x), floatScalar(alpha, x),
		floatScalar(o.Beta, x))
	return nil
}

// lowerL2Normalize knows one axis, and the epsilon of the API.
func lowerL2Normalize(t *translation) error {
	o := t.N.Op.(*op.L2Normalize)
	axes, ok := t.Ints(1, nil)
	switch {
	case !ok || len(axes) != 1:
		return refuse("L2_NORMALIZATION is along one axis that is named before the run")
	case o.Mode != op.EpsMax || o.Epsilon != normEpsilon:
		return refuse("L2_NORMALIZATION takes no sum of squares for less than %g", float32(normEpsilon))
	}
	axis, err := t.axis(axes[0])
	if err == nil {
		t.lastly(spec.L2Normalization, axis)
	}
	return err
}

// realInput says what stands against input 0 where steps in between would be rounded: results are to be those of one
// operator.
func (t *translation) realInput() error {
	if x := t.In(0).typ; x.Quant != nil || x.DType != tensor.Float32 {
		return refuse("NNAPI has it in several operations, between which %v would be rounded", x.DType)
	}
	return nil
}

// floats are the numbers of input k, a constant of real numbers.
func (t *translation) floats(k int) ([]float64, bool) {
	f := t.G.Fact(t.N.In[k])
	n, ok := f.Shape.Count()
	if !ok || f.Const == nil || f.Quant != nil || !f.DType.IsFloat() {
		return nil, false
	}
	v, err := tensor.ReadFloats(f.DType, f.Const.Data, int(n))
	return v, err == nil
}

// channelwise makes y of x, both with the channels on an axis, by a factor and a summand for each channel.
func (t *translation) channelwise(x, y *operand, axis int, factors, summands []float64) {
	sizes := []int64{int64(len(factors))}
	for range x.Dims()[axis+1:] {
		sizes = append(sizes, 1)
	}
	numbers := func(v []float64) *operand {
		o := x.Between(sizes...)
		data := tensor.New(o.typ.DType, sizes...)
		for i, f := range v {
			tensor.PutFloat(o.typ.DType, data.Data, i, f, false)
		}
		o.data = data.Data
		return o
	}
	product := x.Between(x.Dims()...)
	t.add(spec.Mul, product, x, numbers(factors), unfused())
	t.add(spec.Add, y, product, numbers(summands), unfused())
}

// lowerBatchNorm is a product and a sum, whose numbers are known before the run.
func lowerBatchNorm(t *translation) error {
	o := t.N.Op.(*op.BatchNorm)
	if err := t.realInput(); err != nil {
		return err
	}
	axis, err := t.axis(o.Axis)
	if err != nil {
		return err
	}
	var params [4][]float64 // scale, offset, mean, variance
	for i := range params {
		var ok bool
		if params[i], ok = t.floats(i + 1); !ok {
			return refuse("input %d is no constant of real numbers", i+1)
		}
	}
	factors, summands := make([]float64, len(params[0])), make([]float64, len(params[0]))
	for c := range factors {
		factors[c] = params[0][c] / math.Sqrt(params[3][c]+float64(o.Epsilon))
		summands[c] = params[1][c] - params[2][c]*factors[c]
		if f, s := float32(factors[c]), float32(summands[c]); f-f != 0 || s-s != 0 { // too large, or none
			return refuse("channel %d has no finite factor and summand", c)
		}
	}
	last := !(len(t.In(0).Dims()) == 4 && axis == 1)
	if !last {
		axis = 3
	}
	image := t.Image(t.In(0), last)
	y, done := t.Result(t.Out(0), last)
	t.channelwise(image, y, axis, factors, summands)
	done()
	return nil
}

// lowerInstanceNorm has one scale and one bias in the API: others are a product and a sum behind it.
func lowerInstanceNorm(t *translation) error {
	o := t.N.Op.(*op.InstanceNorm)
	x := t.In(0)
	if len(x.Dims()) != 4 {
		return refuse("INSTANCE_NORMALIZATION is of images, not of %d dimensions", len(x.Dims())-2)
	}
	axis, err := t.axis(o.Axis)
	if err != nil {
		return err
	}
	scale, ok1 := t.floats(1)
	bias, ok2 := t.floats(2)
	switch {
	case !ok1 || !ok2:
		return refuse("scale and bias are no constants of real numbers")
	case axis == 2:
		return refuse("INSTANCE_NORMALIZATION has the channels in dimension 1 or 3")
	}
	image := t.Image(x, axis == 3)
	y, done := t.Result(t.Out(0), axis == 3)
	normalize := func(to *operand, gamma, beta float64) {
		t.add(spec.InstanceNormalization, to, image, floatScalar(float32(gamma), x), floatScalar(float32(beta), x),
			floatScalar(o.Epsilon, x), boolScalar(false))
	}
	if same(scale) && same(bias) {
		normalize(y, scale[0], bias[0])
	} else {
		if err := t.realInput(); err != nil {
			return err
		}
		plain := image.Between(image.Dims()...)
		normalize(plain, 1, 0)
		t.channelwise(plain, y, 3, scale, bias)
	}
	done()
	return nil
}

// same reports whether numbers are all equal.
func same(v []float64) bool {
	return !slices.ContainsFunc(v, func(x float64) bool { return x != v[0] })
}

// behind are the axes of input 0 from one on, and the sizes that are left when they are reduced to 1.
func (t *translation) behind(axis int) (axes *operand, sizes []int64) {
	sizes = slices.Clone(t.In(0).Dims())
	var from []int64
	for a := axis; a < len(sizes); a++ {
		from, sizes[a] = append(from, int64(a)), 1
	}
	return list(from...), sizes
}

// deviation is 1 / sqrt(mean of the squares of x + epsilon), in given sizes.
func (t *translation) deviation(x, axes *operand, sizes []int64, epsilon float32, to *operand) {
	squares, mean, above := x.Between(x.Dims()...), x.Between(sizes...), x.Between(sizes...)
	t.add(spec.Mul, squares, x, x, unfused())
	t.add(spec.Mean, mean, squares, axes, int32Scalar(1))
	t.add(spec.Add, above, mean, constant(epsilon, x), unfused())
	t.add(spec.Rsqrt, to, above)
}

// lowerLayerNorm is of the differences from the mean. What it tells of mean and deviation is there on the way.
func lowerLayerNorm(t *translation) error {
	o := t.N.Op.(*op.LayerNorm)
	if err := t.realInput(); err != nil {
		return err
	}
	axis, err := t.axis(o.Axis)
	if err != nil {
		return err
	}
	x := t.In(0)
	axes, sizes := t.behind(axis)
	given := func(k int) *operand {
		if k < len(t.N.Out) && t.N.Out[k] >= 0 {
			return t.Out(k)
		}
		return x.Between(sizes...)
	}
	mean, factor, moved := given(1), given(2), x.Between(x.Dims()...)
	t.add(spec.Mean, mean, x, axes, int32Scalar(1))
	t.add(spec.Sub, moved, x, mean, unfused())
	t.deviation(moved, axes, sizes, o.Epsilon, factor)
	t.steps(moved, step{spec.Mul, factor}, step{spec.Mul, t.In(1)}, step{spec.Add, t.In(2)})
	return nil
}

func lowerRMSNorm(t *translation) error {
	o := t.N.Op.(*op.RMSNorm)
	if err := t.realInput(); err != nil {
		return err
	}
	axis, err := t.axis(o.Axis)
	if err != nil {
		return err
	}
	x := t.In(0)
	axes, sizes := t.behind(axis)
	factor := x.Between(sizes...)
	t.deviation(x, axes, sizes, o.Epsilon, factor)
	t.steps(x, step{spec.Mul, factor}, step{spec.Mul, t.In(1)})
	return nil
}

// step is an operation of two operands, of which it names the second; nil: there is none to be done.
type step struct {
	code spec.OperationCode
	with *operand
}

// steps makes output 0 of x, one step after the other.
func (t *translation) steps(x *operand, list ...step) {
	list = slices.DeleteFunc(list, func(s step) bool { return s.with == nil })
	for i, s := range list {
		y := t.Out(0)
		if i < len(list)-1 {
			y = x.Between(x.Dims()...)
		}
		t.add(s.code, y, x, s.with, unfused())
		x = y
	}
}
