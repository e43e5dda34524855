package nnapi

import (
	"context"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/built"
)

// libraryVariable names the library that stands in for a vendor's in a child of this test.
const libraryVariable = "ANYNPU_TEST_NNAPI_LIBRARY"

// TestTurns_byThisLibrary has AnyNPU's own library of NNAPI, which knows every operation, stand in for a driver: what a
// node becomes and what the façade makes of that must be what the node was. The library keeps threads and descriptors
// for ever, so that happens in a child.
func TestTurns_byThisLibrary(t *testing.T) {
	if os.Getenv(libraryVariable) != "" {
		t.Run("operators", turnsOfOperators)
		t.Run("random graphs", func(t *testing.T) {
			own, host := ownDevice(t), newCPU(t)
			nodes, parts := split(t, own, host)
			t.Logf("%v in %d parts", nodes, parts)
			assert.Greater(t, nodes["own"], nodes["cpu"])
		})
		return
	}
	if testing.Short() {
		t.Skip("SKIP: with -short, as for the race detector, no second library is loaded")
	}
	library, err := filepath.Abs(built.Library("../..", "libneuralnetworks.so"))
	require.NoError(t, err)
	if _, err := os.Stat(library); err != nil {
		t.Skipf("SKIP: %s is not built: make libs", library)
	}
	child := exec.Command(os.Args[0], "-test.run=^TestTurns_byThisLibrary$", "-test.v")
	child.Env = append(os.Environ(), libraryVariable+"="+library, "ANYNPU_LOG=off", "ANYNPU_NNAPI=cpu",
		"ANYNPU_NNAPI_DEVICES=npu:as-accelerator")
	out, err := child.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: TestTurns_byThisLibrary")
}

func ownDevice(t *testing.T) *Device {
	opened, err := driver.Opening{}.Open(os.Getenv(libraryVariable))
	require.NoError(t, err)
	all, err := Open(Bind(opened.File, opened.Lookup), Config{ID: "own", Vendor: "AnyNPU"})
	require.NoError(t, err)
	return all[0]
}

// turnCase is a graph of one node.
type turnCase struct {
	name string
	op   graph.Op
	in   []operandOf
	out  tensor.Type // of the result, where inference does not say it
}

// operandOf is an input of a node: a value of a type, or a constant.
type operandOf struct {
	typ      tensor.Type
	constant []byte
}

func real32(dims ...int64) operandOf { return operandOf{typ: tensor.T(tensor.Float32, dims...)} }

func fixed(o operandOf) operandOf {
	n, _ := o.typ.Shape.Count()
	o.constant = values(o.typ, int(n), 3)
	return o
}

func numbers(v ...int64) operandOf {
	return operandOf{tensor.T(tensor.Int64, int64(len(v))), tensor.Int64s(v...)}
}

func bound(x float32) operandOf { return operandOf{tensor.T(tensor.Float32), tensor.Float32s(x)} }

// values are numbers from -2 to 2, by a rule of their own for each seed.
func values(typ tensor.Type, n, seed int) []byte {
	out := tensor.New(typ.DType, int64(n))
	for i := range n {
		x := float64((i*7+i/5+seed)%17-8) / 4
		if !typ.DType.IsFloat() {
			x = float64((i*5 + seed) % 3)
		}
		tensor.PutFloat(typ.DType, out.Data, i, x, false)
	}
	return out.Data
}

