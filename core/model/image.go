package model

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// ImageOptions say how inputs are taken that the metadata call images (anynpu.input.NAME.pixel). Inputs of NV12, NV21
// and YUV444, and those with a source (anynpu.input.NAME.source), always take the bytes of an image: nodes in front of
// the network decode it. Gray, RGB and BGR without a source stay the network's real numbers unless All is set: RKNN
// programs may hand those over in any type.
type ImageOptions struct {
	All bool
	// Planar has components in planes, [N,C,H,W], whatever anynpu.input.NAME.layout says: the API turns images itself.
	Planar bool
	// Interleaved has components side by side, [N,H,W,C], unless anynpu.input.NAME.layout says nchw.
	Interleaved bool
	// TwoPlanes makes luma and chroma of NV12 and NV21 two inputs whatever anynpu.input.NAME.planes says. A program's
	// single block is bound to both: its chroma begins H rows after its luma.
	TwoPlanes bool
	// ChannelPlanes makes the two planes images of one channel with quantized values, as RKNN's converter does.
	ChannelPlanes bool
	// Regions has inputs whose source is a resizer take images of any size, of which regions are resized to the
	// network's. Without it they take images of the network's size, as Resizer makes them.
	Regions bool
	// Signed says of RGB, BGR and YUV444 images that their bytes are pixels - 128, unless anynpu.input.NAME.bytes says
	// otherwise.
	Signed bool
}

// takes reports whether an input becomes one that takes bytes.
func (o ImageOptions) takes(in *metadata.Input) bool {
	switch in.Pixel {
	case "":
		return in.Source == "resizer" || in.Source == "pyramid"
	case "nv12", "nv21", "yuv444":
		return true
	}
	return in.Source != "" || o.All
}

// ImagePart is the part of an image that an input takes.
type ImagePart uint8

// The parts. Those of one image follow one another among the inputs, by these names.
const (
	// NAME: [N,C,H,W], or as op.DecodeImage.Interleaved says [N,H,W,C]; of NV12 and NV21 [N,H+H/2,W]
	ImageWhole   ImagePart = iota
	ImageLuma              // NAME: [N,H,W]
	ImageChroma            // NAME.chroma: [N,H/2,W/2,2]
	ImageRegions           // NAME.regions: int32 [N,4]; left, top, right, bottom of the resized region, all included
)

// Image says what an input takes of an image. The graph decodes it by op.DecodeImage, whose comment has the formulas;
// where Resized is set op.ResizeImage takes regions of it before.
type Image struct {
	Input   string // the network's input, by which the metadata call it
	Part    ImagePart
	Source  string // ddr, resizer or pyramid; empty: not said
	Resized bool
	Decode  op.DecodeImage
	// Plain says that the network takes the bytes as they are: there are no nodes.
	Plain bool
	// Signed says that the bytes are pixels - 128.
	Signed bool

	last   bool // the network takes [N,H,W,C]
	turned bool // and red and blue in the other order
	bytes  bool // and bytes, of which none changes
}

// decodeImages puts nodes in front of the network for its inputs that are images.
func (m *Model) decodeImages(o ImageOptions) error {
	g := m.Graph
	var in []graph.Value
	nodes := len(g.Nodes)
	for _, v := range g.In {
		name := g.Values[v].Name
		info := m.Meta.Inputs[name]
		if !o.takes(&info) {
			in = append(in, v)
			continue
		}
		im, err := newImage(name, &info, g.Fact(v), o)
		if err == nil && im.Plain {
			m.image(v, im, ImageWhole)
			in = append(in, v)
			continue
		}
		if err == nil {
			in, err = m.decode(im, v, &info, o, in)
		}
		if err != nil {
			return fault.As(fault.File, err, "anynpu.input.%s.pixel: %q", name, info.Pixel)
		}
	}
	g.In = in
	if len(g.Nodes) == nodes {
		return nil
	}
	return g.Infer()
}

