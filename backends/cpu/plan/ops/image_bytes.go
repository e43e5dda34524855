package ops

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// images are the operands of an operator on images of bytes.
type images struct {
	pixel       op.Pixel
	interleaved bool
}

// fits reports whether the values of vs are images that kernels take, absent ones apart.
func (m images) fits(g *ir.Network, vs ...graph.Value) bool {
	for _, v := range vs {
		if v == graph.None {
			continue
		}
		x := &g.Values[v]
		if !x.Convertible() || x.Type.DType != tensor.Uint8 || x.Type.Quant != nil || x.Count() >= 1<<31 {
			return false
		}
	}
	return true
}

// planes returns the planes of an image in one tensor, or in two, without their bytes.
func (m images) planes(dims ...[]int64) (p []kernel.Bytes, n int) {
	d := make([]int, len(dims[0]))
	for i, v := range dims[0] {
		d[i] = int(v)
	}
	switch {
	case !m.pixel.Semiplanar() && m.interleaved:
		p = []kernel.Bytes{{H: d[1], W: d[2], Comps: d[3], Image: d[1] * d[2] * d[3], Row: d[2] * d[3], Col: d[3], Comp: 1}}
	case !m.pixel.Semiplanar():
		p = []kernel.Bytes{{H: d[2], W: d[3], Comps: d[1], Image: d[1] * d[2] * d[3], Row: d[3], Col: 1, Comp: d[2] * d[3]}}
	default:
		h, w := d[1], d[2]
		luma := kernel.Bytes{H: h, W: w, Comps: 1, Image: h * w, Row: w, Col: 1}
		chroma := kernel.Bytes{H: h / 2, W: w / 2, Comps: 2, Image: h / 2 * (w / 2) * 2, Row: w / 2 * 2, Col: 2, Comp: 1}
		if len(dims) == 1 {
			rows, _ := op.BlockHeight(int64(h))
			luma.H = int(rows)
			chroma.H, chroma.Image, chroma.Row = luma.H/2, luma.Image, w
		}
		p = []kernel.Bytes{luma, chroma}
	}
	return p, d[0]
}

// apart is a plane whose rows lie so many bytes apart, 0: as they are.
func apart(p kernel.Bytes, bytes int) kernel.Bytes {
	if bytes == 0 {
		return p
	}
	p.Image = p.Image / p.Row * bytes
	if p.Col == 1 && p.Comps > 1 { // components in planes
		p.Comp = p.Comp / p.Row * bytes
	}
	p.Row = bytes
	return p
}

// setBytes gives planes their bytes: of one tensor, or of two.
func setBytes(p []kernel.Bytes, data ...[]byte) {
	p[0].Data = data[0]
	switch {
	case len(p) == 1:
	case len(data) == 2:
		p[1].Data = data[1]
	default:
		p[1].Data = data[0][p[0].H*p[0].Row:]
	}
}

// decodeImageOp makes channels of images.
type decodeImageOp struct {
	ir.InOrder
	kernel kernel.Decode
}

// matchDecodeImage finds the decoding of images.
func matchDecodeImage(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.DecodeImage)
	m := images{}
	if is {
		m = images{o.Pixel, o.Interleaved}
	}
	if !is || !m.fits(g, n.In...) || !g.IsFloat32(n.Out[0]) {
		return nil
	}
	dims := [][]int64{g.Values[n.In[0]].Dims}
	if ir.Given(n.In, 1) {
		dims = append(dims, g.Values[n.In[1]].Dims)
	}
	a := o.Affine()
	k := kernel.Decode{Components: a.Components, Channels: a.Channels, Base: a.Base, Weight: a.Weight, Offset: a.Offset,
		Last: o.ChannelsLast}
	k.Planes, k.Batch = m.planes(dims...)
	if k.Batch == 0 {
		return nil
	}
	if k.Components == 1 {
		k.Planes = k.Planes[:1]
	}
	return p.Plainly(i, &decodeImageOp{ir.InOrder{Order: run.NCHW}, k}, len(dims))
}

func (q *decodeImageOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Apart: true, Start: func(s *run.State, st *run.Step) run.Process {
		t := &decodeImageTask{st: st, dense: q.kernel.Planes, Decode: q.kernel}
		t.Planes = slices.Clone(t.dense)
		run.Admit(int64(s.Threads) * kernel.DecodeWork)
		return t
	}}
}

type decodeImageTask struct {
	st    *run.Step
	dense []kernel.Bytes // the planes without gaps
	kernel.Decode
}

func (t *decodeImageTask) Run(s *run.State) error {
	for i := range t.dense {
		t.Planes[i] = apart(t.dense[i], s.ApartOf(t.st.Reads[min(i, len(t.st.Reads)-1)]))
	}
	if first := s.Mem[t.st.Reads[0]]; len(t.st.Reads) == 2 && len(t.Planes) == 2 {
		setBytes(t.Planes, first, s.Mem[t.st.Reads[1]])
	} else {
		setBytes(t.Planes, first)
	}
	t.Y = s.F32(t.st.Writes[0])
	s.Do(t.Plan(s.Threads), t)
	return nil
}

