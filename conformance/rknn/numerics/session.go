package numerics

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// session is a context of a net, and what is known of its state.
type session struct {
	*T
	net  *net
	ctx  uintptr
	in   []tensor                   // elements of the model that the next run reads; without elements: not set
	out  []port                     // for the shape in use
	want []tensor                   // results of the last run
	pool map[[3]int]*rknn.TensorMem // memory by size, use and whether it lies within other memory; nil: always new
}

// start makes a context of a net.
func (t *T) start(n *net) *session {
	m, _, out := n.compute(n.zeros())
	data, ctx := m.Bytes(), new(uintptr)
	code := t.Code("init", ctx, data, len(data), 0, nil)
	if code == rknn.ModelInvalid {
		t.Lacks("rknn_init refuses the model: %s", t.LastError())
	}
	t.Check(code == rknn.Success, "rknn_init: %s: %s", rknn.API.CodeName(code), t.LastError())
	return &session{T: t, net: n, ctx: t.Owned(*ctx), in: make([]tensor, len(n.in)), out: out,
		pool: map[[3]int]*rknn.TensorMem{}}
}

// dup makes a duplicate, which has nothing set.
func (s *session) dup() *session {
	d := *s
	d.ctx, d.in, d.want = s.Dup(s.ctx), make([]tensor, len(s.in)), nil
	return &d
}

// queriesOf are the commands that give attributes of inputs and of outputs.
var queriesOf = map[bool][]int{
	false: {rknn.QueryInput, rknn.QueryNativeInput, rknn.QueryNHWCInput, rknn.QueryCurrentInput, rknn.QueryCurrentNatIn},
	true: {rknn.QueryOutput, rknn.QueryNativeOutput, rknn.QueryNHWCOutput, rknn.QueryCurrentOutput,
		rknn.QueryCurrentNatOut},
}

// attributes demands every field of every attribute of a model without dynamic shapes.
func (s *session) attributes(when string) {
	for _, list := range [][]port{s.net.in, s.out} {
		for i, p := range list {
			for _, cmd := range queriesOf[p.output] {
				s.attribute(when, &p, cmd, i)
			}
		}
	}
	n := rknn.InOutNum{}
	s.OK("query", s.ctx, rknn.QueryInOutNum, &n, 8)
	s.Check(int(n.In) == len(s.net.in) && int(n.Out) == len(s.out), "%s: %d inputs and %d outputs", when, n.In, n.Out)
}

func (s *session) attribute(when string, p *port, cmd, index int) {
	got, want := *s.Attr(s.ctx, cmd, index), p.attr(cmd, index, s.Board())
	s.Check(got == want, "%s: command %d, %s: %s, want %s", when, cmd, p.name, shownAttr(&got), shownAttr(&want))
}

func shownAttr(a *rknn.TensorAttr) string {
	return fmt.Sprintf("{index %d, %q, dims %v of %d, n_elems %d, size %d, fmt %d, type %d, qnt_type %d, fl %d, zp %d, "+
		"scale %g, w_stride %d, size_with_stride %d, pass_through %d, h_stride %d}", a.Index, rknn.TextOf(a.Name[:]), a.Dims,
		a.Rank, a.Elems, a.Size, a.Format, a.Kind, a.Qnt, a.Fl, a.Zp, a.Scale, a.WStride, a.SizeWithStride, a.PassThrough,
		a.HStride)
}

// path is how an input reaches the library.
type path int

const (
	copied      path = iota // rknn_inputs_set
	bound                   // rknn_set_io_mem, memory of rknn_create_mem
	offset                  // likewise, memory that begins within other memory
	strided                 // likewise, more rows per image than the input has
	planes                  // rknn_inputs_set in NCHW, of an input that is NHWC
	planesBound             // rknn_set_io_mem likewise
)

// way is how an input is given.
type way struct {
	kind uint32
	raw  bool // pass_through
	path path
}

func (w way) String() string {
	return fmt.Sprintf("type %d, pass_through %v, %s", w.kind, w.raw, []string{"rknn_inputs_set", "bound",
		"bound at an offset", "bound with h_stride", "rknn_inputs_set in NCHW", "bound in NCHW"}[w.path])
}

// turns says that elements are given in NCHW although the input is NHWC; with pass_through that counts for nothing.
func (w way) turns() bool { return (w.path == planes || w.path == planesBound) && !w.raw }

