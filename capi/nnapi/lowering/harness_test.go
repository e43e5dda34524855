package lowering

import (
	"context"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

// arg is an operand of a test case: its type, and the numbers in it as they are stored (codes of quantized types).
type arg struct {
	nnapi.Operand
	values []float64
	kept   bool // a constant in every variant
	half   bool // values are not rounded: a result is half a step away at most
}

// Operands of test cases.

func f32(values []float64, dims ...uint32) arg {
	return arg{Operand: nnapi.Operand{Type: nnapi.TensorFloat32, Dims: dims}, values: values}
}

func i32(values []float64, dims ...uint32) arg {
	return arg{Operand: nnapi.Operand{Type: nnapi.TensorInt32, Dims: dims}, values: values}
}

func b8(values []float64, dims ...uint32) arg {
	return arg{Operand: nnapi.Operand{Type: nnapi.TensorBool8, Dims: dims}, values: values}
}

func quant(t nnapi.OperandCode, scale float32, zero int32, values []float64, dims ...uint32) arg {
	return arg{Operand: nnapi.Operand{Type: t, Dims: dims, Scale: scale, ZeroPoint: zero}, values: values}
}

func u8(scale float32, zero int32, values []float64, dims ...uint32) arg {
	return quant(nnapi.TensorQuant8Asymm, scale, zero, values, dims...)
}

func s8(scale float32, zero int32, values []float64, dims ...uint32) arg {
	return quant(nnapi.TensorQuant8AsymmSigned, scale, zero, values, dims...)
}

// num is an INT32 scalar, list a constant vector of integers, real a FLOAT32 scalar, flag a BOOL scalar, none an
// operand without value.
func num(v float64) arg {
	return arg{Operand: nnapi.Operand{Type: nnapi.Int32}, values: v1(v), kept: true}
}

func real(v float64) arg {
	return arg{Operand: nnapi.Operand{Type: nnapi.Float32}, values: v1(v), kept: true}
}

func flag(v bool) arg {
	a := arg{Operand: nnapi.Operand{Type: nnapi.Bool}, values: v1(0), kept: true}
	if v {
		a.values[0] = 1
	}
	return a
}

func list(v ...float64) arg { return i32(v, uint32(len(v))) }

func none(t nnapi.OperandCode) arg {
	return arg{Operand: nnapi.Operand{Type: t, Lifetime: nnapi.NoValue}, kept: true}
}

func v1(v ...float64) []float64 { return v }

// seq are n numbers from first on.
func seq(first, step float64, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = first + step*float64(i)
	}
	return v
}

// noise are n numbers between lo and hi, the same for each seed.
func noise(seed int64, n int, lo, hi float64) []float64 {
	r := rand.New(rand.NewSource(seed))
	v := make([]float64, n)
	for i := range v {
		v[i] = lo + (hi-lo)*r.Float64()
	}
	return v
}

// ints rounds numbers down.
func ints(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = math.Floor(x)
	}
	return out
}

// check is one operation with its inputs and the outputs that are expected.
type check struct {
	name string
	code nnapi.OperationCode
	in   []arg
	out  []arg
	tol  float64 // absolute, of stored numbers; 0: by the element type
}

// encode stores the numbers of an operand.
func encode(o *nnapi.Operand, values []float64) []byte {
	d := typeOf(o).DType
	size, _ := d.ByteSize(int64(len(values)))
	data := make([]byte, size)
	for i, v := range values {
		switch {
		case d.IsFloat():
			tensor.PutFloat(d, data, i, v, false)
		case d == tensor.Bool:
			data[i] = byte(v)
		default:
			tensor.PutInt(d, data, i, int64(v))
		}
	}
	return data
}

func decode(d tensor.DType, data []byte) []float64 {
	n := len(data) * 8 / d.Bits()
	v := make([]float64, n)
	for i := range v {
		switch {
		case d.IsFloat():
			v[i] = tensor.FloatAt(d, data, i)
		case d == tensor.Bool:
			v[i] = float64(data[i])
		default:
			v[i] = float64(tensor.IntAt(d, data, i))
		}
	}
	return v
}

// variant says how a case is turned into a model.
type variant struct {
	name     string
	inputs   bool // constant tensors become model inputs
	sizes    bool // inputs and outputs have unknown sizes
	unranked bool // and unknown ranks
}

