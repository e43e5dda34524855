package sizes

import (
	"context"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
	"github.com/anynpu/anynpu/core/tensor"
)

// rknnDoor is RKNN: the sets of shapes that the metadata list. The API saves nothing; its other form is a context that
// is duplicated after it has run with the first sizes.
type rknnDoor struct{ library *suite.Library }

const duplicate = "duplicate"

func (*rknnDoor) Name() string { return rknn.API.Name }

func (*rknnDoor) Forms() []string { return []string{fresh, duplicate} }

func (d *rknnDoor) use(_ context.Context, m *Model, form, dir string, f func(run runner) error) error {
	t := &rknn.T{T: &suite.T{Library: d.library, Dir: dir}}
	var judged error
	err := t.Compute(func() {
		ctx := new(uintptr)
		t.OK("init", ctx, m.File, len(m.File), 0, nil)
		own := t.Owned(*ctx)
		if form == duplicate {
			rknnRun(t, m, own, 0, m.Inputs(0), nil)
			own = t.Dup(own)
		}
		judged = f(func(r int, in []tensor.Tensor, out [][]int64) ([]tensor.Tensor, error) {
			return rknnRun(t, m, own, r, in, out), nil
		})
	})
	if err == nil {
		err = judged
	}
	return err
}

// rknnRun chooses the sizes of a run and computes it. Without out nothing is fetched.
func rknnRun(t *rknn.T, m *Model, ctx uintptr, r int, in []tensor.Tensor, out [][]int64) (got []tensor.Tensor) {
	attrs := make([]rknn.TensorAttr, len(in))
	given := make([]rknn.Input, len(in))
	for i, x := range in {
		attrs[i] = rknn.TensorAttr{Index: uint32(i), Rank: uint32(len(x.Dims)), Format: rknn.Undefined}
		given[i] = t.Given(i, rknn.Float32, rknn.Undefined, cmem.As[float32](x.Data))
		if len(x.Dims) == 4 {
			attrs[i].Format = rknn.NCHW
			given[i] = t.Given(i, rknn.Float32, rknn.NHWC, channelsLast(x))
		}
		for k, n := range m.In[i].Dims[r] {
			attrs[i].Dims[k] = uint32(n)
		}
	}
	t.OK("set_input_shapes", ctx, len(in), attrs)
	t.OK("inputs_set", ctx, len(in), given)
	t.Run(ctx)
	for k := range out {
		y := tensor.Tensor{DType: tensor.Float32, Data: t.Raw(ctx, k, 1)}
		for _, n := range t.Attr(ctx, rknn.QueryCurrentOutput, k).Shape() {
			y.Dims = append(y.Dims, int64(n))
		}
		got = append(got, y)
	}
	return got
}

// channelsLast are the elements of images as the API takes them.
func channelsLast(x tensor.Tensor) []float32 {
	v := cmem.As[float32](x.Data)
	out := make([]float32, 0, len(v))
	channels, area := int(x.Dims[1]), int(x.Dims[2]*x.Dims[3])
	for n := range int(x.Dims[0]) {
		for p := range area {
			for c := range channels {
				out = append(out, v[(n*channels+c)*area+p])
			}
		}
	}
	return out
}
