package compile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/device/toy"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/leak"
)

func TestMain(m *testing.M) {
	counters := maps.Clone(mem.LiveCounters)
	maps.Copy(counters, toy.LiveCounters)
	os.Exit(leak.Run(m, counters))
}

var background = context.Background()

// double is 2x, made of an addition; quad is 4x, made of doubles. second passes its second input through.
type (
	double struct{}
	quad   struct{}
	second struct{}
)

func init() {
	graph.Register((*double)(nil))
	graph.Register((*quad)(nil))
	graph.Register((*second)(nil))
}

func (*double) Name() string         { return "test.double" }
func (*double) Traits() graph.Traits { return graph.Traits{} }
func (*double) Infer(in []tensor.Fact, _ []tensor.Type) ([]tensor.Fact, error) {
	return in[:1], nil
}
func (*double) Decompose(b *graph.Builder, in []graph.Value) ([]graph.Value, error) {
	return []graph.Value{b.Add(&op.Add{}, in[0], in[0])}, nil
}

func (*quad) Name() string         { return "test.quad" }
func (*quad) Traits() graph.Traits { return graph.Traits{} }
func (*quad) Infer(in []tensor.Fact, _ []tensor.Type) ([]tensor.Fact, error) {
	return in[:1], nil
}
func (*quad) Decompose(b *graph.Builder, in []graph.Value) ([]graph.Value, error) {
	return []graph.Value{b.Add(&double{}, b.Add(&double{}, in[0]))}, nil
}

func (*second) Name() string         { return "test.second" }
func (*second) Traits() graph.Traits { return graph.Traits{} }
func (*second) Infer(in []tensor.Fact, _ []tensor.Type) ([]tensor.Fact, error) {
	return in[1:2], nil
}
func (*second) Decompose(_ *graph.Builder, in []graph.Value) ([]graph.Value, error) {
	return in[1:2], nil
}

// mixed returns y = ((x+1)*3 + 1)*3 and z = x+1 for float32 x of shape s: the toy adds, the CPU multiplies.
func mixed(t testing.TB, s tensor.Shape) *graph.Graph {
	b := graph.NewBuilder("mixed")
	x := b.Input("x", tensor.Type{DType: tensor.Float32, Shape: s})
	one, three := b.Float32(1), b.Float32(3)
	v, z := x, graph.None
	for i := range 4 {
		b.SetOrigin(i, "")
		if i%2 == 0 {
			v = b.Add(&op.Add{}, v, one)
		} else {
			v = b.Add(&op.Mul{}, v, three)
		}
		if i == 0 {
			z = v
		}
	}
	b.Name(v, "y")
	b.Output(v, z)
	g, err := b.Graph()
	require.NoError(t, err)
	return g
}

func mustCompile(t testing.TB, g *graph.Graph, devices ...device.Device) *compile.Program {
	p, err := compile.Compile(background, g, devices, compile.Options{})
	require.NoError(t, err)
	return p
}

func floatView(t testing.TB, v []float32, dims ...int64) mem.View {
	b, err := mem.Host(int64(4*len(v)), mem.Options{})
	require.NoError(t, err)
	require.NoError(t, mem.Write(b, 0, tensor.Float32s(v...)))
	return mem.View{Buf: b, Type: tensor.T(tensor.Float32, dims...)}
}

func output(t testing.TB, e device.Execution, i int) []float32 {
	data, err := e.OutputData(i)
	require.NoError(t, err)
	v, err := tensor.ReadFloat32s(data, len(data)/4)
	require.NoError(t, err)
	return v
}

// evaluate runs p once on x and returns output 0.
func evaluate(t testing.TB, p device.Program, x ...float32) []float32 {
	e, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	defer e.Release()
	v := floatView(t, x, int64(len(x)))
	defer v.Buf.Release()
	require.NoError(t, e.BindInput(0, v))
	require.NoError(t, exec.Run(background, e, device.RunRequest{}))
	return output(t, e, 0)
}

