package compile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/devicetest/toy"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func TestCompile_partitions(t *testing.T) {
	npu, cpu := toy.New("npu"), toy.NewHost("cpu")
	p := mustCompile(t, mixed(t, tensor.Of(2)), npu, cpu)
	defer p.Release()
	pl := p.Placement()
	assert.Equal(t, "4 nodes in 4 parts (npu: 2, cpu: 2), 2 fallbacks", pl.Summary())
	assert.Equal(t, `operator 1 mul: cpu (npu: the toy only adds)`, pl.Nodes[1].String())
	assert.Equal(t, []int{0, 1, 2, 3}, []int{pl.Nodes[0].Part, pl.Nodes[1].Part, pl.Nodes[2].Part, pl.Nodes[3].Part})
	assert.True(t, json.Valid(pl.JSON()))
	var drawn []string
	for _, e := range pl.Edges {
		drawn = append(drawn, fmt.Sprintf("%d-%d %s %s", e.From, e.To, e.Name, e.Type))
	}
	assert.Equal(t, []string{"-1-0 x float32[2]", "0-1  float32[2]", "1-2  float32[2]", "2-3  float32[2]",
		"3--1 y float32[2]", "0--1  float32[2]"}, drawn)
	in, out := p.Ports()
	assert.Equal(t, "x", in[0].Name)
	assert.Equal(t, "y", out[0].Name)
	assert.Equal(t, []int64{2}, in[0].Max)

	e, err := p.New(device.ExecOptions{Profiling: true})
	require.NoError(t, err)
	defer e.Release()
	x := floatView(t, []float32{0, 1}, 2)
	require.NoError(t, e.BindInput(0, x))
	x.Buf.Release()
	for range 3 {
		require.NoError(t, exec.Run(background, e, device.RunRequest{}))
		assert.Equal(t, []float32{12, 21}, output(t, e, 0))
		assert.Equal(t, []float32{1, 2}, output(t, e, 1))
	}
	s := e.Stats()
	assert.EqualValues(t, 3, s.Runs)
	require.Len(t, s.Nodes, 4)
	assert.Equal(t, 1, s.Nodes[1].Node)
	assert.Equal(t, "cpu", s.Nodes[1].Device)
	assert.GreaterOrEqual(t, s.Nodes[3].Start, s.Nodes[1].Start)
}

func TestCompile_oneDeviceIsOneProgram(t *testing.T) {
	cpu := toy.NewHost("cpu")
	p := mustCompile(t, mixed(t, tensor.Of(2)), cpu)
	defer p.Release()
	assert.Equal(t, "4 nodes in 1 part (cpu: 4), 0 fallbacks", p.Placement().Summary())
	assert.Equal(t, []float32{12, 21}, evaluate(t, p, 0, 1))
}

func TestCompile_bindsOutputsOfAllKinds(t *testing.T) {
	npu := toy.New("npu")
	p := mustCompile(t, mixed(t, tensor.Of(2)), npu, toy.NewHost("cpu"))
	defer p.Release()
	typ := tensor.T(tensor.Float32, 2)
	host, err := mem.Host(64, mem.Options{})
	require.NoError(t, err)
	shared, err := mem.Memfd(64, mem.Options{})
	require.NoError(t, err)
	remote, err := npu.Alloc(64)
	require.NoError(t, err)
	buffers := map[string]mem.Buffer{"host": host, "shared": shared, "remote": remote}
	for from, in := range buffers {
		for to, out := range buffers {
			for _, outOff := range []int64{0, 3, 16} { // on top of the input, unaligned across it, behind it
				e, err := p.New(device.ExecOptions{})
				require.NoError(t, err)
				x := mem.View{Buf: in, Type: typ}
				require.NoError(t, x.Store(tensor.Float32s(0, 1)))
				require.NoError(t, e.BindInput(0, x))
				y := mem.View{Buf: out, Off: outOff, Type: typ}
				z := mem.View{Buf: out, Off: 40, Type: typ}
				require.NoError(t, e.BindOutput(0, y))
				require.NoError(t, e.BindOutput(1, z))
				require.NoError(t, exec.Run(background, e, device.RunRequest{}), "%s to %s", from, to)
				got := make([]byte, 8)
				require.NoError(t, y.Load(got))
				assert.Equal(t, tensor.Float32s(12, 21), got, "%s to %s at %d", from, to, outOff)
				require.NoError(t, z.Load(got))
				assert.Equal(t, tensor.Float32s(1, 2), got, "%s to %s at %d", from, to, outOff)
				_, err = e.OutputData(0)
				assert.Equal(t, fault.State, fault.KindOf(err))
				e.Release()
			}
		}
	}
	for _, b := range buffers {
		b.Release()
	}
	assert.Positive(t, npu.InPlace.Load())
}