// elements are numbers of a type for a net: integers within its span, else whatever the type holds.
func (n *noise) elements(kind uint32, count, span int) []float64 {
	out := make([]float64, count)
	for i := range out {
		lo, hi := rangeOf(kind)
		real := kind == rknn.Float32 || kind == rknn.Float16 || kind == rknn.BFloat16
		switch {
		case kind == rknn.Bool:
			out[i] = float64(n.below(3) * n.below(2))
		case span > 0:
			if real {
				lo, hi = -2048, 2048 // what half precision holds
				if kind == rknn.Float32 {
					lo, hi = -1<<24, 1<<24
				}
			}
			if kind == rknn.BFloat16 {
				lo, hi = -256, 256
			}
			out[i] = float64(n.between(int(max(lo, -float64(span))), int(min(hi, float64(span)))))
		case kind == rknn.Float16:
			out[i] = halfOf(float64(n.between(-40000, 40000)) / 700)
		case kind == rknn.BFloat16:
			out[i] = bfloatOf(float64(n.between(-40000, 40000)) / 700)
		case real:
			out[i] = float64(float32(n.between(-400000, 400000)) / 7000)
		default:
			out[i] = float64(n.between(int(max(lo, -70000)), int(min(hi, 70000))))
		}
	}
	return out
}

// give gives input i new elements in a way.
func (s *session) give(i int, w way, n *noise) {
	p := &s.net.in[i]
	kind := w.kind
	if w.raw {
		kind = p.kind()
	}
	rows, elems := 0, count(p.dims)
	if len(p.dims) == 4 {
		if rows = p.dims[2]; w.path == strided {
			rows += 2
		}
		elems = elems / p.dims[2] * rows
	}
	x := n.elements(kind, elems, s.net.span)
	if w.raw && kind == rknn.Bool {
		for i := range x {
			x[i] = min(x[i], 1) // a Bool of a model is 0 or 1
		}
	}
	format := p.format()
	if w.turns() {
		format = rknn.NCHW
	}
	s.in[i] = p.takenFrom(x, kind, format, w.raw, rows)
	data := encoded(kind, x)
	if format == rknn.Undefined {
		format = uint32(n.below(4))
	}
	if w.raw {
		kind, format = uint32(90+n.below(9)), uint32(n.below(9))
	}
	if w.path == copied || w.path == planes {
		in := s.Given(i, kind, format, data)
		if w.raw {
			in.PassThrough = 1
		}
		s.OK("inputs_set", s.ctx, 1, []rknn.Input{in})
		return
	}
	a := p.attr([]int{rknn.QueryInput, rknn.QueryNativeInput}[n.below(2)], i, s.Board())
	a.Kind = kind
	if w.path == planesBound {
		a.Format = rknn.NCHW
	}
	if w.raw {
		a.PassThrough = 1
	}
	if w.path == strided {
		a.HStride = uint32(rows)
	}
	m := s.room(len(data), i, w.path == offset)
	s.OK("set_io_mem", s.ctx, cmem.Address(m), &a)
	copy(m.Bytes(), data)
}

// room is memory of a size, at an offset within other memory if asked for: that which had the same use before, as
// programs keep memory, or new memory.
func (s *session) room(size, use int, inside bool) *rknn.TensorMem {
	key := [3]int{size, use, 0}
	if inside {
		key[2] = 1
	}
	m := s.pool[key]
	switch {
	case m != nil:
		return m
	case inside:
		base := s.Mem(s.ctx, size+8192)
		m = s.OwnedMem(s.Ptr("create_mem_from_fd", s.ctx, base.FD, base.Virt, size, 4096))
	default:
		m = s.Mem(s.ctx, size)
	}
	if s.pool != nil {
		s.pool[key] = m
	}
	return m
}

// target is memory that an output is bound to.
type target struct {
	mem          *rknn.TensorMem
	kind, format uint32
	index, c2    int
	size         int
}

// bindOutput binds an output to new memory in its type or as FLOAT32, in one of the formats that it can have.
func (s *session) bindOutput(i int, k int) target {
	p := &s.out[i]
	g := target{index: i, kind: p.kind(), format: p.format(), c2: lanes(s.Board(), p.kind())}
	cmd := rknn.QueryOutput
	if len(p.dims) == 4 {
		g.format = []uint32{rknn.NC1HWC2, rknn.NHWC, rknn.NCHW}[k%3]
		cmd = []int{rknn.QueryNativeOutput, rknn.QueryNHWCOutput, rknn.QueryOutput}[k%3]
	}
	if k/3%2 == 1 {
		g.kind = rknn.Float32
	}
	a := p.attr(cmd, i, s.Board())
	a.Kind = g.kind
	g.size = count(p.dimsIn(g.format, g.c2)) * elemBytes(g.kind)
	if len(p.dims) != 4 {
		g.size = count(p.dims) * elemBytes(g.kind)
	}
	g.mem = s.room(g.size+64, 100+i, k%5 == 1)
	for i := range g.mem.Bytes() {
		g.mem.Bytes()[i] = 0x5a
	}
	s.OK("set_io_mem", s.ctx, cmem.Address(g.mem), &a)
	return g
}

