package compile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// Form is the graph as a vendor's compiler has compiled it.
type Form struct {
	File      string // for people
	Container string // the format, as in device.Info.Containers
	Target    string // the chip that it is for, for people; may be empty
	// Read returns the bytes of the file.
	Read func() ([]byte, error)
	// Bytes says of inputs, by name, what the graph's real numbers are of the bytes that the compiled model may take.
	Bytes map[string]Bytes
}

// Bytes are numbers x = (byte - Mean) / Std, with one entry or one for each channel, the second dimension; without
// entries Mean is 0 and Std is 1. Interleaved: the graph takes the bytes of images, [N,H,W,C].
type Bytes struct {
	Mean, Std   []float32
	Interleaved bool
}

// useForm returns the graph of the first form whose device is there and whose ports agree with g's, nil if there is
// none, and what became of each. Constants go to w.
func useForm(ctx context.Context, g *graph.Graph, devices []device.Device, w *mem.Weights, o Options) (*graph.Graph,
	[]device.FormPlacement) {
	var report []device.FormPlacement
	for i := range o.Forms {
		f := &o.Forms[i]
		r := device.FormPlacement{File: f.File, Container: f.Container, Target: f.Target}
		at := slices.IndexFunc(devices,
			func(d device.Device) bool { return slices.Contains(d.Info().Containers, f.Container) })
		if at < 0 {
			r.Reason = "no device takes it"
			report = append(report, r)
			continue
		}
		r.Device = devices[at].Info().ID
		made, err := f.graph(ctx, g, devices[at], w)
		if r.Used = err == nil; r.Used {
			return made, append(report, r)
		}
		r.Reason = err.Error()
		report = append(report, r)
		if o.Warn != nil {
			o.Warn(fmt.Sprintf("the compiled form %s is not used on device %s: %v [compile-form-not-used]", f.File, r.Device,
				err))
		}
	}
	return nil, report
}

// graph is the form as a graph with the ports of g.
func (f *Form) graph(ctx context.Context, g *graph.Graph, d device.Device, w *mem.Weights) (*graph.Graph, error) {
	data, err := f.Read()
	if err != nil {
		return nil, err
	}
	p, err := d.Load(ctx, data)
	if err != nil {
		return nil, err
	}
	defer p.Release()
	in, out := p.Ports()
	h := tensor.HashOf(data)
	if data, err = w.Add(h, data); err != nil {
		return nil, err
	}
	a := adapter{form: f, b: graph.NewBuilder(g.Name)}
	a.count("input", len(in), len(g.In))
	a.count("output", len(out), len(g.Out))
	if len(a.differ) > 0 {
		return nil, a.err()
	}
	var values []graph.Value
	for i, v := range g.In {
		values = append(values, a.input(i, g.Values[v].Name, g.Fact(v).Type, &in[i]))
	}
	values = append(values, a.b.ConstOf(f.Container, tensor.T(tensor.Uint8, int64(len(data))),
		tensor.NewHashedConst(data, h)))
	types := make([]tensor.Type, len(out))
	for i := range out {
		types[i] = plain(out[i].Type)
	}
	a.b.SetOrigin(0, f.File)
	made := a.b.AddTyped(&device.Compiled{Container: f.Container}, "", types, values...)
	a.b.SetOrigin(-1, "")
	for i, v := range g.Out {
		y := a.output(i, made[i], g.Values[v].Name, g.Fact(v).Type, &out[i])
		a.b.Name(y, g.Values[v].Name)
		a.b.Output(y)
	}
	if len(a.differ) > 0 {
		return nil, a.err()
	}
	return a.b.Graph()
}

// plain is a quantized type without its scales.
func plain(t tensor.Type) tensor.Type { return tensor.Type{DType: t.DType, Shape: t.Shape} }

// adapter builds the graph of a form, and collects how its ports differ from the model's.
type adapter struct {
	form   *Form
	b      *graph.Builder
	differ []string
}

func (a *adapter) err() error {
	return fault.New(fault.File, "it differs from the model: %s", strings.Join(a.differ, "; "))
}

func (a *adapter) tell(format string, args ...any) {
	a.differ = append(a.differ, fmt.Sprintf(format, args...))
}

func (a *adapter) count(side string, there, here int) {
	if there != here {
		a.tell("%d %ss there, %d here", there, side, here)
	}
}