func TestCompile_dynamicShapes(t *testing.T) {
	p := mustCompile(t, mixed(t, tensor.OfDims(tensor.Dim{Sym: 1})), toy.New("npu"), toy.NewHost("cpu"))
	defer p.Release()
	e, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	defer e.Release()
	typ, err := e.OutputType(0)
	require.NoError(t, err)
	assert.False(t, typ.Shape.Static())
	for n := 1; n < 4; n++ {
		x := floatView(t, make([]float32, n), int64(n))
		require.NoError(t, e.BindInput(0, x))
		x.Buf.Release()
		require.NoError(t, exec.Run(background, e, device.RunRequest{}))
		assert.Len(t, output(t, e, 0), n)
		assert.EqualValues(t, 12, output(t, e, 0)[n-1])
		typ, err := e.OutputType(1)
		require.NoError(t, err)
		assert.Equal(t, tensor.T(tensor.Float32, int64(n)), typ)
	}
}

func TestCompile_decomposesComposites(t *testing.T) {
	b := graph.NewBuilder("g")
	x := b.Input("x", tensor.T(tensor.Float32, 1))
	b.SetOrigin(0, "")
	y := b.AddTyped(&quad{}, "stem", make([]tensor.Type, 1), x)[0]
	b.SetOrigin(1, "")
	z := b.Add(&second{}, y, x) // only renames x
	w := b.Add(&second{}, x, y)
	b.SetOrigin(2, "")
	b.Output(b.Add(&op.Mul{}, z, w), z)
	g, err := b.Graph()
	require.NoError(t, err)
	p := mustCompile(t, g, toy.New("npu"), toy.NewHost("cpu"))
	defer p.Release()
	assert.Equal(t, []float32{36}, evaluate(t, p, 3)) // x * 4x
	assert.Equal(t, "3 nodes in 2 parts (npu: 2, cpu: 1), 1 fallback", p.Placement().Summary())
	for i, want := range []string{`operator 0 add "stem" of test.quad: npu`, `operator 0 add "stem" of test.quad: npu`,
		"operator 2 mul: cpu (npu: the toy only adds)"} {
		assert.Equal(t, want, p.Placement().Nodes[i].String())
	}

	s, err := compile.Support(g, toy.New("n"), device.Options{})
	require.NoError(t, err)
	assert.Equal(t, []device.NodeSupport{{OK: true}, {OK: true}, {OK: true}, {Reason: "the toy only adds"}}, s)
}

