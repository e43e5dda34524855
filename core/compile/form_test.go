package compile

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// npu is a device of compiled models of the kind "test". Its programs are those of another device for a graph, whose
// ports it shows as of other types.
type npu struct {
	device.Device
	graph   *graph.Graph
	in, out []tensor.Type
}

func (d *npu) Info() device.Info {
	return device.Info{ID: "npu", Name: "npu", Containers: []string{"test"}, BuildHash: "1"}
}

func (d *npu) Support(g *graph.Graph, _ device.Options) ([]device.NodeSupport, error) {
	out := make([]device.NodeSupport, len(g.Nodes))
	for i := range g.Nodes {
		if _, out[i].OK = g.Nodes[i].Op.(*device.Compiled); !out[i].OK {
			out[i].Reason = "not compiled"
		}
	}
	return out, nil
}

func (d *npu) Compile(ctx context.Context, u device.Unit, _ device.Options) (device.Program, error) {
	_, data, ok := device.CompiledModel(u.Graph)
	if !ok {
		return nil, fault.New(fault.Unsupported, "no compiled model")
	}
	return d.Load(ctx, data)
}

func (d *npu) Load(ctx context.Context, data []byte) (device.Program, error) {
	if string(data) != "model" {
		return nil, fault.New(fault.File, "no model")
	}
	p, err := d.Device.Compile(ctx, device.Unit{Graph: d.graph}, device.Options{})
	return shown{p, d}, err
}

type shown struct {
	device.Program
	d *npu
}

func (s shown) Ports() (in, out []device.Port) {
	a, b := s.Program.Ports()
	in, out = append(in, a...), append(out, b...)
	for i := range s.d.in {
		in[i].Type = s.d.in[i]
	}
	for i := range s.d.out {
		out[i].Type = s.d.out[i]
	}
	return in, out
}

// twice is y = x + x of the given type.
func twice(t *testing.T, typ tensor.Type) *graph.Graph {
	b := graph.NewBuilder("twice")
	x := b.Input("x", typ)
	b.SetOrigin(0, "")
	y := b.Add(&op.Add{}, x, x)
	b.Name(y, "y")
	b.Output(y)
	g, err := b.Graph()
	require.NoError(t, err)
	return g
}

// TestCompile_forms gives a graph of real numbers compiled forms with ports of other types. What the form computes,
// x + x + x, tells it from the graph.
func TestCompile_forms(t *testing.T) {
	host, err := cpu.New(cpu.Config{Threads: 1})
	require.NoError(t, err)
	thrice := func(d tensor.DType) *graph.Graph {
		b := graph.NewBuilder("thrice")
		x := b.Input("x", tensor.T(d, 1, 2, 1, 2))
		y := b.Add(&op.Add{}, b.Add(&op.Add{}, x, x), x)
		b.Name(y, "y")
		b.Output(y)
		g, err := b.Graph()
		require.NoError(t, err)
		return g
	}
	quantized := func(d tensor.DType, scale float32, zero int32) []tensor.Type {
		typ := tensor.T(d, 1, 2, 1, 2)
		typ.Quant = tensor.PerTensor(scale, zero)
		return []tensor.Type{typ}
	}
	real := tensor.T(tensor.Float32, 1, 2, 1, 2)
	x := []float32{1, 2, 3, -4}
	for name, c := range map[string]struct {
		npu   npu
		bytes Bytes
		want  []float32
		why   string
	}{
		"as it is": {npu: npu{graph: thrice(tensor.Float32)}, want: []float32{3, 6, 9, -12}},
		"float16":  {npu: npu{graph: thrice(tensor.Float16)}, want: []float32{3, 6, 9, -12}},
		// codes 2x + 3, of which the sum of three stands for numbers by 0.25 and zero point 5
		"codes": {npu: npu{graph: thrice(tensor.Int16), in: quantized(tensor.Int16, 0.5, 3),
			out: quantized(tensor.Int16, 0.25, 5)},
			want: []float32{(15 - 5) * .25, (21 - 5) * .25, (27 - 5) * .25, (-15 - 5) * .25}},
		// bytes: x * std + mean by channel, 255 at most and 0 at least; what they stand for there is not known here
		"codes out": {npu: npu{graph: thrice(tensor.Uint8), out: quantized(tensor.Uint8, 1, 0)},
			bytes: Bytes{Mean: []float32{10.25, 30}, Std: []float32{2, 8}},
			want:  []float32{36, 42, 162, 0}}, // bytes 12, 14, 54, 0 (30 - 32)
		"other sizes": {npu: npu{graph: twice(t, tensor.T(tensor.Float32, 1, 1, 2, 2))},
			why: "input 0 has the shape [1,1,2,2] there, [1,2,1,2] here; output 0 has the shape [1,1,2,2] there"},
		"integers": {npu: npu{graph: thrice(tensor.Int32)}, why: "input 0 is int32 there, float32 here; output 0 is int32"},
	} {
		t.Run(name, func(t *testing.T) {
			c.npu.Device = host
			var warned []string
			form := Form{File: "net.test", Container: "test", Target: "chip",
				Read: func() ([]byte, error) { return []byte("model"), nil }, Bytes: map[string]Bytes{"x": c.bytes}}
			absent := Form{File: "net.other", Container: "other"}
			p, err := Compile(context.Background(), twice(t, real), []device.Device{&c.npu, host}, Options{
				Forms: []Form{absent, form}, Strict: c.why == "", Warn: func(text string) { warned = append(warned, text) }})
			require.NoError(t, err)
			defer p.Release()
			forms := p.Placement().Forms
			require.Len(t, forms, 2)
			assert.Equal(t, device.FormPlacement{File: "net.other", Container: "other", Reason: "no device takes it"}, forms[0])
			assert.Equal(t, c.why == "", forms[1].Used)
			if c.why != "" {
				require.Len(t, warned, 1)
				assert.Contains(t, warned[0], "the compiled form net.test is not used on device npu: it differs from the model: "+
					""+c.why)
				c.want = []float32{2, 4, 6, -8}
			} else {
				assert.Empty(t, warned)
				assert.Equal(t, "compiled form net.test on npu", p.Placement().Summary())
			}
			in, out := p.Ports()
			assert.Equal(t, "x", in[0].Name)
			assert.Equal(t, "y", out[0].Name)
			assert.True(t, in[0].Type.Shape.Equal(real.Shape) && in[0].Type.DType == tensor.Float32)
			e, err := p.New(device.ExecOptions{})
			require.NoError(t, err)
			defer e.Release()
			b := mem.Borrow(tensor.Float32s(x...), nil)
			require.NoError(t, e.BindInput(0, mem.View{Buf: b, Type: real}))
			b.Release()
			require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
			data, err := e.OutputData(0)
			require.NoError(t, err)
			assert.Equal(t, tensor.Float32s(c.want...), data)
		})
	}
}