func turnCases() []turnCase {
	x, image, first := real32(2, 3, 4), real32(1, 6, 5, 4), real32(1, 4, 6, 5)
	positive := func(o operandOf) operandOf { // a constant of positive numbers
		n, _ := o.typ.Shape.Count()
		v := make([]float32, n)
		for i := range v {
			v[i] = 0.5 + float32(i%5)/4
		}
		o.constant = tensor.Float32s(v...)
		return o
	}
	integers := func(dims ...int64) operandOf { return operandOf{typ: tensor.T(tensor.Int32, dims...)} }
	bools := func(dims ...int64) operandOf { return operandOf{typ: tensor.T(tensor.Bool, dims...)} }
	codes := func(scale float32, dims ...int64) operandOf {
		o := operandOf{typ: tensor.T(tensor.Int8, dims...)}
		o.typ.Quant = tensor.PerTensor(scale, 1)
		return o
	}
	bytes := func(scale float32, dims ...int64) operandOf {
		o := operandOf{typ: tensor.T(tensor.Uint8, dims...)}
		o.typ.Quant = tensor.PerTensor(scale, 1)
		return o
	}
	channels := func(axis int, dims ...int64) operandOf {
		o := operandOf{typ: tensor.T(tensor.Int8, dims...)}
		o.typ.Quant = &tensor.Quant{Axis: axis}
		for i := range dims[axis] {
			o.typ.Quant.Scale = append(o.typ.Quant.Scale, 0.25+float32(i)/8)
		}
		return fixed(o)
	}
	halves := func(dims ...int64) operandOf { return operandOf{typ: tensor.T(tensor.Float16, dims...)} }
	biasOf := func(n int64) operandOf { return fixed(integers(n)) }
	one := func(name string, o graph.Op, in ...operandOf) turnCase {
		return turnCase{name: name, op: o, in: in}
	}
	to := func(typ tensor.Type, c turnCase) turnCase {
		c.out = typ
		return c
	}
	list := []turnCase{
		one("div", &op.Div{}, x, positive(real32(4))),
		one("div", &op.Div{Rounding: op.DivFloor}, integers(4),
			operandOf{tensor.T(tensor.Int32, 4), tensor.Int32s(1, 2, -2, 3)}),
		one("max", &op.Max{}, x, real32(3, 1)),
		one("min", &op.Min{}, x, real32(4)),
		one("max", &op.Max{}, integers(2, 3), integers(3)),
		one("pow", &op.Pow{}, positive(x), real32(4)),
		one("and", &op.And{}, bools(2, 3), bools(3)),
		one("or", &op.Or{}, bools(2, 3), bools(3)),
		one("not", &op.Not{}, bools(2, 3)),
		one("leaky_relu", &op.LeakyRelu{Alpha: 0.25}, x),
		one("prelu", &op.PRelu{}, x, fixed(real32(4))),
		one("elu", &op.Elu{Alpha: 0.5}, x),
		one("elu", &op.Elu{Alpha: 0.5}, halves(2, 3)),
		one("exp", &op.Exp{}, x),
		one("clip", &op.Clip{}, x, bound(-1), bound(0.75)),
		one("clip", &op.Clip{}, x, bound(0), bound(6)),
		one("clip", &op.Clip{}, x, bound(-1), bound(1)),
		one("clip", &op.Clip{}, bytes(0.25, 2, 3), bound(0), bound(6)),
		one("cast", &op.Cast{To: tensor.Int32, OutOfRange: op.CastSaturate}, x),
		one("cast", &op.Cast{To: tensor.Float32}, integers(5)),
		to(bytes(0.125, 2, 3).typ, one("convert", &op.Convert{}, real32(2, 3))),
		to(codes(0.125, 2, 3).typ, one("convert", &op.Convert{}, real32(2, 3))),
		to(tensor.T(tensor.Float32, 2, 3), one("convert", &op.Convert{}, codes(0.5, 2, 3))),
		to(tensor.T(tensor.Float16, 2, 3), one("convert", &op.Convert{}, real32(2, 3))),
		one("where", &op.Where{}, bools(2, 3, 4), x, real32(2, 3, 4)),
		one("relu", &op.Relu{}, codes(0.1, 2, 3)),
		one("add", &op.Add{}, codes(0.5, 2, 3), codes(0.25, 3)),
		to(bytes(0.5, 2, 3).typ, one("mul", &op.Mul{}, bytes(0.5, 2, 3), bytes(0.25, 3))),
		one("add", &op.Add{}, halves(2, 3), halves(3)),
		one("conv", &op.Conv{Groups: 1, ChannelsLast: true, Strides: []int64{2, 1}, Pads: []int64{1, 0, 0, 2}}, image,
			fixed(real32(3, 2, 3, 4)), fixed(real32(3))),
		one("conv", &op.Conv{Groups: 1, AutoPad: op.PadSameUpper, Dilations: []int64{2, 1}}, first,
			fixed(real32(3, 2, 2, 4))),
		one("conv", &op.Conv{Groups: 1, AutoPad: op.PadSameLower}, first, fixed(real32(3, 2, 2, 4))),
		one("conv", &op.Conv{Groups: 2, AutoPad: op.PadValid}, first, fixed(real32(6, 2, 2, 2)), fixed(real32(6))),
		one("conv", &op.Conv{Groups: 4, Pads: []int64{1, 1, 1, 1}}, first, fixed(real32(8, 3, 3, 1)), fixed(real32(8))),
		one("conv", &op.Conv{Groups: 4, ChannelsLast: true, Dilations: []int64{1, 2}}, image, fixed(real32(4, 2, 2, 1))),
		one("conv", &op.Conv{Groups: 4, ChannelsLast: true}, image, real32(8, 2, 2, 1)),
		to(codes(2, 1, 4, 4, 3).typ, one("conv", &op.Conv{Groups: 1, ChannelsLast: true}, codes(0.5, 1, 5, 5, 2),
			fixed(codes(0.25, 3, 2, 2, 2)))),
		to(codes(2, 1, 4, 4, 3).typ, one("conv", &op.Conv{Groups: 1, ChannelsLast: true}, codes(0.5, 1, 5, 5, 2),
			channels(0, 3, 2, 2, 2), biasOf(3))),
		to(bytes(2, 1, 4, 4, 4).typ, one("conv", &op.Conv{Groups: 2, ChannelsLast: true}, bytes(0.5, 1, 5, 5, 2),
			channels(0, 4, 2, 2, 1), biasOf(4))),
		one("max_pool", &op.MaxPool{Kernel: []int64{2, 3}, Strides: []int64{2, 1}, Pads: []int64{1, 0, 0, 1}}, first),
		one("max_pool", &op.MaxPool{Kernel: []int64{2, 2}, Strides: []int64{2, 2}, Ceil: op.RoundCeil}, first),
		one("max_pool", &op.MaxPool{Global: true, ChannelsLast: true}, image),
		one("average_pool", &op.AveragePool{Kernel: []int64{3, 2}, Strides: []int64{1, 2}, AutoPad: op.PadSameUpper}, first),
		one("average_pool", &op.AveragePool{Kernel: []int64{2, 2}, Strides: []int64{2, 2}, Ceil: op.RoundCeil}, first),
		one("average_pool", &op.AveragePool{Global: true}, first),
		one("fully_connected", &op.FullyConnected{}, real32(3, 4), fixed(real32(5, 4)), fixed(real32(5))),
		one("fully_connected", &op.FullyConnected{}, real32(3, 4), real32(5, 4)),
		one("fully_connected", &op.FullyConnected{}, real32(2, 3, 4), fixed(real32(5, 4))),
		one("fully_connected", &op.FullyConnected{}, real32(4), fixed(real32(5, 4))),
		to(bytes(4, 3, 5).typ, one("fully_connected", &op.FullyConnected{}, bytes(0.5, 3, 4), fixed(bytes(0.25, 5, 4)),
			biasOf(5))),
		one("mat_mul", &op.MatMul{TransposeA: true}, real32(2, 4, 3), real32(2, 4, 5)),
		one("mat_mul", &op.MatMul{TransposeA: true}, real32(4, 3), real32(4, 5)),
		one("mat_mul", &op.MatMul{}, real32(2, 3, 4), fixed(real32(4, 5)), fixed(real32(5))),
		one("mat_mul", &op.MatMul{TransposeB: true}, real32(3, 4), fixed(real32(5, 4)), fixed(real32(5))),
		one("identity", &op.Identity{}, x),
		one("reshape", &op.Reshape{ZeroCopies: true}, x, numbers(0, -1)),
		one("flatten", &op.Flatten{Axis: 2}, x),
		one("squeeze", &op.Squeeze{}, real32(1, 3, 1), numbers(-1)),
		one("unsqueeze", &op.Unsqueeze{}, x, numbers(0)),
		one("transpose", &op.Transpose{}, x, numbers(2, 0, 1)),
		one("transpose", &op.Transpose{}, codes(0.5, 2, 3)),
		one("concat", &op.Concat{Axis: -2}, x, real32(2, 1, 4), fixed(real32(2, 2, 4))),
		one("slice", &op.Slice{}, x, numbers(-3, 1), numbers(100, -1), numbers(1, 2)),
		one("pad", &op.Pad{}, x, numbers(0, 1, 0, 2, 0, 1), bound(0.5)),
		one("pad", &op.Pad{}, x, numbers(0, 1, 0, 2, 0, 1)),
		one("tile", &op.Tile{}, x, numbers(1, 2, 3)),
		one("gather", &op.Gather{NegativeWraps: true}, x, numbers(-1, 0), numbers(1)),
		one("gather", &op.Gather{}, x, numbers(1, 0, 1)),
		one("softmax", &op.Softmax{Axis: 1}, x),
		one("softmax", &op.Softmax{Axis: -1, Beta: 2}, x),
		one("log_softmax", &op.LogSoftmax{Axis: -1}, x),
		one("reduce_mean", &op.ReduceMean{KeepDims: true}, x, numbers(-1)),
		one("reduce_mean", &op.ReduceMean{}, codes(0.5, 2, 3), numbers(0)),
		one("reduce_sum", &op.ReduceSum{}, x, numbers(0, 2)),
		one("reduce_sum", &op.ReduceSum{}, x, numbers(0, 1, 2)),
		one("reduce_prod", &op.ReduceProd{}, x, numbers(1)),
		one("reduce_max", &op.ReduceMax{}, x, numbers(2)),
		one("reduce_min", &op.ReduceMin{KeepDims: true}, x, numbers(0)),
		one("reduce_all", &op.ReduceAll{}, bools(2, 3), numbers(1)),
		one("reduce_any", &op.ReduceAny{KeepDims: true}, bools(2, 3), numbers(1)),
	}
	for _, o := range []graph.Op{&op.Abs{}, &op.Neg{}, &op.Floor{}, &op.Square{}, &op.Sin{}, &op.Sigmoid{}, &op.Tanh{},
		&op.Relu{}, &op.HardSwish{}, &op.Sqrt{}, &op.Rsqrt{}, &op.Reciprocal{}, &op.Log{}} {
		list = append(list, one(o.Name(), o, x))
	}
	for _, o := range []graph.Op{&op.Add{}, &op.Sub{}, &op.Mul{}, &op.Equal{}, &op.NotEqual{}, &op.Less{}, &op.LessEqual{},
		&op.Greater{}, &op.GreaterEqual{}} {
		list = append(list, one(o.Name(), o, x, real32(3, 1)), one(o.Name(), o, integers(2, 3), integers(3)))
	}
	return list
}