func TestCompile_partitions(t *testing.T) {
	npu, cpu := toy.New("npu"), toy.NewHost("cpu")
	p := mustCompile(t, mixed(t, tensor.Of(2)), npu, cpu)
	defer p.Release()
	pl := p.Placement()
	assert.Equal(t, "4 nodes in 4 parts (npu: 2, cpu: 2), 2 fallbacks", pl.Summary())
	assert.Equal(t, `operator 1 mul: cpu (npu: the toy only adds)`, pl.Nodes[1].String())
	assert.Equal(t, []int{0, 1, 2, 3}, []int{pl.Nodes[0].Part, pl.Nodes[1].Part, pl.Nodes[2].Part, pl.Nodes[3].Part})
	assert.True(t, json.Valid(pl.JSON()))
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
	remote, err := npu.Alloc(device.AllocRequest{Size: 64})
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
	assert.Positive(t, npu.Imports.Load())
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
	for i, want := range []string{`operator 0 add "stem" of test.quad: npu`, `operator 0 add "stem" of test.quad: npu`, "operator 2 mul: cpu (npu: the toy only adds)"} {
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
	npu.Set(toy.FailCompile)
	check("compiler", fault.Device, "device npu: toy: the compiler failed", compile.Options{}, npu, cpu)
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
	check("inference", fault.Shape, "operator 0 (add): inputs (float32[2,3,4], float32[]): output 0: computes [2,3,4]", compile.Options{}, cpu)
	g.Out[0] = 99
	check("invalid", fault.Argument, "value 99", compile.Options{}, cpu)
	g = nil
	p, err := compile.Compile(background, &graph.Graph{Name: "empty"}, []device.Device{cpu}, compile.Options{})
	require.NoError(t, err, "a graph without anything does nothing")
	p.Release()
}

func TestRun_misbehavingDevice(t *testing.T) {
	for name, c := range map[string]struct {
		mode toy.Mode
		s    tensor.Shape
		kind fault.Kind
		text string
	}{
		"failing run":  {toy.FailRun, tensor.Of(1), fault.Device, "part 0 on npu: toy: the hardware reports error 7"},
		"panic":        {toy.PanicRun, tensor.Of(1), fault.Internal, "panic: toy"},
		"wrong type":   {toy.WrongType, tensor.Of(1), fault.Device, "reports int8"},
		"wrong size":   {toy.WrongSize, tensor.Of(1), fault.Device, "reports float32[1099511627776,3,9]"},
		"unknown size": {toy.UnknownSize, tensor.AnyOfRank(1), fault.Device, "reports float32[...]"},
		"short data":   {toy.ShortData, tensor.AnyOfRank(1), fault.Device, "returns 3 bytes for float32[1]"},
		"no memory":    {toy.FailAlloc, tensor.Of(1), fault.Memory, "no 4 bytes left"},
		"dead":         {toy.Dead, tensor.Of(1), fault.Device, "part 0 on npu"},
	} {
		npu := toy.New("npu")
		p := mustCompile(t, mixed(t, c.s), npu, toy.NewHost("cpu"))
		e, err := p.New(device.ExecOptions{})
		require.NoError(t, err)
		x := floatView(t, []float32{1}, 1)
		require.NoError(t, e.BindInput(0, x))
		npu.Set(c.mode)
		err = exec.Run(background, e, device.RunRequest{})
		require.Error(t, err, name)
		assert.Equal(t, c.kind, fault.KindOf(err), "%s: %v", name, err)
		assert.ErrorContains(t, err, c.text, name)
		assert.Equal(t, name == "dead", errors.Is(err, device.ErrDied))
		_, err = e.OutputData(0)
		assert.Equal(t, fault.State, fault.KindOf(err), name)
		if c.mode != toy.Dead {
			npu.Set(toy.Normal)
			require.NoError(t, exec.Run(background, e, device.RunRequest{}), name)
			assert.Equal(t, []float32{21}, output(t, e, 0), name)
		}
		x.Buf.Release()
		e.Release()
		p.Release()
	}
}

func TestRun_cancelDeadlineAndDeath(t *testing.T) {
	npu := toy.New("npu")
	npu.Set(toy.Block)
	p := mustCompile(t, mixed(t, tensor.Of(1)), npu, toy.NewHost("cpu"))
	defer p.Release()
	e, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	x := floatView(t, []float32{1}, 1)
	defer x.Buf.Release()
	require.NoError(t, e.BindInput(0, x))
	done := make(chan error, 1)
	start := func(r device.RunRequest) {
		r.Done = func(err error) { done <- err }
		require.NoError(t, e.Start(r))
		<-npu.Blocked
	}
	start(device.RunRequest{})
	assert.Equal(t, fault.State, fault.KindOf(e.Start(device.RunRequest{})))
	assert.Equal(t, fault.State, fault.KindOf(e.BindInput(0, x)))
	e.Cancel()
	assert.Equal(t, fault.Canceled, fault.KindOf(<-done))
	err = exec.Run(background, e, device.RunRequest{Deadline: time.Now().Add(20 * time.Millisecond)})
	assert.Equal(t, fault.Timeout, fault.KindOf(err))
	select {
	case <-npu.Blocked:
	default: // the deadline has passed before the device began
	}
	start(device.RunRequest{})
	npu.Set(toy.Dead)
	err = <-done
	assert.ErrorIs(t, err, device.ErrDied)
	assert.Equal(t, fault.Device, fault.KindOf(err))
	e.Release()

	npu = toy.New("npu2")
	npu.Set(toy.Block)
	q := mustCompile(t, mixed(t, tensor.Of(1)), npu, toy.NewHost("cpu"))
	e, err = q.New(device.ExecOptions{})
	require.NoError(t, err)
	q.Release()
	require.NoError(t, e.BindInput(0, x))
	start(device.RunRequest{})
	e.Release() // while running
	assert.Equal(t, fault.Canceled, fault.KindOf(<-done))
	assert.Equal(t, fault.State, fault.KindOf(e.Start(device.RunRequest{})))
}

func TestRun_concurrentExecutions(t *testing.T) {
	p := mustCompile(t, mixed(t, tensor.Of(3)), toy.New("npu"), toy.NewHost("cpu"))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for k := range 5 {
				x := float32(i*10 + k)
				assert.Equal(t, []float32{9*x + 12, 12, 12}, evaluate(t, p, x, 0, 0))
			}
		})
	}
	wg.Wait()
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

