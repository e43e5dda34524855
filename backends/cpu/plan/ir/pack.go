package ir

import (
	"context"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/parallel"
	"github.com/anynpu/anynpu/core/tensor"
)

// Packing governs how constants are packed and what becomes of their bytes.
type Packing struct {
	Threads int // goroutines that pack constants, 0: one
	// Unread, when set, is called once for each constant whose bytes the plan and its states do not read any more: by
	// Build, or with Lossy by the first run for forms that are made there, on any goroutine, several at once. data are the
	// constant's bytes; restore writes them again as long as the store exists, nil when the plan keeps nothing that they
	// follow from. Constants of a graph with bodies, which may share them, are always read.
	Unread func(data []byte, restore func(dst []byte))
	// Least is the size in bytes below which Unread is not told of a constant.
	Least int
	// Lossy says that constants are of no use to anybody else: without it Unread is not told of those that nothing
	// restores.
	Lossy bool
	// Discard, when set, is called beforehand for parts of such a constant that are not read any more.
	Discard func(part []byte)
}

// Packed is a way to pack one constant operand.
type Packed struct {
	Value     graph.Value
	Kind      string
	Beside    tensor.Hash                         // of the constants that fill reads beside the value: NumbersOf
	Len       int                                 // values of the packed form
	Parts     int                                 // that fill makes independently
	Fill      func(dst []float32, part int)       // dst is the whole form, zeroed at first
	source    func(part int) (from, to int)       // values that only this part reads, nil: there are none
	scattered bool                                // a part writes all over the form
	Restore   func(dst []float32, form []float32) // the inverse to the bit, nil: there is none
}

// job is a form that Build has to make.
type job struct {
	Packed
	dst   []float32
	form  run.Form
	from  *origin // nil: not a constant of the graph
	alone bool    // no other form is made from it
	own   bool    // of this plan alone
	left  atomic.Int32
}

// origin is a constant of the graph that forms are made from.
type origin struct {
	data    []byte
	pinned  bool // something else reads it
	left    atomic.Int32
	later   bool // a form is made by the first run
	restore func(dst []byte)
	options *Packing
}

// goes reports whether nothing wants the bytes when the forms are made. Bytes that somebody may want are not taken away
// during runs.
func (o *origin) goes() bool { return !o.pinned && (o.restore != nil && !o.later || o.options.Lossy) }

// done notes that one of the forms is made.
func (o *origin) done() {
	if o != nil && o.left.Add(-1) == 0 && o.goes() {
		o.options.Unread(o.data, o.restore)
	}
}

// spent notes that part of a form is made.
func (j *job) spent(part int) {
	if o := j.from; o != nil && j.source != nil && o.options.Discard != nil && j.alone && o.goes() {
		from, to := j.source(part)
		o.options.Discard(o.data[4*from : 4*to])
	}
}

// Packer makes the forms of constants that steps read, in memory of the store, which keeps them for all plans of a
// graph. Those of constants that follow from the sizes of inputs are the plan's own, and go with it.
type Packer struct {
	net     *Network
	store   *run.Store
	options *Packing
	jobs    []*job
	origins map[*byte]*origin
	idle    []*origin // constants that nothing reads
	err     error     // there was no memory
}

// NewPacker notes the constants of the graph by the address of their bytes, which several values may share.
func NewPacker(net *Network, store *run.Store, o *Packing) *Packer {
	k := &Packer{net: net, store: store, options: o, origins: map[*byte]*origin{}}
	bodies := slices.ContainsFunc(net.Graph.Nodes, func(n graph.Node) bool { _, ok := n.Op.(graph.Control); return ok })
	if o.Unread == nil || bodies {
		return k
	}
	for i := range net.Graph.Values {
		if c := net.Graph.Values[i].Fact.Const; c != nil && len(c.Data) >= max(1, o.Least) {
			k.origins[unsafe.SliceData(c.Data)] = &origin{data: c.Data, options: o}
		}
	}
	return k
}

// origin returns the constant of the graph that v's bytes are, nil when there is none.
func (k *Packer) origin(v graph.Value) *origin {
	return k.origins[unsafe.SliceData(k.net.Values[v].Data)]
}

// Order returns the memory of a form of a constant of node i, which holds the form when pack has run. When there is no
// memory err says so.
func (k *Packer) Order(i int, p Packed) []float32 {
	f, own := run.Form{Node: i, Kind: p.Kind}, k.net.Values[p.Value].Sized
	if !own {
		var v []float32
		if v, own = k.store.Find(f, p.Len, p.Beside); v != nil {
			return v
		}
	}
	var dst []float32
	var err error
	if own {
		p.scattered = false
		dst, err = run.OwnForm(p.Len)
	} else {
		dst, err = k.store.Take(p.Len, p.scattered)
	}
	if err != nil {
		k.err = err
		return make([]float32, p.Len)
	}
	j := &job{Packed: p, dst: dst, form: f, from: k.origin(p.Value), own: own}
	j.left.Store(int32(p.Parts))
	if j.from != nil {
		j.from.left.Add(1)
		if p.Restore != nil {
			j.from.restore = func(out []byte) { p.Restore(run.Floats(out), dst) }
		}
	}
	k.jobs = append(k.jobs, j)
	return dst
}