var variants = []variant{{name: "as written"}, {"constants as inputs", true, false, false},
	{"unknown sizes", true, true,
		false}, {"unknown ranks", true, true, true}}

// model makes a model of one operation; fed are the operands that a run must be given.
func (c *check) model(v variant, constants map[int]bool) (m *nnapi.Model, fed []arg) {
	m = &nnapi.Model{}
	o := nnapi.Operation{Code: c.code}
	for i, a := range c.in {
		x := a.Operand
		switch {
		case x.Lifetime == nnapi.NoValue || x.Lifetime == nnapi.Subgraph:
		case a.kept || constants[i] && !v.inputs && !slices.Contains(x.Dims, 0): // a constant has elements
			x.Lifetime, x.Data = nnapi.Constant, encode(&x, a.values)
		default:
			x.Lifetime = nnapi.Input
			m.Inputs = append(m.Inputs, uint32(i))
			fed = append(fed, a)
			x.Dims = v.dims(x.Dims)
		}
		m.Operands = append(m.Operands, x)
		o.Inputs = append(o.Inputs, uint32(i))
	}
	for _, a := range c.out {
		x := a.Operand
		x.Lifetime = nnapi.Output
		x.Dims = v.dims(x.Dims)
		for _, d := range x.Dims {
			if d == 0 { // a size of zero cannot be declared
				x.Dims = make([]uint32, len(x.Dims))
			}
		}
		k := uint32(len(m.Operands))
		m.Operands = append(m.Operands, x)
		o.Outputs = append(o.Outputs, k)
		m.Outputs = append(m.Outputs, k)
	}
	m.Operations = []nnapi.Operation{o}
	return m, fed
}

func (v variant) dims(d []uint32) []uint32 {
	switch {
	case v.unranked:
		return nil
	case v.sizes:
		return make([]uint32, len(d))
	}
	return d
}

// dimsOf returns the sizes of an operand as a run has them.
func dimsOf(o *nnapi.Operand) []int64 {
	d := []int64{}
	for _, n := range o.Dims {
		d = append(d, int64(n))
	}
	return d
}

// run checks one case in all variants: by the reference, and by the CPU device.
func (c check) run(t *testing.T) {
	t.Run(fmt.Sprintf("%v/%s", c.code, c.name), func(t *testing.T) {
		for _, v := range variants {
			constants := map[int]bool{}
			for i := range c.in {
				constants[i] = i > 0
			}
			m, fed := c.model(v, constants)
			if err := nnapi.Check(m, m.Operations[0], nnapi.Level8); err != nil {
				t.Fatalf("%s: %v", v.name, err)
			}
			g, err := Graph(m)
			if err != nil && unknownNeeded[c.code] && v.sizes {
				continue
			}
			require.NoError(t, err, v.name)
			var in []tensor.Tensor
			for i := range fed {
				typ := typeOf(&fed[i].Operand)
				in = append(in, tensor.Tensor{DType: typ.DType, Dims: dimsOf(&fed[i].Operand), Quant: typ.Quant,
					Data: encode(&fed[i].Operand, fed[i].values)})
			}
			out, err := ref.Run(context.Background(), g, in)
			require.NoError(t, err, "%s: reference", v.name)
			c.compare(t, v.name+", reference", out)
			out, err = compute(g, in)
			require.NoError(t, err, "%s: device", v.name)
			c.compare(t, v.name+", device", out)
		}
	})
}

// unknownNeeded are operations that need sizes in the model where the API does not.
var unknownNeeded = map[nnapi.OperationCode]bool{nnapi.DepthwiseConv2D: true}

func (c *check) compare(t *testing.T, what string, out []tensor.Tensor) {
	t.Helper()
	require.Len(t, out, len(c.out), what)
	for i, y := range out {
		want := c.out[i]
		d := typeOf(&want.Operand).DType
		require.Equal(t, d, y.DType, "%s: type of output %d", what, i)
		require.Equal(t, dimsOf(&want.Operand), append([]int64{}, y.Dims...), "%s: dimensions of output %d", what, i)
		got := decode(d, y.Data)
		require.Len(t, got, len(want.values), what)
		for k, w := range want.values {
			tol := c.tol
			switch {
			case tol != 0:
			case want.half:
				tol = 0.5 + 1e-3
			default:
				tol = tolerance(d, w)
			}
			if !(math.Abs(got[k]-w) <= tol) && !(got[k] == w) {
				t.Fatalf("%s: output %d: element %d is %v, want %v\ngot  %v\nwant %v", what, i, k, got[k], w, got, want.values)
			}
		}
	}
}