// turnsOfOperators compares each operator with the CPU's result of the node itself.
func turnsOfOperators(t *testing.T) {
	own, host := ownDevice(t), newCPU(t)
	left := maps.Clone(turns)
	for _, c := range turnCases() {
		delete(left, c.name)
		b := graph.NewBuilder(c.name)
		var in []graph.Value
		var given []tensor.Tensor
		for i, o := range c.in {
			if o.constant != nil {
				in = append(in, b.Const("", o.typ, o.constant))
				continue
			}
			in = append(in, b.Input("x", o.typ))
			dims, _ := o.typ.Shape.Ints()
			n, _ := o.typ.Shape.Count()
			given = append(given, tensor.Tensor{DType: o.typ.DType, Dims: dims, Quant: o.typ.Quant,
				Data: values(o.typ, int(n), i)})
		}
		b.Output(b.AddTyped(c.op, "", []tensor.Type{c.out}, in...)[0])
		g, err := b.Graph()
		require.NoError(t, err, c.name)
		both, err := compile.Compile(context.Background(), g, []device.Device{own, host}, compile.Options{})
		require.NoError(t, err, c.name)
		for _, n := range both.Placement().Nodes {
			assert.Equal(t, "own", n.Device, "%s: %s", c.name, n.String())
		}
		alone, err := compile.Compile(context.Background(), g, []device.Device{host}, compile.Options{})
		require.NoError(t, err, c.name)
		near(t, c.name, results(t, alone, given), results(t, both, given))
		both.Release()
		alone.Release()
	}
	assert.Empty(t, slices.Sorted(maps.Keys(left)), "operators without a case")
}

// near compares results. The CPU may sum in another order where the library has fused what it was given.
func near(t *testing.T, name string, want, got []tensor.Tensor) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i].Dims, got[i].Dims, name)
		require.Equal(t, want[i].DType, got[i].DType, name)
		if want[i].DType != tensor.Float32 {
			assert.Equal(t, want[i].Data, got[i].Data, name)
			continue
		}
		w, g := floats(want[i].Data), floats(got[i].Data)
		for k := range w {
			if math.Float32bits(w[k]) != math.Float32bits(g[k]) && !(math.Abs(float64(w[k]-g[k])) <= 1e-5) {
				assert.Fail(t, name, "element %d: want %v, got %v", k, w[k], g[k])
				break
			}
		}
	}
}

func floats(data []byte) []float32 {
	v, err := tensor.ReadFloat32s(data, len(data)/4)
	if err != nil {
		panic(err)
	}
	return v
}
