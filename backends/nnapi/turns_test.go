package nnapi

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	dt "github.com/anynpu/anynpu/internal/drivertest"
)

// libraryVariable names the library that stands in for a vendor's in a child of this test.
const libraryVariable = "ANYNPU_TEST_NNAPI_LIBRARY"

// TestTurns_byThisLibrary has AnyNPU's own library of NNAPI, which knows every operation, stand in for a driver: what a
// node becomes and what the façade makes of that must be what the node was.
func TestTurns_byThisLibrary(t *testing.T) {
	if os.Getenv(libraryVariable) == "" {
		dt.InChild(t, libraryVariable, "libneuralnetworks.so", "ANYNPU_NNAPI=cpu", "ANYNPU_NNAPI_DEVICES=npu:as-accelerator")
		return
	}
	t.Run("operators", func(t *testing.T) {
		left := map[string]bool{}
		for name := range turns {
			left[name] = true
		}
		dt.Nodes(t, ownDevice(t), append(dt.Operators(), operators()...), left)
	})
	t.Run("random graphs", func(t *testing.T) {
		nodes := dt.Split(t, ownDevice(t), dt.CPU(t))
		assert.Greater(t, nodes["own"], nodes["cpu"])
	})
}

func ownDevice(t *testing.T) *Device {
	opened, err := driver.Opening{}.Open(os.Getenv(libraryVariable))
	require.NoError(t, err)
	all, err := Open(Bind(opened.File, opened.Lookup), Config{ID: "own", Vendor: "AnyNPU"})
	require.NoError(t, err)
	return all[0]
}

// operators are the nodes of this API beside those of all.
func operators() []dt.Node {
	codes := func(scale float32, dims ...int64) dt.Operand { return dt.Codes(tensor.Int8, scale, dims...) }
	bytes := func(scale float32, dims ...int64) dt.Operand { return dt.Codes(tensor.Uint8, scale, dims...) }
	halves := func(dims ...int64) dt.Operand { return dt.Of(tensor.Float16, dims...) }
	bias := func(n int64) dt.Operand { return dt.Fixed(dt.Integers(n)) }
	channels := func(axis int, dims ...int64) dt.Operand {
		o := dt.Of(tensor.Int8, dims...)
		o.Type.Quant = &tensor.Quant{Axis: axis}
		for i := range dims[axis] {
			o.Type.Quant.Scale = append(o.Type.Quant.Scale, 0.25+float32(i)/8)
		}
		return dt.Fixed(o)
	}
	images := &op.Conv{Groups: 1, ChannelsLast: true}
	return []dt.Node{
		dt.One(&op.Div{Rounding: op.DivFloor}, dt.Integers(4), dt.Operand{Type: tensor.T(tensor.Int32, 4),
			Constant: tensor.Int32s(1, 2, -2, 3)}),
		dt.One(&op.Max{}, dt.Integers(2, 3), dt.Integers(3)),
		dt.One(&op.PRelu{}, dt.X, dt.Fixed(dt.Real(4))),
		dt.One(&op.Elu{Alpha: 0.5}, dt.X),
		dt.One(&op.Elu{Alpha: 0.5}, halves(2, 3)),
		dt.One(&op.Clip{}, dt.X, dt.Bound(-1), dt.Bound(1)),
		dt.One(&op.Clip{}, bytes(0.25, 2, 3), dt.Bound(0), dt.Bound(6)),
		dt.One(&op.Convert{}, dt.Real(2, 3)).To(bytes(0.125, 2, 3)),
		dt.One(&op.Convert{}, dt.Real(2, 3)).To(codes(0.125, 2, 3)),
		dt.One(&op.Convert{}, codes(0.5, 2, 3)).To(dt.Real(2, 3)),
		dt.One(&op.Convert{}, dt.Real(2, 3)).To(halves(2, 3)),
		dt.One(&op.Where{}, dt.Bools(2, 3, 4), dt.X, dt.Real(2, 3, 4)),
		dt.One(&op.Add{}, codes(0.5, 2, 3), codes(0.25, 3)),
		dt.One(&op.Mul{}, bytes(0.5, 2, 3), bytes(0.25, 3)).To(bytes(0.5, 2, 3)),
		dt.One(&op.Add{}, halves(2, 3), halves(3)),
		dt.One(&op.Conv{Groups: 4, ChannelsLast: true, Dilations: []int64{1, 2}}, dt.Last, dt.Fixed(dt.Real(4, 2, 2, 1))),
		dt.One(&op.Conv{Groups: 4, ChannelsLast: true}, dt.Last, dt.Real(8, 2, 2, 1)),
		dt.One(images, codes(0.5, 1, 5, 5, 2), dt.Fixed(codes(0.25, 3, 2, 2, 2))).To(codes(2, 1, 4, 4, 3)),
		dt.One(images, codes(0.5, 1, 5, 5, 2), channels(0, 3, 2, 2, 2), bias(3)).To(codes(2, 1, 4, 4, 3)),
		dt.One(&op.Conv{Groups: 2, ChannelsLast: true}, bytes(0.5, 1, 5, 5, 2), channels(0, 4, 2, 2, 1),
			bias(4)).To(bytes(2, 1, 4, 4, 4)),
		dt.One(&op.AveragePool{Kernel: []int64{2, 2}, Strides: []int64{2, 2}, Ceil: op.RoundCeil}, dt.First),
		dt.One(&op.FullyConnected{}, dt.Real(2, 3, 4), dt.Fixed(dt.Real(5, 4))),
		dt.One(&op.FullyConnected{}, dt.Real(4), dt.Fixed(dt.Real(5, 4))),
		dt.One(&op.FullyConnected{}, bytes(0.5, 3, 4), dt.Fixed(bytes(0.25, 5, 4)), bias(5)).To(bytes(4, 3, 5)),
		dt.One(&op.MatMul{TransposeA: true}, dt.Real(2, 4, 3), dt.Real(2, 4, 5)),
		dt.One(&op.MatMul{TransposeA: true}, dt.Real(4, 3), dt.Real(4, 5)),
		dt.One(&op.MatMul{}, dt.Real(2, 3, 4), dt.Fixed(dt.Real(4, 5)), dt.Fixed(dt.Real(5))),
		dt.One(&op.Unsqueeze{}, dt.X, dt.Numbers(0)),
		dt.One(&op.Transpose{}, codes(0.5, 2, 3)),
		dt.One(&op.Pad{}, dt.X, dt.Numbers(0, 1, 0, 2, 0, 1)),
		dt.One(&op.Gather{NegativeWraps: true}, dt.X, dt.Numbers(-1, 0), dt.Numbers(1)),
		dt.One(&op.Gather{}, dt.X, dt.Numbers(1, 0, 1)),
		dt.One(&op.Softmax{Axis: -1, Beta: 2}, dt.X),
		dt.One(&op.ReduceMean{}, codes(0.5, 2, 3), dt.Numbers(0)),
		dt.One(&op.ReduceSum{}, dt.X, dt.Numbers(0, 1, 2)),
		dt.One(&op.ReduceAll{}, dt.Bools(2, 3), dt.Numbers(1)),
		dt.One(&op.ReduceAny{KeepDims: true}, dt.Bools(2, 3), dt.Numbers(1)),
	}
}