// tolerance is the allowed distance of a result from w: the API's tests allow as much and one step of quantized types,
// where these cases are computed to the half.
func tolerance(d tensor.DType, w float64) float64 {
	switch d {
	case tensor.Float32:
		return 1e-5 + 5*math.Pow(2, -23)*math.Abs(w)
	case tensor.Float16:
		return 5 * math.Pow(2, -10) * (1 + math.Abs(w))
	}
	return 0
}

// compute runs a graph on the CPU device.
func compute(g *graph.Graph, in []tensor.Tensor) ([]tensor.Tensor, error) {
	p, err := compile.Compile(context.Background(), g, []device.Device{testDevice()}, compile.Options{})
	if err != nil {
		return nil, err
	}
	defer p.Release()
	e, err := p.New(device.ExecOptions{})
	if err != nil {
		return nil, err
	}
	defer e.Release()
	for i, x := range in {
		b := mem.Borrow(x.Data, nil)
		defer b.Release()
		if err := e.BindInput(i, mem.View{Buf: b, Type: x.Type()}); err != nil {
			return nil, err
		}
	}
	if err := exec.Run(context.Background(), e, device.RunRequest{}); err != nil {
		return nil, err
	}
	var out []tensor.Tensor
	for i := range g.Out {
		data, err := e.OutputData(i)
		if err != nil {
			return nil, err
		}
		typ, err := e.OutputType(i)
		if err != nil {
			return nil, err
		}
		dims, _ := typ.Shape.Ints()
		out = append(out, tensor.Tensor{DType: typ.DType, Dims: dims, Quant: typ.Quant, Data: append([]byte(nil), data...)})
	}
	return out, nil
}

var testDevice = sync.OnceValue(func() device.Device {
	d, err := cpu.New(cpu.Config{Threads: 1})
	if err != nil {
		panic(err)
	}
	return d
})

// refused wants no graph of a case, of a kind that is not Unsupported: the operation has no result.
func refused(t *testing.T, c check, want string) {
	t.Helper()
	err := c.lower(t)
	require.ErrorContains(t, err, want)
	require.NotContains(t, []fault.Kind{fault.Unsupported, fault.Internal}, fault.KindOf(err), "%v", err)
}

// lower returns what becomes of the case as it is written, whose tensors behind the first are constants when they have
// values.
func (c check) lower(t *testing.T) error {
	t.Helper()
	constants := map[int]bool{}
	for i, a := range c.in {
		constants[i] = i > 0 && a.values != nil && !a.Type.IsScalar()
	}
	m, _ := c.model(variants[0], constants)
	require.NoError(t, nnapi.Check(m, m.Operations[0], nnapi.Level8))
	_, err := Graph(m)
	if err != nil {
		i, ok := FailedOperation(err)
		require.True(t, ok)
		require.Zero(t, i)
	}
	return err
}

// fails wants every run of a case to fail for what its inputs hold.
func fails(t *testing.T, c check) {
	t.Helper()
	m, fed := c.model(variant{inputs: true}, nil)
	g, err := Graph(m)
	require.NoError(t, err)
	var in []tensor.Tensor
	for i := range fed {
		typ := typeOf(&fed[i].Operand)
		in = append(in, tensor.Tensor{DType: typ.DType, Dims: dimsOf(&fed[i].Operand), Quant: typ.Quant,
			Data: encode(&fed[i].Operand, fed[i].values)})
	}
	_, err = ref.Run(context.Background(), g, in)
	require.Error(t, err)
	require.NotContains(t, []fault.Kind{fault.Unsupported, fault.Internal}, fault.KindOf(err), "%v", err)
	_, err = compute(g, in)
	require.Error(t, err)
	require.NotContains(t, []fault.Kind{fault.Unsupported, fault.Internal}, fault.KindOf(err), "%v", err)
}