// OrderLater is order of a form of v that the first run makes, of n values, which follow from beside as well.
func (k *Packer) OrderLater(i int, v graph.Value, kind string, n int, beside tensor.Hash,
	fill func(s *run.State, dst []float32) error) *run.Deferred {
	d := &run.Deferred{N: n, Beside: beside, Fill: fill}
	if !k.net.Values[v].Sized {
		d = k.store.Later(run.Form{Node: i, Kind: kind}, d)
	}
	if o := k.origin(v); o != nil && d.Done == nil && !d.Ready.Load() {
		d.Done, o.later = o.done, true
		o.left.Add(1)
	}
	return d
}

// Pack makes the forms that were ordered, several at a time, and the tables of positions, and says which constants are
// not read any more.
func Pack(ctx context.Context, k *Packer, p *run.Plan, tables []*run.WindowTable) error {
	for _, t := range tables {
		if err := t.Place(p, &k.net.Budget); err != nil {
			return err
		}
	}
	k.pinOrigins(p)
	type unit struct {
		j    *job
		part int
	}
	var work []unit
	for _, j := range k.jobs {
		j.alone = j.from != nil && j.from.left.Load() == 1
		for i := range j.Parts {
			work = append(work, unit{j, i})
		}
	}
	parallel.Do(k.options.Threads, len(work), func(i int) {
		if ctx.Err() != nil {
			return
		}
		u := work[i]
		u.j.Fill(u.j.dst, u.part)
		u.j.spent(u.part)
		if u.j.left.Add(-1) == 0 {
			if u.j.scattered {
				mem.Collapse(run.BytesOf(u.j.dst))
			}
			u.j.from.done()
		}
	})
	if err := ctx.Err(); err != nil {
		return fault.As(fault.Canceled, err, "plan")
	}
	for _, j := range k.jobs {
		if !j.own {
			k.store.Keep(j.form, j.dst, j.Beside)
		}
	}
	for _, o := range k.idle {
		o.options.Unread(o.data, nil)
	}
	return nil
}

// Abandon gives the memory of forms back that no plan has come of.
func (k *Packer) Abandon() {
	for _, j := range k.jobs {
		if !j.own {
			k.store.GiveBack(j.dst, j.scattered)
		}
	}
}

// pinOrigins finds the constants of the graph that steps read, and those that nothing reads; buffers of constants that
// no step reads let go of them.
func (k *Packer) pinOrigins(p *run.Plan) {
	read := make([]bool, len(p.Buffers))
	for _, s := range p.Steps {
		for _, x := range s.Reads {
			read[x] = true
		}
	}
	for _, o := range p.Outputs {
		read[o.Buf] = true
	}
	for i := range p.Buffers {
		switch x := &p.Buffers[i]; {
		case x.Place != run.IsConst:
		case read[i]:
			k.net.Pinned[unsafe.SliceData(x.Data)] = true
		default:
			x.Data = nil
		}
	}
	for at, o := range k.origins {
		o.pinned = k.net.Pinned[at]
		if o.left.Load() == 0 && o.goes() {
			k.idle = append(k.idle, o)
		}
	}
}

// Matrix is the packed form of groups matrices [depth, cols] that lie one after another, each transposed to [cols,
// depth] if rows is set, with column j of all of them multiplied by scale[j] unless scale is nil.
func Matrix(v graph.Value, kind string, w []float32, depth, cols, groups int, rows bool, scale []float32) Packed {
	per, size := kernel.PackedLen(depth, cols), depth*cols
	lines, line := depth, cols // of the model's matrix: what a part packs is some of them
	if rows {
		lines, line = kernel.Panels(cols), depth*kernel.PanelCols
	}
	step := max(1, 1<<17/max(1, line)) // lines of one part: half a megabyte
	parts := (lines + step - 1) / step
	p := Packed{Value: v, Kind: kind, Len: groups * per, Parts: groups * parts,
		scattered: !rows && 4*size >= run.HugeSegment}
	split := func(part int) (g, from, to int) {
		from = part % parts * step
		return part / parts, from, min(lines, from+step)
	}
	p.Beside = run.NumbersOf(run.BytesOf(scale))
	p.source = func(part int) (from, to int) {
		g, l0, l1 := split(part)
		return g*size + l0*line, min(g*size+l1*line, (g+1)*size)
	}
	p.Fill = func(dst []float32, part int) {
		g, from, to := split(part)
		d, m := dst[g*per:][:per], w[g*size:][:size]
		p0, p1, r0, r1 := 0, kernel.Panels(cols), from, to
		if rows {
			p0, p1, r0, r1 = from, to, 0, depth
			kernel.PackBTPanels(d, m, depth, cols, depth, from, to)
		} else {
			kernel.PackBRows(d, m, depth, cols, cols, from, to)
		}
		if scale != nil {
			kernel.ScalePacked(d, scale[g*cols:], depth, cols, p0, p1, r0, r1)
		}
	}
	if scale != nil {
		p.Kind += ", normalized"
		return p
	}
	p.Restore = func(dst, form []float32) {
		for g := range groups {
			m, d := dst[g*size:][:size], form[g*per:][:per]
			if rows {
				kernel.UnpackBT(m, d, depth, cols, depth)
			} else {
				kernel.UnpackB(m, d, depth, cols, cols)
			}
		}
	}
	return p
}
