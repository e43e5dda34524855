package convert_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/anynpu/anynpu/backends/cpu/fastconvert"
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m, mem.LiveCounters)) }

var plain = []tensor.DType{tensor.Float32, tensor.Float16, tensor.BFloat16, tensor.Float64, tensor.Bool, tensor.Int8,
	tensor.Uint8, tensor.Int16,
	tensor.Uint16, tensor.Int32, tensor.Uint32, tensor.Int64, tensor.Uint64}

// choice is a set of kernels to convert with.
type choice struct {
	name string
	use  func() (restore func())
}

// allKernels are the portable kernels and those of each instruction set that this machine has.
func allKernels() []choice {
	list := []choice{{"portable", convert.UsePortable}}
	for _, isa := range kernel.Supported() {
		list = append(list, choice{fmt.Sprint(isa), func() func() {
			restore, err := kernel.Select(isa)
			if err != nil {
				panic(err)
			}
			return restore
		}})
	}
	return list
}

// sample returns elements of a type: any bits, and numbers about every limit and middle.
func sample(d tensor.DType, rnd *rand.Rand) tensor.Tensor {
	const n = 2003 // no multiple of anything
	t := tensor.New(d, n)
	for i := range t.Data {
		t.Data[i] = byte(rnd.Uint32())
	}
	edges := []float64{0, math.Copysign(0, -1), 0.5, -0.5, 1.5, -1.5, 2.5, 126.5, 127, 127.5, 128, -128, -128.5, -129,
		254.5, 255, 255.5, 256, 32767, 32768, -32768.5, 65535, 65536,
		65504, 65519, 65520, 1<<24 + 1, 1<<31 - 1, 1 << 31, -1 << 31, -1<<31 - 1, 1 << 32, 1<<53 + 1, 1 << 62, 1<<63 - 1025,
		1 << 63, -1 << 63, -1<<63 - 4096, 1 << 64, 1e19, 1.5e19, -1e19,
		1e20, 3e38, -3e38, 1e-30, 1e-40, math.Inf(1), math.Inf(-1), math.NaN()}
	wide := []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1<<62 + 1, 1<<53 + 1, 1<<56 + 1<<32 + 1, 1<<56 + 1<<48 + 1<<47,
		1<<56 + 1<<48 + 1<<47 + 1, 1 << 31, 1<<31 - 1, -1 << 31, 255, 256, -129, 65536}
	for i := range 500 {
		switch {
		case d.IsFloat() && i < len(edges):
			tensor.PutFloat(d, t.Data, i, edges[i], false)
		case d.IsFloat():
			tensor.PutFloat(d, t.Data, i, rnd.NormFloat64()*math.Ldexp(1, i%40), false)
		case i < len(wide):
			tensor.PutInt(d, t.Data, i, wide[i])
		}
	}
	return t
}

// computed runs one node by the reference.
func computed(t *testing.T, o graph.Op, in ...tensor.Tensor) tensor.Tensor {
	res, err := ref.ComputeContext(context.Background(), o, in,
		[]tensor.Type{{DType: tensor.Invalid, Shape: tensor.AnyShape()}})
	require.NoError(t, err)
	return res[0]
}

// same compares element by element; every NaN is like any other.
func same(t *testing.T, want, got tensor.Tensor) {
	t.Helper()
	require.Equal(t, want.DType, got.DType)
	size := want.DType.Bits() / 8
	if bytes.Equal(want.Data, got.Data) {
		return
	}
	for i := range want.Count() {
		if want.DType.IsFloat() && math.IsNaN(tensor.FloatAt(want.DType, want.Data, i)) &&
			math.IsNaN(tensor.FloatAt(got.DType, got.Data, i)) {
			continue
		}
		require.Equal(t, want.Data[i*size:][:size], got.Data[i*size:][:size], "element %d of %v", i, want.DType)
	}
}

func TestCast_equalsReference(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	work := make([]float32, convert.Work)
	for _, k := range allKernels() {
		restore := k.use()
		for _, from := range plain {
			x := sample(from, rnd)
			for _, to := range plain {
				for _, rule := range []op.RangeRule{op.CastWrap, op.CastSaturate} {
					t.Run(fmt.Sprint(k.name, " ", from, " to ", to, rule), func(t *testing.T) {
						y := tensor.New(to, x.Dims...)
						convert.Cast(y.Data, to, x.Data, from, x.Count(), rule == op.CastSaturate, work)
						same(t, computed(t, &op.Cast{To: to, OutOfRange: rule}, x), y)
					})
				}
			}
		}
		restore()
	}
}

