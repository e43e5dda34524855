package graph

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// Limits of a decoded graph, bodies included.
const (
	MaxDepth  = 16      // bodies inside bodies
	MaxRank   = 255     // dimensions of a tensor; OH_NN allows 200
	MaxNodes  = 1 << 22 // nodes, and values, of one graph
	maxNested = 32      // structs, slices and pointers inside an operator's field
)

// DecodeOptions govern Decode.
type DecodeOptions struct {
	// Const, when set, is called once for each constant with the bytes that stand in the blob, nil when they are absent,
	// and the length they must have; it returns the bytes the graph will use: a copy, or those of a store. When it is not
	// set constants are slices of the blob, which must then never change, and absent ones are an error.
	Const func(h tensor.Hash, data []byte, length int64) ([]byte, error)
}

// Decode reads what Encode wrote. Every length is checked against what is left of data before anything is allocated for
// it; inline constants are checked against their hash; the graph is validated but not inferred. Errors are of kind
// fault.File, or those of o.Const.
func Decode(data []byte, o DecodeOptions) (*Graph, error) {
	d := &decoder{data: data}
	if len(data) < len(codecMagic) || string(data[:len(codecMagic)]) != codecMagic {
		return nil, fault.New(fault.File, "not an encoded graph")
	}
	d.pos = len(codecMagic)
	if d.version = d.uint(); d.err == nil && (d.version < 1 || d.version > codecVersion) {
		return nil, fault.New(fault.File, "encoded graph of version %d, want 1 to %d", d.version, codecVersion)
	}
	table := d.constTable()
	for _, c := range table {
		d.consts = append(d.consts, tensor.NewHashedConst(nil, c.hash)) // load adds the bytes
	}
	g := d.graph()
	if d.err != nil {
		return nil, fault.Wrap(d.err, "encoded graph: byte %d", d.pos)
	}
	if err := d.load(table, o); err != nil {
		return nil, fault.Wrap(err, "encoded graph")
	}
	if err := checkConsts(g); err != nil {
		return nil, fault.As(fault.File, err, "encoded graph")
	}
	if err := g.Validate(); err != nil {
		return nil, fault.As(fault.File, err, "encoded graph")
	}
	return g, nil
}

// decoder reads from data; after the first error every read returns zero values.
type decoder struct {
	data    []byte
	pos     int
	err     error
	version uint64
	consts  []*tensor.Const // shared by all uses
	depth   int
	nested  int
}

type constEntry struct {
	hash   tensor.Hash
	length int64
	inline bool
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fault.New(fault.File, format, args...)
	}
}

func (d *decoder) left() int { return len(d.data) - d.pos }

func (d *decoder) uint() uint64 {
	if d.err != nil {
		return 0
	}
	v, n := binary.Uvarint(d.data[d.pos:])
	if n <= 0 {
		d.fail("bad number")
		return 0
	}
	d.pos += n
	return v
}

func (d *decoder) int() int64 {
	if d.err != nil {
		return 0
	}
	v, n := binary.Varint(d.data[d.pos:])
	if n <= 0 {
		d.fail("bad number")
		return 0
	}
	d.pos += n
	return v
}

// count reads the length of a list whose elements take at least size bytes each: it never exceeds what is left.
func (d *decoder) count(size int) int {
	v := d.uint()
	if d.err == nil && v > uint64(d.left()/size) {
		d.fail("%d elements of %d bytes or more, %d bytes left", v, size, d.left())
	}
	if d.err != nil {
		return 0
	}
	return int(v)
}

func (d *decoder) take(n int) []byte {
	if d.err == nil && n > d.left() {
		d.fail("want %d bytes, %d left", n, d.left())
	}
	if d.err != nil {
		return nil
	}
	d.pos += n
	return d.data[d.pos-n : d.pos]
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) text() string { return string(d.take(d.count(1))) }