// newImage finds out what the bytes of an image become for an input of the network.
func newImage(name string, info *metadata.Input, f tensor.Fact, o ImageOptions) (*Image, error) {
	im := &Image{Input: name, Source: info.Source, Resized: o.Regions && info.Source == "resizer"}
	d := &im.Decode
	known := []string{"gray", "rgb", "bgr", "yuv444", "nv12", "nv21"}
	pixel := slices.Index(known, info.Pixel)
	switch {
	case info.Pixel == "":
		return nil, fault.New(fault.File, "a source %s has images: want one of %v", info.Source, known)
	case pixel < 0:
		return nil, fault.New(fault.File, "such images are not decoded: want one of %v", known)
	case len(f.Shape.Dims) != 4:
		return nil, fault.New(fault.File, "the input has the shape %v: want a network that takes rank 4", f.Shape)
	}
	d.Pixel = op.Pixel(pixel)
	if info.Range == "bt601_video" {
		d.Range = op.RangeVideo
	}
	switch im.Signed = info.Bytes == "signed"; {
	case im.Signed && (d.Pixel.Semiplanar() || im.Source == "resizer"):
		return nil, fault.New(fault.File, "there is bytes signed: want gray, RGB, BGR or YUV444 images of no resizer")
	case info.Bytes == "" && d.Pixel != op.PixelGray && !d.Pixel.Semiplanar() && im.Source != "resizer":
		im.Signed = o.Signed
	}
	dims := f.Shape.Dims
	has := func(k int, n int64) bool { return dims[k].Known() && dims[k].N == n }
	switch i := slices.Index([]string{"rgb", "bgr", "yuv444", "gray"}, info.Order); {
	case i >= 0:
		d.Order = op.ImageOrder(i)
	case d.Pixel == op.PixelGray, d.Pixel >= op.PixelYUV444 && (has(1, 1) || !has(1, 3) && has(3, 1)):
		d.Order = op.OrderGray
	case d.Pixel == op.PixelBGR:
		d.Order = op.OrderBGR
	}
	c := d.Order.Channels()
	if im.last = !has(1, c) && (dims[1].Known() || has(3, c)); im.last && !has(3, c) {
		return nil, fault.New(fault.File, "the input has the shape %v: want %d channels for %v in dimension 1 or 3", f.Shape,
			c, d.Order)
	}
	d.ChannelsLast = im.last
	d.Interleaved = !d.Pixel.Semiplanar() && !o.Planar && (info.Layout == "nhwc" || info.Layout == "" &&
		(im.last || o.Interleaved))
	return im, im.normalize(info, f)
}

// normalize reads mean and scale. Of RGB and BGR they are in the order of the image, as every API has them; of YUV
// images in that of the network.
func (im *Image) normalize(info *metadata.Input, f tensor.Fact) error {
	d := &im.Decode
	d.Mean, d.Scale = slices.Clone(info.Mean), slices.Clone(info.Scale)
	if len(info.Std) > 0 && len(info.Scale) > 0 {
		return fault.New(fault.File, "there are std and scale: want one of them")
	}
	for _, s := range info.Std {
		d.Scale = append(d.Scale, 1/s)
	}
	im.turned = d.Pixel == op.PixelRGB && d.Order == op.OrderBGR || d.Pixel == op.PixelBGR && d.Order == op.OrderRGB
	if im.turned {
		slices.Reverse(d.Mean)
		slices.Reverse(d.Scale)
	}
	switch {
	case f.DType == tensor.Uint8 && f.Quant == nil && d.Pixel < op.PixelYUV444 && len(d.Mean)+len(d.Scale) == 0:
		im.bytes = true
		im.Plain = d.Interleaved == im.last && !im.turned && !im.Resized && !im.Signed
	case !f.DType.IsFloat():
		return fault.New(fault.Type, "the network takes %v: want one that takes real numbers, which an image becomes",
			f.DType)
	}
	return nil
}

// image notes that input v takes a part of an image.
func (m *Model) image(v graph.Value, im *Image, part ImagePart) {
	if m.Images == nil {
		m.Images = map[graph.Value]*Image{}
	}
	own := *im
	own.Part = part
	m.Images[v] = &own
}