// scales returns the tensors of codes.
func scales(d tensor.DType, codes []convert.Code) (scale, zero tensor.Tensor) {
	scale, zero = tensor.New(tensor.Float32, int64(len(codes))), tensor.New(d, int64(len(codes)))
	for i, c := range codes {
		tensor.PutFloat(tensor.Float32, scale.Data, i, float64(c.Scale), false)
		tensor.PutInt(d, zero.Data, i, c.Zero)
	}
	return scale, zero
}

func TestQuantize_equalsReference(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	few := []convert.Code{{0.5, 0}, {0.0078125, 100}, {3e-5, 7}, {1e-42, 1}, {1e30, 3}}
	many := convert.Codes{Inner: 1}
	for i := range 2003 {
		many.Of = append(many.Of, convert.Code{0.01 * float32(i+1), int64(i % 100)})
	}
	var all []convert.Codes
	for _, c := range few {
		all = append(all, *convert.PerTensor(c))
	}
	all = append(all, many, convert.Codes{few, 3}, convert.Codes{few, 50})
	for _, k := range allKernels() {
		restore := k.use()
		for _, d := range plain {
			if !convert.Codable(d) {
				continue
			}
			for i, c := range all {
				scale, zero := scales(d, c.Of)
				shape := func(x tensor.Tensor) tensor.Tensor { // such that the codes have axis 1
					n := int64(len(c.Of) * c.Inner)
					x.Dims = []int64{int64(x.Count()) / n, int64(len(c.Of)), int64(c.Inner)}
					x.Data = x.Data[:x.Count()*x.DType.Bits()/8]
					return x
				}
				t.Run(fmt.Sprint(k.name, " ", d, " ", i), func(t *testing.T) {
					x := shape(sample(tensor.Float32, rnd))
					y, n := tensor.New(d, x.Dims...), x.Count()
					for _, split := range []int{0, n / 3} {
						v := mem.Elements[float32](x.Data)[:n]
						convert.Quantize(y.Data, d, v[:split], &c, 0)
						convert.Quantize(y.Data[split*d.Bits()/8:], d, v[split:], &c, split)
						same(t, computed(t, &op.Quantize{Axis: 1}, x, scale, zero), y)
					}
					q := shape(sample(d, rnd))
					r := tensor.New(tensor.Float32, q.Dims...)
					convert.Dequantize(mem.Elements[float32](r.Data)[:n], d, q.Data, &c, 0)
					same(t, computed(t, &op.Dequantize{Axis: 1}, q, scale, zero), r)

					typ := tensor.Type{DType: d, Shape: tensor.AnyShape(), Quant: &tensor.Quant{Axis: 1}}
					for _, code := range c.Of {
						typ.Quant.Scale, typ.Quant.Zero = append(typ.Quant.Scale, code.Scale), append(typ.Quant.Zero, int32(code.Zero))
					}
					convert.QuantizeAway(y.Data, d, mem.Elements[float32](x.Data)[:n], &c, 0)
					res, err := ref.ComputeContext(context.Background(), &op.Convert{}, []tensor.Tensor{x}, []tensor.Type{typ})
					require.NoError(t, err)
					same(t, res[0], y)
				})
			}
		}
		restore()
	}
}

func TestCast_unalignedAndEmpty(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	work := make([]float32, convert.Work)
	for _, from := range plain {
		x := sample(from, rnd)
		shifted := append([]byte{0}, x.Data...)[1:]
		for _, to := range plain {
			y := tensor.New(to, x.Dims...)
			room := make([]byte, len(y.Data)+1)
			convert.Cast(room[1:], to, shifted, from, x.Count(), false, work)
			copy(y.Data, room[1:])
			same(t, computed(t, &op.Cast{To: to}, x), y)
			assert.NotPanics(t, func() { convert.Cast(nil, to, nil, from, 0, true, work) })
		}
	}
	assert.False(t, convert.Plain(tensor.Int4))
}

// Every number of 8 bits becomes itself, and comes back.
func TestFloats_of8Bits(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Float8E4M3FN, tensor.Float8E4M3FNUZ, tensor.Float8E5M2,
		tensor.Float8E5M2FNUZ} {
		assert.False(t, convert.Plain(d))
		x := tensor.New(d, 256)
		for i := range x.Data {
			x.Data[i] = byte(i)
		}
		wide := tensor.New(tensor.Float32, 256)
		convert.Floats(mem.Elements[float32](wide.Data), d, x.Data)
		same(t, computed(t, &op.Cast{To: tensor.Float32}, x), wide)
		y := tensor.New(d, 256)
		convert.Put(y.Data, d, mem.Elements[float32](wide.Data), false)
		same(t, x, y)
	}
}