// compare tells differences that no conversion can bridge.
func (a *adapter) compare(side string, i int, name string, t tensor.Type, p *device.Port) bool {
	before := len(a.differ)
	if p.Name != "" && p.Name != name {
		a.tell("%s %d is named %q there, %q here", side, i, p.Name, name)
	}
	switch {
	case !t.Shape.Static():
		a.tell("%s %d has the shape %v there, and open sizes here: %v", side, i, p.Type.Shape, t.Shape)
	case !p.Type.Shape.Equal(t.Shape):
		a.tell("%s %d has the shape %v there, %v here", side, i, p.Type.Shape, t.Shape)
	}
	return before == len(a.differ)
}

// input returns the input of the compiled model, made of one of the model's.
func (a *adapter) input(i int, name string, t tensor.Type, p *device.Port) graph.Value {
	x := a.b.Input(name, t)
	bytes, known := a.form.Bytes[name]
	if bytes.Interleaved && len(t.Shape.Dims) == 4 {
		x = a.b.Add(&op.Transpose{}, x, a.b.Int64s(0, 3, 1, 2))
		t = a.b.Fact(x).Type
	}
	if !a.compare("input", i, name, t, p) {
		return x
	}
	switch there := p.Type; {
	case there.DType == t.DType && (there.Quant.Equal(t.Quant) || t.Quant == nil && there.Quant == nil):
		return x
	case t.Quant != nil || !t.DType.IsFloat():
	case there.DType.IsFloat():
		return a.b.Add(&op.Cast{To: there.DType}, x)
	case there.Quant.IsPerTensor():
		return a.b.Add(&op.Quantize{To: there.DType}, x, a.b.Float32(there.Quant.Scale[0]), a.zero(there))
	case there.Quant == nil && there.DType == tensor.Uint8 && known:
		return a.bytes(x, t, bytes)
	}
	a.tell("input %d is %s there, %s here", i, named(p.Type), named(t))
	return x
}

// bytes are the bytes that real numbers were made of.
func (a *adapter) bytes(x graph.Value, t tensor.Type, n Bytes) graph.Value {
	if t.DType != tensor.Float32 {
		x = a.b.Add(&op.Cast{To: tensor.Float32}, x)
	}
	each := func(o graph.Op, v []float32) {
		if len(v) == 0 {
			return
		}
		dims := []int64{int64(len(v))}
		if len(v) > 1 {
			for range len(t.Shape.Dims) - 2 {
				dims = append(dims, 1)
			}
		}
		x = a.b.Add(o, x, a.b.Const("", tensor.T(tensor.Float32, dims...), tensor.Float32s(v...)))
	}
	each(&op.Mul{}, n.Std)
	each(&op.Add{}, n.Mean)
	return a.b.Add(&op.Quantize{To: tensor.Uint8}, x, a.b.Float32(1))
}

// output returns an output of the model, made of one of the compiled model's.
func (a *adapter) output(i int, y graph.Value, name string, t tensor.Type, p *device.Port) graph.Value {
	if !a.compare("output", i, name, t, p) {
		return y
	}
	switch there := p.Type; {
	case there.DType == t.DType && there.Quant.Equal(t.Quant):
		return y
	case t.Quant != nil || !t.DType.IsFloat():
	case there.DType.IsFloat():
		return a.b.Add(&op.Cast{To: t.DType}, y)
	case there.Quant.IsPerTensor():
		return a.b.Add(&op.Dequantize{To: t.DType}, y, a.b.Float32(there.Quant.Scale[0]), a.zero(there))
	}
	a.tell("output %d is %s there, %s here", i, named(p.Type), named(t))
	return y
}

// zero is the zero point of a type as a constant.
func (a *adapter) zero(t tensor.Type) graph.Value {
	width := t.DType.Bits() / 8
	data := make([]byte, width)
	for k, z := 0, uint32(t.Quant.ZeroAt(0)); k < width; k++ {
		data[k] = byte(z)
		z >>= 8
	}
	return a.b.Const("", tensor.T(t.DType), data)
}

// named is a type with its scales.
func named(t tensor.Type) string {
	if t.Quant == nil {
		return t.DType.String()
	}
	return fmt.Sprintf("%v with scale %v and zero point %v", t.DType, t.Quant.Scale, t.Quant.Zero)
}
