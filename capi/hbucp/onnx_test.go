package hbucp

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/capi/hb"
	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
)

// relu is y = Relu(x).
func relu(dims ...int64) *onnxtest.Model {
	return (&onnxtest.Model{}).Input("x", onnxtest.Float, dims...).Output("y", onnxtest.Float, dims...).
		Node("Relu", "y", "x")
}

// loaded loads models from memory; the pack ends with the test.
func loaded(t *testing.T, models ...*onnxtest.Model) (*Packed, error) {
	var data []uintptr
	var sizes []int32
	for _, m := range models {
		b := m.Bytes()
		data, sizes = append(data, hb.AddressOf(b)), append(sizes, int32(len(b)))
		defer runtime.KeepAlive(b)
	}
	p, err := dnnInitializeFromDDR(data, sizes)
	if err != nil {
		return nil, err
	}
	h, err := handle.Of(p)
	require.NoError(t, err)
	for _, m := range p.Models() {
		_, err := handle.Of(m)
		require.NoError(t, err)
	}
	t.Cleanup(func() {
		if _, err := handle.Hold[Packed](h); err == nil {
			handle.Unhold(h)
			require.NoError(t, dnnRelease(h))
		}
	})
	return p, nil
}

func load1(t *testing.T, m *onnxtest.Model) *Model {
	p, err := loaded(t, m)
	require.NoError(t, err)
	return p.Models()[0].(*Model)
}

// one is a model with tensors whose strides are filled in as programs do.
type one struct {
	m       *Model
	in, out []Tensor
}

// filled is a tensor as its port describes it, with memory of the test's own.
func filled(t *testing.T, p *port, alignment int64) Tensor {
	var x Tensor
	p.store(&x.properties, nil)
	d := &x.properties
	size := int64(p.element.Bits() / 8)
	for i := int(d.valid.rank) - 1; i >= 0; i-- {
		if d.stride[i] == open {
			d.stride[i] = roundUp(d.stride[i+1]*int64(d.valid.dims[i+1]), alignment)
		}
	}
	bytes := d.bytes
	if bytes == open {
		bytes = d.stride[0] * int64(d.valid.dims[0])
	}
	require.GreaterOrEqual(t, bytes, size)
	require.NoError(t, ucpMallocCached(&x.mem, uint64(bytes), 0))
	t.Cleanup(func() { _ = ucpFree(&SysMem{virt: x.mem.virt}) })
	return x
}

func ready(t *testing.T, model *onnxtest.Model, alignment int64) *one {
	o := &one{m: load1(t, model)}
	for _, p := range o.m.in {
		o.in = append(o.in, filled(t, p, alignment))
	}
	for _, p := range o.m.out {
		o.out = append(o.out, filled(t, p, alignment))
	}
	return o
}

func (x *Tensor) data() []byte { return hb.BytesAt(x.mem.virt, int64(x.mem.size)) }

// elements are those in the memory of a tensor.
//
//go:noinline
func elements[E any](x *Tensor) []E {
	var e E
	return unsafe.Slice((*E)(hb.CPointer(x.mem.virt)), int(x.mem.size)/int(unsafe.Sizeof(e)))
}

// infer runs a model in its synchronous form.
func (o *one) infer() error { return dnnInferV2(nil, &o.out[0], &o.in[0], o.m) }

func requireCode(t *testing.T, want int32, err error, words ...string) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, want, int32(status(err)), "%v", err)
	for _, w := range words {
		require.ErrorContains(t, err, w)
	}
}