func TestCompile_outputsThatNoNodeMakes(t *testing.T) {
	b := graph.NewBuilder("g")
	x := b.Input("x", tensor.T(tensor.Float32, 1))
	unused := b.Input("unused", tensor.Type{DType: tensor.Int8, Shape: tensor.AnyOfRank(1)})
	y := b.Add(&op.Add{}, x, x)
	b.Output(y, x, b.Float32(7), y)
	_ = unused
	g, err := b.Graph()
	require.NoError(t, err)
	p := mustCompile(t, g, toy.New("npu"))
	defer p.Release()
	in, _ := p.Ports()
	assert.Equal(t, []int64{1 << 20}, in[1].Max)
	e, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	defer e.Release()
	v := floatView(t, []float32{5}, 1)
	defer v.Buf.Release()
	require.NoError(t, e.BindInput(0, v))
	assert.Equal(t, fault.State, fault.KindOf(e.Start(device.RunRequest{})))
	require.NoError(t, e.BindInput(1, mem.View{Buf: v.Buf, Type: tensor.T(tensor.Int8, 2)}))
	require.NoError(t, e.BindOutput(1, v)) // onto the input itself
	require.NoError(t, exec.Run(background, e, device.RunRequest{}))
	assert.Equal(t, []float32{10}, output(t, e, 0))
	assert.Equal(t, []float32{7}, output(t, e, 2))
	assert.Equal(t, []float32{10}, output(t, e, 3))
	got := make([]byte, 4)
	require.NoError(t, v.Load(got))
	assert.Equal(t, tensor.Float32s(5), got)
}

func TestCompile_refuses(t *testing.T) {
	npu, cpu := toy.New("npu"), toy.NewHost("cpu")
	g := mixed(t, tensor.Of(2))
	check := func(name string, kind fault.Kind, text string, o compile.Options, devices ...device.Device) {
		p, err := compile.Compile(background, g, devices, o)
		require.Error(t, err, name)
		assert.Nil(t, p, name)
		assert.Equal(t, kind, fault.KindOf(err), "%s: %v", name, err)
		assert.ErrorContains(t, err, text, name)
	}
	check("no device", fault.Argument, "no device", compile.Options{})
	check("no kernel", fault.Unsupported, "operator 1 (mul): npu: the toy only adds", compile.Options{}, npu)
	check("strict", fault.Unsupported, "operator 1 (mul): npu: the toy only adds", compile.Options{Strict: true}, npu, cpu)
	cpu.Set(toy.FailCompile)
	check("compiler", fault.Device, "device cpu: toy: the compiler failed", compile.Options{}, cpu)
	cpu.Set(toy.Normal)
	npu.Set(toy.WrongSupport)
	check("wrong claim", fault.Unsupported, "device npu: operator 1 (mul)", compile.Options{}, npu)
	npu.Set(toy.ShortAnswer)
	check("short answer", fault.Device, "3 answers for 4 nodes", compile.Options{}, npu, cpu)
	npu.Set(toy.MissingPorts)
	check("no ports", fault.Device, "0 inputs and 0 outputs, want 1 and 1", compile.Options{}, npu, cpu)
	npu.Set(toy.Dead)
	check("dead", fault.Device, "npu: the device has died", compile.Options{}, npu, cpu)
	ctx, cancel := context.WithCancel(background)
	cancel()
	_, err := compile.Compile(ctx, g, []device.Device{cpu}, compile.Options{})
	assert.Equal(t, fault.Canceled, fault.KindOf(err))
	g.Values[0].Fact.Shape = tensor.Of(2, 3, 4)
	check("inference", fault.Shape, "operator 0 (add): inputs (float32[2,3,4], float32[]): output 0: computes [2,3,4]",
		compile.Options{}, cpu)
	g.Out[0] = 99
	check("invalid", fault.Argument, "value 99", compile.Options{}, cpu)
	g = nil
	p, err := compile.Compile(background, &graph.Graph{Name: "empty"}, []device.Device{cpu}, compile.Options{})
	require.NoError(t, err, "a graph without anything does nothing")
	p.Release()
}

func TestCompile_sameGraphConcurrently(t *testing.T) {
	g := mixed(t, tensor.Of(2))
	cpu := toy.NewHost("cpu")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			p, err := compile.Compile(background, g, []device.Device{cpu}, compile.Options{})
			if assert.NoError(t, err) {
				assert.Equal(t, []float32{12, 21}, evaluate(t, p, 0, 1))
				p.Release()
			}
		})
	}
	wg.Wait()
}