func TestSave_roundTrip(t *testing.T) {
	npu, cpu := toy.New("npu"), toy.NewHost("cpu")
	devices := []device.Device{npu, cpu}
	p := mustCompile(t, mixed(t, tensor.OfDims(tensor.Dim{Sym: 1})), devices...)
	var saved bytes.Buffer
	require.NoError(t, p.Save(&saved))
	placement := p.Placement()
	in, out := p.Ports()
	p.Release()
	blob := saved.Bytes()
	data := bytes.Clone(blob)
	q, err := compile.Load(background, data, devices, device.Options{})
	require.NoError(t, err)
	clear(data)
	assert.Equal(t, placement, q.Placement())
	in2, out2 := q.Ports()
	assert.Equal(t, in, in2)
	assert.Equal(t, out, out2)
	assert.Equal(t, []float32{12, 21}, evaluate(t, q, 0, 1))
	saved.Reset()
	require.NoError(t, q.Save(&saved))
	assert.Equal(t, blob, saved.Bytes())
	q.Release()

	for i := 0; i < len(blob); i += 3 {
		bad := bytes.Clone(blob)
		bad[i] ^= 1 << (i % 8)
		_, err := compile.Load(background, bad, devices, device.Options{})
		require.Equal(t, fault.File, fault.KindOf(err), "byte %d: %v", i, err)
		_, err = compile.Load(background, blob[:i], devices, device.Options{})
		require.Equal(t, fault.File, fault.KindOf(err), "cut at %d: %v", i, err)
	}
	_, err = compile.Load(background, blob, devices[1:], device.Options{})
	assert.Equal(t, fault.File, fault.KindOf(err))
	assert.ErrorContains(t, err, `device "npu" is not here`)
	npu.SetBuild("toy build 2")
	_, err = compile.Load(background, blob, devices, device.Options{})
	assert.Equal(t, fault.File, fault.KindOf(err))
	assert.ErrorContains(t, err, "toy build 2")
	npu.Set(toy.Dead)
	assert.ErrorIs(t, p.Save(&saved), device.ErrDied)
}

// full is a writer with room for n bytes.
type full struct{ n int }

func (f *full) Write(p []byte) (int, error) {
	if f.n -= len(p); f.n < 0 {
		return 0, errors.New("no space left")
	}
	return len(p), nil
}

func TestSave_writerFails(t *testing.T) {
	p := mustCompile(t, mixed(t, tensor.Of(2)), toy.New("npu"), toy.NewHost("cpu"))
	defer p.Release()
	var saved bytes.Buffer
	require.NoError(t, p.Save(&saved))
	for n := 0; n < saved.Len(); n += 50 {
		err := p.Save(&full{n})
		require.Equal(t, fault.File, fault.KindOf(err), "room for %d", n)
	}
	require.NoError(t, p.Save(&full{saved.Len()}))
}