func (d *decoder) f32() float32 {
	if b := d.take(4); b != nil {
		return math.Float32frombits(binary.LittleEndian.Uint32(b))
	}
	return 0
}

func (d *decoder) f64() float64 {
	if b := d.take(8); b != nil {
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return 0
}

func (d *decoder) flag() bool {
	b := d.byte()
	if b > 1 {
		d.fail("%d is no truth value", b)
	}
	return b == 1
}

func (d *decoder) dim() tensor.Dim {
	sym := d.uint()
	if sym > math.MaxUint32 {
		d.fail("symbol %d", sym)
	}
	if sym != 0 {
		return tensor.Dim{Sym: uint32(sym)}
	}
	return tensor.D(d.int())
}

func (d *decoder) constTable() []constEntry {
	t := make([]constEntry, 0, d.count(len(tensor.Hash{})+2))
	for range cap(t) {
		var c constEntry
		copy(c.hash[:], d.take(len(c.hash)))
		length := d.uint()
		if length > math.MaxInt64 {
			d.fail("constant of %d bytes", length)
		}
		c.length = int64(length)
		switch form := d.byte(); form {
		case constAbsent:
		case constInline:
			c.inline = true
		default:
			d.fail("constant of unknown form %d", form)
		}
		t = append(t, c)
	}
	return t
}

// load finds the bytes of each constant behind the graph.
func (d *decoder) load(table []constEntry, o DecodeOptions) error {
	skip := func(n int) {
		if bytes.Count(d.take(n), []byte{0}) != n {
			d.fail("padding is not zero")
		}
	}
	skip(padding(d.pos))
	for i, c := range table {
		var data []byte
		if c.inline {
			if c.length > int64(d.left()) {
				return fault.New(fault.File, "constant %d: %d bytes, %d left", i, c.length, d.left())
			}
			data = d.take(int(c.length))
			data = data[:len(data):len(data)]
			skip(padding(len(data)))
			if d.err != nil {
				return d.err
			}
			if tensor.HashOf(data) != c.hash {
				return fault.New(fault.File, "constant %d: %d bytes do not have hash %v", i, c.length, c.hash)
			}
		}
		if o.Const != nil {
			var err error
			if data, err = o.Const(c.hash, data, c.length); err != nil {
				return fault.Wrap(err, "constant %d", i)
			}
			if int64(len(data)) != c.length {
				return fault.New(fault.File, "constant %d: %d bytes, want %d", i, len(data), c.length)
			}
		} else if !c.inline {
			return fault.New(fault.File, "constant %d, %v, is not in the blob", i, c.hash)
		}
		d.consts[i].Data = data
	}
	if d.err == nil && d.left() > 0 {
		d.fail("%d bytes behind the end", d.left())
	}
	return d.err
}

func (d *decoder) constant() *tensor.Const {
	i := d.uint()
	if d.err == nil && i >= uint64(len(d.consts)) {
		d.fail("constant %d of %d", i, len(d.consts))
	}
	if d.err != nil {
		return nil
	}
	return d.consts[i]
}

func (d *decoder) graph() *Graph {
	if d.depth++; d.depth > MaxDepth {
		d.fail("bodies are nested deeper than %d", MaxDepth)
	}
	defer func() { d.depth-- }()
	g := &Graph{Name: d.text()}
	if n := d.count(2); n > 0 {
		g.Meta = map[string]string{}
		for i := 0; i < n && d.err == nil; i++ {
			k := d.text()
			g.Meta[k] = d.text()
		}
	}
	n := d.count(3)
	if n > MaxNodes {
		d.fail("%d values, at most %d", n, MaxNodes)
	}
	for i := 0; i < n && d.err == nil; i++ {
		g.Values = append(g.Values, ValueInfo{Name: d.text(), Fact: d.fact()})
	}
	g.In = d.values()
	g.Out = d.values()
	n = d.count(6)
	if n > MaxNodes {
		d.fail("%d nodes, at most %d", n, MaxNodes)
	}
	for i := 0; i < n && d.err == nil; i++ {
		node := Node{Name: d.text()}
		origin := d.int()
		if origin < -1 || origin > math.MaxInt32 {
			d.fail("node %d: origin %d", i, origin)
		}
		node.Origin = int(origin)
		node.In, node.Out = d.values(), d.values()
		if d.version > 1 {
			for k := d.count(1); k > 0 && d.err == nil; k-- {
				node.Terms = append(node.Terms, d.text())
			}
		}
		node.Op = d.op()
		g.Nodes = append(g.Nodes, node)
	}
	return g
}

func (d *decoder) values() []Value {
	var vs []Value
	n := d.count(1)
	for i := 0; i < n && d.err == nil; i++ {
		v := d.uint()
		if v > MaxNodes {
			d.fail("value %d", v)
		}
		vs = append(vs, Value(v)-1)
	}
	return vs
}

func (d *decoder) fact() tensor.Fact {
	var f tensor.Fact
	bits := d.byte()
	if bits >= 2*factInts {
		d.fail("fact of unknown form %#x", bits)
	}
	f.DType = tensor.DType(d.byte())
	if f.DType != tensor.Invalid && !f.DType.Valid() {
		d.fail("element type %v", f.DType)
	}
	if bits&factRanked != 0 {
		f.Shape = tensor.OfDims(d.dims(MaxRank)...)
		for _, x := range f.Shape.Dims {
			if x.N < 0 {
				d.fail("shape %v", f.Shape)
			}
		}
	}
	if bits&factQuant != 0 {
		f.Quant = d.quant()
	}
	if bits&factConst != 0 {
		f.Const = d.constant()
	}
	if bits&factInts != 0 {
		if f.Ints = d.dims(tensor.MaxInts); f.Ints == nil {
			f.Ints = []tensor.Dim{}
		}
	}
	return f
}

func (d *decoder) dims(limit int) []tensor.Dim {
	n := d.count(1)
	if n > limit {
		d.fail("%d dimensions, at most %d", n, limit)
	}
	var dims []tensor.Dim
	for i := 0; i < n && d.err == nil; i++ {
		dims = append(dims, d.dim())
	}
	return dims
}

func (d *decoder) quant() *tensor.Quant {
	q := &tensor.Quant{}
	n := d.count(4)
	for i := 0; i < n && d.err == nil; i++ {
		q.Scale = append(q.Scale, d.f32())
	}
	n = d.count(1)
	for i := 0; i < n && d.err == nil; i++ {
		z := d.int()
		if z != int64(int32(z)) {
			d.fail("zero point %d", z)
		}
		q.Zero = append(q.Zero, int32(z))
	}
	axis, block := d.int(), d.int()
	if axis < -MaxRank || axis > MaxRank || block < 0 || block > math.MaxInt32 || len(q.Zero) != 0 &&
		len(q.Zero) != len(q.Scale) {
		d.fail("quantization with axis %d, block %d, %d scales, %d zero points", axis, block, len(q.Scale), len(q.Zero))
	}
	q.Axis, q.Block = int(axis), int(block)
	return q
}

// checkConsts checks that each constant has the length that its type demands, bodies included.
func checkConsts(g *Graph) error {
	for i := range g.Values {
		f := g.Values[i].Fact
		if f.Const == nil {
			continue
		}
		if n, ok := f.Type.ByteSize(); !ok || n != int64(len(f.Const.Data)) {
			return fault.New(fault.File, "value %d %q: %v with %d bytes", i, g.Values[i].Name, f.Type, len(f.Const.Data))
		}
	}
	for i := range g.Nodes {
		if c, ok := g.Nodes[i].Op.(Control); ok {
			for _, b := range c.Bodies() {
				if b == nil {
					continue
				}
				if err := checkConsts(b); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