// resizeImageOp resizes regions of images.
type resizeImageOp struct {
	ir.InOrder
	planes  [2][]kernel.Bytes // of the image and the result
	batch   int
	two     bool         // the planes are tensors of their own
	regions tensor.DType // Invalid: whole images
}

// matchResizeImage finds the resizing of regions of images.
func matchResizeImage(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.ResizeImage)
	if !is {
		return nil
	}
	m := images{o.Pixel, o.Interleaved}
	if !m.fits(g, n.In[:min(2, len(n.In))]...) || !m.fits(g, n.Out...) {
		return nil
	}
	q := &resizeImageOp{InOrder: ir.InOrder{Order: run.NCHW}, two: ir.Given(n.In, 1)}
	in, out := []graph.Value{n.In[0]}, n.Out
	if q.two {
		in = append(in, n.In[1])
	}
	for k, list := range [][]graph.Value{in, out} {
		var dims [][]int64
		for _, v := range list {
			if v == graph.None {
				return nil
			}
			dims = append(dims, g.Values[v].Dims)
		}
		q.planes[k], q.batch = m.planes(dims...)
	}
	if ir.Given(n.In, 2) {
		r := &g.Values[n.In[2]]
		if !r.Convertible() || !r.Type.DType.IsInt() || r.Type.Quant != nil {
			return nil
		}
		q.regions = r.Type.DType
		in = append(in, n.In[2])
	}
	return ir.One(i, q, in, out)
}

func (q *resizeImageOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Apart: true, Start: func(_ *run.State, st *run.Step) run.Process {
		t := &resizeImageTask{st: st, op: q}
		run.Admit(int64(16 * q.batch * q.planes[1][0].W))
		for i := range q.planes[0] {
			t.planes = append(t.planes, kernel.ResizeBytes{Batch: q.batch, Regions: make([]kernel.ByteRegion, q.batch)})
			t.from, t.to = append(t.from, q.planes[0][i]), append(t.to, q.planes[1][i])
		}
		return t
	}}
}

type resizeImageTask struct {
	st       *run.Step
	op       *resizeImageOp
	from, to []kernel.Bytes
	planes   []kernel.ResizeBytes
	now      *kernel.ResizeBytes // the plane that is resized
}

func (t *resizeImageTask) Run(s *run.State) error {
	in, out := s.Mem[t.st.Reads[0]], s.Mem[t.st.Writes[0]]
	for i, dense := range t.op.planes[0] {
		from := 0 // of the operands
		if t.op.two {
			from = i
		}
		t.from[i] = apart(dense, s.ApartOf(t.st.Reads[from]))
	}
	if t.op.two {
		setBytes(t.from, in, s.Mem[t.st.Reads[1]])
		setBytes(t.to, out, s.Mem[t.st.Writes[1]])
	} else {
		setBytes(t.from, in)
		setBytes(t.to, out)
		if to := &t.to[0]; len(t.to) == 2 && to.W%2 == 1 { // the byte of a row of chroma that belongs to no pair
			for row := to.W - 1; row < len(t.to[1].Data); row += to.W {
				t.to[1].Data[row] = 0
			}
		}
	}
	if err := t.cut(s); err != nil {
		return err
	}
	for i := range t.planes {
		t.now = &t.planes[i]
		t.now.From, t.now.To = t.from[i], t.to[i]
		s.Do(t.now.Plan(s.Threads), t)
	}
	return nil
}

// cut reads the regions of this run.
func (t *resizeImageTask) cut(s *run.State) error {
	h, w := int64(t.from[0].H), int64(t.from[0].W)
	for n := range t.op.batch {
		r := op.Region{Right: w - 1, Bottom: h - 1}
		if d := t.op.regions; d != tensor.Invalid {
			data := s.Mem[t.st.Reads[len(t.st.Reads)-1]]
			at := func(k int) int64 { return tensor.IntAt(d, data, 4*n+k) }
			var err error
			if r, err = (op.Region{Left: at(0), Top: at(1), Right: at(2), Bottom: at(3)}).Within(h, w); err != nil {
				return fault.Wrap(err, "input 2: image %d", n)
			}
		}
		for i := range t.planes {
			if i == 1 {
				r = r.Chroma(h, w)
			}
			t.planes[i].Regions[n] = kernel.ByteRegion{Left: int(r.Left), Top: int(r.Top), Right: int(r.Right),
				Bottom: int(r.Bottom)}
		}
	}
	return nil
}

// Chunk computes some rows of the plane.
func (t *resizeImageTask) Chunk(i, _ int) { t.now.Chunk(i) }