// decode makes v, the network's input, the result of nodes that decode an image, and appends the image's inputs to in.
func (m *Model) decode(im *Image, v graph.Value, info *metadata.Input, o ImageOptions, in []graph.Value) ([]graph.Value,
	error) {
	g := m.Graph
	n, h, w := im.sizes(g.Fact(v).Shape.Dims)
	size := [2]tensor.Dim{h, w}
	if im.Resized {
		if !h.Known() || !w.Known() {
			return nil, fault.New(fault.File, "the input has the shape %v: want a known height and width to resize to",
				g.Fact(v).Shape)
		}
		size = [2]tensor.Dim{tensor.AnyDim(), tensor.AnyDim()}
	}
	add := func(name string, t tensor.Type, part ImagePart) graph.Value {
		g.Values = append(g.Values, graph.ValueInfo{Name: name, Fact: tensor.Fact{Type: t}})
		in = append(in, graph.Value(len(g.Values)-1))
		m.image(in[len(in)-1], im, part)
		return in[len(in)-1]
	}
	two := im.Decode.Pixel.Semiplanar() && (o.TwoPlanes || info.Planes == 2)
	var parts, types = []graph.Value(nil), im.types(n, size[0], size[1], two)
	if two && o.ChannelPlanes {
		names, err := planeNames(im.Input, info)
		if err == nil {
			parts, in, err = m.channelPlanes(names, types[0].Shape, types[1].Shape, in)
		}
		if err != nil {
			return nil, err
		}
		for i, name := range names {
			m.Meta.Inputs[name] = im.planeInfo(info, i)
		}
	} else if two {
		parts = []graph.Value{add(im.Input, types[0], ImageLuma), add(im.Input+".chroma", types[1], ImageChroma)}
	} else {
		parts = []graph.Value{add(im.Input, types[0], ImageWhole)}
	}
	node := func(o graph.Op, in []graph.Value, types ...tensor.Type) (out []graph.Value) {
		for _, t := range types {
			g.Values = append(g.Values, graph.ValueInfo{Fact: tensor.Fact{Type: t}})
			out = append(out, graph.Value(len(g.Values)-1))
		}
		g.Nodes = append(g.Nodes, graph.Node{Op: o, Name: im.Input, Origin: -1, In: in, Out: out})
		return out
	}
	if im.Resized {
		regions := add(im.Input+".regions", tensor.Type{DType: tensor.Int32, Shape: tensor.OfDims(n, tensor.D(4))},
			ImageRegions)
		resize := &op.ResizeImage{Pixel: im.Decode.Pixel, Interleaved: im.Decode.Interleaved, Height: h.N, Width: w.N}
		from := append(slices.Clone(parts), regions)
		if !two {
			from = []graph.Value{parts[0], graph.None, regions}
		}
		parts = node(resize, from, im.types(n, h, w, two)...)
	}
	if im.Signed {
		b := graph.Extend(g)
		half := b.Const("", tensor.T(tensor.Uint8), []byte{128})
		parts = node(&op.BitwiseXor{}, []graph.Value{parts[0], half}, types[0])
	}
	if im.bytes {
		im.move(g, v, parts[0])
		return in, nil
	}
	decode := im.Decode
	made := tensor.Type{DType: tensor.Float32, Shape: g.Fact(v).Shape}
	if _, err := decode.Infer(g.Facts(parts), []tensor.Type{made}); err != nil {
		return nil, err
	}
	g.Values[v].Name = im.Input + ".decoded"
	if t := g.Fact(v).DType; t != tensor.Float32 {
		node(&op.Cast{To: t}, node(&decode, parts, made))
	} else {
		node(&decode, parts)
	}
	last := &g.Nodes[len(g.Nodes)-1]
	last.Out = []graph.Value{v}
	return in, nil
}

// move makes v, which takes bytes, of an image in another order.
func (im *Image) move(g *graph.Graph, v, x graph.Value) {
	g.Values[v].Name = im.Input + ".decoded"
	b := graph.Extend(g)
	channels := int64(1)
	if im.Decode.Interleaved {
		channels = 3
	}
	if im.turned {
		x = b.Add(&op.Gather{}, x, b.Int64s(2, 1, 0), b.Int64s(channels))
	}
	switch {
	case im.Decode.Interleaved && !im.last:
		x = b.Add(&op.Transpose{}, x, b.Int64s(0, 3, 1, 2))
	case !im.Decode.Interleaved && im.last:
		x = b.Add(&op.Transpose{}, x, b.Int64s(0, 2, 3, 1))
	}
	g.Nodes = append(g.Nodes, graph.Node{Op: &op.Identity{}, Name: im.Input, Origin: -1, In: []graph.Value{x},
		Out: []graph.Value{v}})
}

// Size returns batch, height and width of the image of an input whose part has these sizes. They equal the network's
// input unless Resized is set.
func (im *Image) Size(part []int64) (n, h, w int64) {
	switch {
	case im.Plain:
		d := tensor.Of(part...).Dims
		a, b, c := im.sizes(d)
		return a.N, b.N, c.N
	case im.Part == ImageChroma:
		return part[0], 2 * part[1], 2 * part[2]
	case im.Part == ImageLuma:
		return part[0], part[1], part[2]
	case im.Decode.Pixel.Semiplanar():
		h, _ = op.BlockHeight(part[1])
		return part[0], h, part[2]
	case im.Decode.Interleaved:
		return part[0], part[1], part[2]
	}
	return part[0], part[2], part[3]
}

// sizes are batch, height and width of the network's input.
func (im *Image) sizes(d []tensor.Dim) (n, h, w tensor.Dim) {
	if im.last {
		return d[0], d[1], d[2]
	}
	return d[0], d[2], d[3]
}

