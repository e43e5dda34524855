package nnapicalls

import (
	"bytes"
	"encoding/binary"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/nnapi"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/op/opcase"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
	dt "github.com/anynpu/anynpu/internal/drivertest"
	"github.com/anynpu/anynpu/internal/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m, mem.LiveCounters)) }

const step = 0.125 // of the result

// network is a network as tools quantize them: between all operators codes.
func network(t *testing.T) *graph.Graph {
	b := graph.NewBuilder("network")
	constant := func(typ tensor.Type, seed int) graph.Value {
		n, _ := typ.Shape.Count()
		return b.Const("", typ, opcase.Values(typ, int(n), seed))
	}
	number := func(scale float32, zero byte) (s, z graph.Value) {
		return b.Float32(scale), b.Const("", tensor.T(tensor.Uint8), []byte{zero})
	}
	coded := func(x graph.Value, scale float32, zero byte) graph.Value {
		s, z := number(scale, zero)
		return b.Add(&op.Dequantize{}, b.Add(&op.Quantize{}, x, s, z), s, z)
	}
	scales := b.Const("", tensor.T(tensor.Float32, 3), tensor.Float32s(0.5, 0.25, 0.125))
	weights := b.Add(&op.Dequantize{}, constant(tensor.T(tensor.Int8, 3, 2, 2, 2), 2), scales)
	units := b.Const("", tensor.T(tensor.Float32, 3), tensor.Float32s(0.125, 0.0625, 0.03125))
	bias := b.Add(&op.Dequantize{}, constant(tensor.T(tensor.Int32, 3), 1), units)
	x := coded(b.Input("x", tensor.T(tensor.Float32, 1, 2, 5, 5)), 0.25, 8)
	filter := b.Add(&op.Transpose{}, weights, b.Int64s(0, 2, 3, 1))
	y := coded(b.Add(&op.Relu{}, b.Add(&op.Conv{Groups: 1}, x, filter, bias)), step, 0)
	y = coded(b.Add(&op.MaxPool{Kernel: []int64{2, 2}}, y), 2*step, 0)
	z := coded(b.Add(&op.AveragePool{Kernel: []int64{2, 2}}, coded(b.Add(&op.Conv{Groups: 1}, x, filter, bias), step,
		100)), step, 100)
	b.Output(coded(b.Add(&op.Add{}, y, z), step, 90))
	g, err := b.Graph()
	require.NoError(t, err)
	return g
}

// TestIntegers_computesTheSame: codes may be rounded otherwise, by a step.
func TestIntegers_computesTheSame(t *testing.T) {
	g := network(t)
	typ := tensor.T(tensor.Float32, 1, 2, 5, 5)
	x := []tensor.Tensor{{DType: typ.DType, Dims: []int64{1, 2, 5, 5}, Data: opcase.Values(typ, 50, 3)}}
	rewritten, err := integers(g)
	require.NoError(t, err)
	var results [][]float32
	for _, g := range []*graph.Graph{g, rewritten} {
		p := dt.Compile(t, g, dt.CPU(t))
		out := dt.Results(t, p, x)
		v, err := tensor.ReadFloat32s(out[0].Data, 27)
		require.NoError(t, err)
		results = append(results, v)
		p.Release()
	}
	assert.InDeltaSlice(t, results[0], results[1], 4*step+1e-6)
	assert.Greater(t, slices.Max(results[0]), slices.Min(results[0])+16*step)
}

// TestIntegers_operations: what computes has codes, and RELU is fused.
func TestIntegers_operations(t *testing.T) {
	g, err := integers(network(t))
	require.NoError(t, err)
	m, err := nnapi.Describe(g, spec.Level8)
	require.NoError(t, err)
	count, codes := map[spec.OperationCode]int{}, map[spec.OperandCode]bool{}
	for _, o := range m.Operations {
		count[o.Code]++
		if o.Code == spec.Conv2D {
			codes[m.Operands[o.Inputs[0]].Type], codes[m.Operands[o.Inputs[1]].Type] = true, true
		}
	}
	assert.Equal(t, map[spec.OperandCode]bool{spec.TensorQuant8Asymm: true, spec.TensorQuant8SymmPerChannel: true}, codes)
	assert.Equal(t, 2, count[spec.Conv2D])
	assert.Zero(t, count[spec.ReLU])
	assert.Equal(t, 3, count[spec.Quantize], "the input, and behind both pools")
	plain := &graph.Graph{}
	same, err := integers(plain)
	require.NoError(t, err)
	assert.Same(t, plain, same)
}

// TestWrite_layout reads the head of a file as bench/anynpu/calls.h does.
func TestWrite_layout(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Write(&b, &spec.Model{
		Operands: []spec.Operand{{Type: spec.TensorFloat32, Dims: []uint32{2, 3}, Lifetime: spec.Input},
			{Type: spec.TensorQuant8SymmPerChannel, Dims: []uint32{1}, Channel: &spec.PerChannel{Dim: 7, Scales: []float32{2}},
				Lifetime: spec.Constant, Data: []byte{9}}},
		Operations: []spec.Operation{{Code: spec.ReLU, Inputs: []uint32{0}, Outputs: []uint32{1}}},
		Inputs:     []uint32{0}, Outputs: []uint32{1}}))
	data := b.Bytes()
	require.Equal(t, magic, string(data[:8]))
	words := func(from, n int) (v []uint32) {
		for i := range n {
			v = append(v, binary.NativeEndian.Uint32(data[from+4*i:]))
		}
		return v
	}
	assert.Equal(t, []uint32{2, 3, 2, 2, 3, 0, 0, 0, uint32(spec.Input), 0, 0}, words(8, 11))
	assert.Equal(t, []uint32{11, 1, 1, 0, 0, 1, 7, 0x40000000, uint32(spec.Constant), 1, 0}, words(52, 11))
	assert.Equal(t, byte(9), data[96])
	assert.Equal(t, []uint32{1, 19, 1, 0, 1, 1, 1, 0, 1, 1}, words(97, 10))
	assert.Len(t, data, 137)
}
