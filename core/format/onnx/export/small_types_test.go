package export_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/format/onnx/export"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// Conversions to the types of 2 to 8 bits come back with every rule that they have.
func TestOf_smallTypesComeBack(t *testing.T) {
	x := tensor.Tensor{DType: tensor.Float32, Dims: []int64{8},
		Data: tensor.Float32s(0, 1.3, -2.6, 5.5, 100, -7, 0.01, 1e-3)}
	for _, d := range []tensor.DType{tensor.Int2, tensor.Uint2, tensor.Int4, tensor.Uint4, tensor.Float4E2M1,
		tensor.Float6E2M3, tensor.Float6E3M2, tensor.Float8E8M0, tensor.Float8E5M2} {
		for _, o := range []op.Cast{{}, {Saturate: true}, {OutOfRange: op.CastSaturate}, {Powers: tensor.PowerNearest},
			{Powers: tensor.PowerDown, Saturate: true}} {
			o.To = d
			for _, from := range []tensor.DType{tensor.Float32, tensor.Float16, tensor.Int32, tensor.Bool} {
				b := graph.NewBuilder("g")
				v := b.Add(&op.Cast{To: from}, b.Input("x", tensor.T(tensor.Float32, 8)))
				y := b.Add(&o, v)
				b.Output(y)
				b.Output(b.Add(&op.Cast{To: tensor.Float32}, b.Add(&op.Reshape{}, y, b.Int64s(2, 4))))
				g, err := b.Graph()
				require.NoError(t, err)
				want, err := ref.Run(context.Background(), g, []tensor.Tensor{x})
				require.NoError(t, err)
				got, err := again(g, []tensor.Tensor{x}, export.Options{})
				require.NoError(t, err, "%v from %v %+v", d, from, o)
				assert.Equal(t, want[0].Data, got[0].Data, "%v from %v %+v", d, from, o)
				assert.Equal(t, want[1].Data, got[1].Data, "%v from %v %+v", d, from, o)
			}
		}
	}
}

// The numbers and the scale of a quantization have one type in the file, whatever they have in the graph.
func TestOf_scalesOfOtherTypesComeBack(t *testing.T) {
	x := tensor.Tensor{DType: tensor.Float32, Dims: []int64{8},
		Data: tensor.Float32s(0, 1.3, -2.6, 5.5, 100, -7, 0.01, 1e-3)}
	types := []tensor.DType{tensor.Float32, tensor.Float16, tensor.BFloat16, tensor.Int32}
	for _, from := range types {
		for _, scale := range append(types[:3:3], tensor.Float8E8M0) {
			s := tensor.New(scale)
			tensor.PutFloat(scale, s.Data, 0, 0.25, false)
			b := graph.NewBuilder("g")
			v := b.Add(&op.Cast{To: from}, b.Input("x", tensor.T(tensor.Float32, 8)))
			b.Output(b.Add(&op.Quantize{To: tensor.Int8}, v, b.Const("s", s.Type(), s.Data)))
			g, err := b.Graph()
			require.NoError(t, err)
			m, err := export.Of(g, export.Options{})
			require.NoError(t, err)
			if scale != tensor.Float8E8M0 {
				assert.Equal(t, int64(export.BaseOpset), m.Opset)
			}
			file, err := m.Bytes()
			require.NoError(t, err)
			p, err := proto.Parse(file)
			require.NoError(t, err)
			kinds := map[string]int64{}
			for _, v := range append(p.Graph.Values, p.Graph.In...) {
				kinds[v.Name] = v.DType
			}
			for _, i := range p.Graph.Inits {
				kinds[i.Name] = i.DType
			}
			for _, o := range p.Graph.Nodes {
				switch o.OpType {
				case "Cast":
					kinds[o.Out[0]] = o.Attrs["to"].I
				case "QuantizeLinear":
					assert.Equal(t, kinds[o.In[0]], kinds[o.In[1]], "%v by %v", from, scale)
				}
			}
			want, err := ref.Run(context.Background(), g, []tensor.Tensor{x})
			require.NoError(t, err)
			got, err := again(g, []tensor.Tensor{x}, export.Options{})
			require.NoError(t, err)
			assert.Equal(t, want[0].Data, got[0].Data, "%v by %v", from, scale)
		}
	}
}

// Weights of few bits and their scales keep their types.
func TestOf_smallWeightsComeBack(t *testing.T) {
	x := tensor.Tensor{DType: tensor.Float32, Dims: []int64{1, 4}, Data: tensor.Float32s(1, 2, -3, 4)}
	for _, d := range []tensor.DType{tensor.Int2, tensor.Uint2, tensor.Int4, tensor.Float4E2M1, tensor.Float6E2M3,
		tensor.Float6E3M2} {
		size, _ := d.ByteSize(12)
		codes := make([]byte, size)
		for i := range codes {
			codes[i] = byte(i*91 + 17)
		}
		for _, scale := range []tensor.DType{tensor.Float32, tensor.Float8E8M0} {
			scales := tensor.New(scale, 2, 3)
			for i := range 6 {
				tensor.PutFloat(scale, scales.Data, i, float64(int(1)<<i), false)
			}
			b := graph.NewBuilder("g")
			in := b.Input("x", tensor.T(tensor.Float32, 1, 4))
			w := b.Add(&op.Dequantize{Axis: 0, Block: 2, To: tensor.Float32}, b.Const("w", tensor.T(d, 4, 3), codes),
				b.Const("s", tensor.T(scale, 2, 3), scales.Data))
			b.Output(b.Add(&op.MatMul{}, in, w))
			g, err := b.Graph()
			require.NoError(t, err)
			want, err := ref.Run(context.Background(), g, []tensor.Tensor{x})
			require.NoError(t, err)
			got, err := again(g, []tensor.Tensor{x}, export.Options{})
			require.NoError(t, err, "%v by %v", d, scale)
			assert.Equal(t, want[0].Data, got[0].Data, "%v by %v", d, scale)
		}
	}
}