// types returns the types of the tensors of an image of these sizes.
func (im *Image) types(n, h, w tensor.Dim, two bool) []tensor.Type {
	map1 := func(d tensor.Dim, f func(int64) int64) tensor.Dim {
		if !d.Known() {
			return tensor.AnyDim()
		}
		return tensor.D(f(d.N))
	}
	half := func(d tensor.Dim) tensor.Dim { return map1(d, func(n int64) int64 { return n / 2 }) }
	c := tensor.D(im.Decode.Pixel.Components())
	var shapes []tensor.Shape
	switch {
	case two:
		shapes = []tensor.Shape{tensor.OfDims(n, h, w), tensor.OfDims(n, half(h), half(w), tensor.D(2))}
	case im.Decode.Pixel.Semiplanar():
		shapes = []tensor.Shape{tensor.OfDims(n, map1(h, op.BlockRows), w)}
	case im.Decode.Interleaved:
		shapes = []tensor.Shape{tensor.OfDims(n, h, w, c)}
	default:
		shapes = []tensor.Shape{tensor.OfDims(n, c, h, w)}
	}
	var types []tensor.Type
	for _, s := range shapes {
		types = append(types, tensor.Type{DType: tensor.Uint8, Shape: s})
	}
	return types
}

// InputInfo holds the metadata of an input of the graph: of one that is decoded what holds for its bytes.
func (m *Model) InputInfo(v graph.Value) metadata.Input {
	im := m.Images[v]
	if im == nil {
		return m.Meta.Inputs[m.Graph.Values[v].Name]
	}
	return im.info(m.Meta.Inputs[im.Input])
}

func (im *Image) info(in metadata.Input) metadata.Input {
	own := metadata.Input{Layout: in.Layout, Pixel: in.Pixel}
	switch {
	case im.Plain:
		own.Shapes, own.Shape = in.Shapes, in.Shape
		return own
	case im.Resized && im.Part != ImageRegions:
		return own
	}
	for _, s := range in.Shapes {
		own.Shapes = append(own.Shapes, im.dims(s))
	}
	if in.Shape != nil {
		own.Shape = im.dims(in.Shape)
	}
	return own
}

// dims are the sizes of the part for sizes of the network's input.
func (im *Image) dims(network []int64) []int64 {
	if len(network) != 4 {
		return network
	}
	n, h, w := im.sizes(tensor.Of(network...).Dims)
	if im.Part == ImageRegions {
		return []int64{n.N, 4}
	}
	types := im.types(n, h, w, im.Part == ImageLuma || im.Part == ImageChroma)
	s, _ := types[len(types)-1].Shape.Ints()
	if im.Part == ImageLuma {
		s, _ = types[0].Shape.Ints()
	}
	return s
}

// planeInfo holds the metadata of an input that is a plane of one channel: 0 luma, 1 chroma.
func (im *Image) planeInfo(in *metadata.Input, i int) metadata.Input {
	size := func(network []int64) []int64 {
		if len(network) != 4 {
			return network
		}
		n, h, w := im.sizes(tensor.Of(network...).Dims)
		if i == 1 {
			h.N /= 2
		}
		return []int64{n.N, 1, h.N, w.N}
	}
	own := metadata.Input{Layout: in.Layout}
	for _, s := range in.Shapes {
		own.Shapes = append(own.Shapes, size(s))
	}
	if in.Shape != nil {
		own.Shape = size(in.Shape)
	}
	return own
}

// Resizer returns a graph of one op.ResizeImage for n images of h rows and w columns. Its inputs are "image", with
// twoPlanes (of NV12 and NV21) "chroma", and "regions", int32 [n,4], which a run reads; its outputs "image", and
// "chroma" alike.
func Resizer(o op.ResizeImage, n, h, w int64, twoPlanes bool) (*graph.Graph, error) {
	im := &Image{Decode: op.DecodeImage{Pixel: o.Pixel, Interleaved: o.Interleaved}}
	b := graph.NewBuilder("resizer")
	types := im.types(tensor.D(n), tensor.D(h), tensor.D(w), twoPlanes && o.Pixel.Semiplanar())
	in := []graph.Value{b.Input("image", types[0]), graph.None}
	if len(types) == 2 {
		in[1] = b.Input("chroma", types[1])
	}
	in = append(in, b.Input("regions", tensor.T(tensor.Int32, n, 4)))
	out := b.AddN(&o, len(types), in...)
	for i, name := range []string{"image", "chroma"}[:len(types)] {
		b.Name(out[i], name)
	}
	b.Output(out...)
	return b.Graph()
}