// holds demands the result of the last run in bound memory, and that nothing behind it was written.
func (s *session) holds(what string, g target) {
	p := &s.out[g.index]
	what = fmt.Sprintf("%s: %q bound as type %d in format %d", what, p.name, g.kind, g.format)
	s.same(what, g.kind, g.mem.Bytes()[:g.size], p.laid(s.want[g.index], g.kind, g.format, g.c2), s.net.tol)
	for _, b := range g.mem.Bytes()[g.size:] {
		s.Check(b == 0x5a, "%s: memory behind it was written", what)
	}
}

// run runs the context; the model of the net says what comes out.
func (s *session) run() {
	s.OK("run", s.ctx, nil)
	_, s.want, _ = s.net.compute(s.in)
}

// fetch demands all results by rknn_outputs_get: in the reported type and as floats, in the library's buffers and the
// program's, in an order that k chooses.
func (s *session) fetch(what string, k int) {
	for mode := range 4 {
		wantFloat, own := mode&1, mode>>1
		o, kinds := make([]rknn.Output, len(s.out)), make([]uint32, len(s.out))
		buffers := make([][]byte, len(s.out))
		for e := range o {
			i := (e + k) % len(s.out)
			kinds[e] = s.out[i].kind()
			if wantFloat == 1 {
				kinds[e] = rknn.Float32
			}
			o[e] = rknn.Output{WantFloat: uint8(wantFloat), IsPrealloc: uint8(own), Index: uint32(i)}
			if own == 1 {
				buffers[e] = bytes.Repeat([]byte{0x5a}, len(s.want[i].v)*elemBytes(kinds[e])+16)
				o[e].Buf, o[e].Size = cmem.First(buffers[e]), uint32(len(buffers[e]))
			}
		}
		s.OK("outputs_get", s.ctx, len(o), o, nil)
		for e := range o {
			p := &s.out[o[e].Index]
			y, size := s.want[o[e].Index], len(s.want[o[e].Index].v)*elemBytes(kinds[e])
			where := fmt.Sprintf("%s: %q by rknn_outputs_get, want_float %d, is_prealloc %d", what, p.name, wantFloat, own)
			if own == 0 {
				s.Check(int(o[e].Size) == size, "%s: size %d, want %d", where, o[e].Size, size)
			}
			got := slices.Clone(cmem.Span[byte](o[e].Buf, size))
			s.same(where, kinds[e], got, p.laid(y, kinds[e], p.format(), 1), s.net.tol)
			if own == 1 {
				s.Check(bytes.Equal(buffers[e][size:], bytes.Repeat([]byte{0x5a}, 16)), "%s: wrote behind it", where)
			}
		}
		s.OK("outputs_release", s.ctx, len(o), o)
	}
}

// ways are how networks are given inputs: what was bound once stays so.
var ways = []way{{rknn.Float32, false, copied}, {rknn.Int8, false, copied}, {rknn.Float32, false, bound},
	{rknn.Int16, false, offset}, {rknn.Float16, true, strided}}

// everyWay runs a net with several inputs, first by rknn_inputs_set, then bound, with outputs in formats that follow
// one another, and demands the attributes at the end.
func (t *T) everyWay(n *net, k int) {
	s := t.start(n)
	s.attributes("after rknn_init")
	noise := noise(k)
	runs := len(ways)
	if n.costly() {
		runs = 3
	}
	for r := range runs {
		w := ways[r]
		if runs < len(ways) {
			w = []way{ways[k%2], ways[2+k%3], ways[2+(k+1)%3]}[r]
		}
		for i, p := range n.in {
			if w.path == strided && len(p.dims) != 4 {
				w.path = bound
			}
			s.give(i, w, &noise)
		}
		var held []target
		if r > 0 {
			for i := range s.out {
				held = append(held, s.bindOutput(i, k+r+i))
			}
		}
		s.run()
		for _, g := range held {
			s.holds(w.String(), g)
		}
		if r != 1 {
			s.fetch(w.String(), k+r)
		}
	}
	s.attributes("after runs")
}

// costly tells whether computing the net takes long here.
func (n *net) costly() bool { return count(n.in[0].dims) > 5000 }
