package graph

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"reflect"
	"sort"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// The binary form of a graph. All integers are varints (signed ones zigzag), all strings and lists have their length in
// front.
//
//	magic     8 bytes "ANPUGRPH"
//	version   2; 1 is read too: its nodes have no terms
//	constants count, then per constant: SHA-256, length, form (0 absent, 1 inline); every constant once, in order of first use
//	graph     name, meta (keys sorted), values, inputs, outputs, nodes; bodies are graphs inside an operator's fields
//	padding   zeros up to a multiple of constAlign
//	data      the inline constants in the order of the table, each padded with zeros to a multiple of constAlign
//
// An operator is its name and its exported fields that are not zero: field name, value. A value's form follows from the
// field's Go type, so that renaming or retyping a field makes old blobs unreadable (fault.File) and never misread; a
// new field whose zero value keeps the old meaning does not.
const (
	codecMagic   = "ANPUGRPH"
	codecVersion = 2
	constAlign   = 64

	constAbsent = 0
	constInline = 1
)

// EncodeOptions govern Encode.
type EncodeOptions struct {
	// External, when set, is asked for each constant; true leaves its bytes out: the reader finds them by hash.
	External func(h tensor.Hash, data []byte) bool
}

// Clone returns a copy of g that shares nothing with it but the results of keep: the bytes of each constant, those
// inside bodies and fields included. Kinds are as of Encode and keep.
func Clone(g *Graph, keep func(h tensor.Hash, data []byte) ([]byte, error)) (*Graph, error) {
	constants := map[tensor.Hash][]byte{}
	var form bytes.Buffer
	err := Encode(&form, g, EncodeOptions{External: func(h tensor.Hash, data []byte) bool {
		constants[h] = data
		return true
	}})
	if err != nil {
		return nil, err
	}
	return Decode(form.Bytes(), DecodeOptions{Const: func(h tensor.Hash, _ []byte, _ int64) ([]byte,
		error) {
		return keep(h, constants[h])
	}})
}

// Encode writes g, with its bodies and constants, in a form that depends on nothing but g's content. Kind
// fault.Argument when g is not valid, fault.File when w fails.
func Encode(w io.Writer, g *Graph, o EncodeOptions) error {
	if err := g.Validate(); err != nil {
		return fault.Wrap(err, "encode")
	}
	e := &encoder{index: map[tensor.Hash]int{}}
	if err := e.graph(g); err != nil {
		return fault.Wrap(err, "encode graph %q", g.Name)
	}
	head := append([]byte(codecMagic), binary.AppendUvarint(nil, codecVersion)...)
	head = binary.AppendUvarint(head, uint64(len(e.consts)))
	var inline []*tensor.Const
	for _, c := range e.consts {
		h := c.Hash()
		head = append(head, h[:]...)
		head = binary.AppendUvarint(head, uint64(len(c.Data)))
		if o.External != nil && o.External(h, c.Data) {
			head = append(head, constAbsent)
			continue
		}
		head = append(head, constInline)
		inline = append(inline, c)
	}
	head = append(head, e.buf...)
	head = append(head, make([]byte, padding(len(head)))...)
	parts := [][]byte{head}
	for _, c := range inline {
		parts = append(parts, c.Data, make([]byte, padding(len(c.Data))))
	}
	for _, p := range parts {
		if _, err := w.Write(p); err != nil {
			return fault.As(fault.File, err, "encode graph %q", g.Name)
		}
	}
	return nil
}

func padding(n int) int { return -n & (constAlign - 1) }

type encoder struct {
	buf    []byte
	consts []*tensor.Const
	index  map[tensor.Hash]int
	depth  int
}

func (e *encoder) uint(v uint64) { e.buf = binary.AppendUvarint(e.buf, v) }
func (e *encoder) int(v int64)   { e.buf = binary.AppendVarint(e.buf, v) }
func (e *encoder) byte(b byte)   { e.buf = append(e.buf, b) }
func (e *encoder) count(n int)   { e.uint(uint64(n)) }
func (e *encoder) text(s string) { e.count(len(s)); e.buf = append(e.buf, s...) }
func (e *encoder) f32(f float32) {
	e.buf = binary.LittleEndian.AppendUint32(e.buf, math.Float32bits(f))
}
func (e *encoder) f64(f float64) {
	e.buf = binary.LittleEndian.AppendUint64(e.buf, math.Float64bits(f))
}
func (e *encoder) flag(b bool) { e.byte(map[bool]byte{false: 0, true: 1}[b]) }
func (e *encoder) dim(d tensor.Dim) {
	e.uint(uint64(d.Sym))
	if d.Sym == 0 {
		e.int(d.N)
	}
}

func (e *encoder) constant(c *tensor.Const) {
	h := c.Hash()
	i, ok := e.index[h]
	if !ok {
		i = len(e.consts)
		e.index[h] = i
		e.consts = append(e.consts, c)
	}
	e.count(i)
}

func (e *encoder) graph(g *Graph) error {
	if e.depth++; e.depth > MaxDepth {
		return fault.New(fault.Argument, "bodies are nested deeper than %d", MaxDepth)
	}
	defer func() { e.depth-- }()
	e.text(g.Name)
	keys := make([]string, 0, len(g.Meta))
	for k := range g.Meta {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	e.count(len(keys))
	for _, k := range keys {
		e.text(k)
		e.text(g.Meta[k])
	}
	e.count(len(g.Values))
	for i := range g.Values {
		e.text(g.Values[i].Name)
		e.fact(g.Values[i].Fact)
	}
	e.values(g.In)
	e.values(g.Out)
	e.count(len(g.Nodes))
	for i := range g.Nodes {
		n := &g.Nodes[i]
		e.text(n.Name)
		e.int(int64(n.Origin))
		e.values(n.In)
		e.values(n.Out)
		e.count(len(n.Terms))
		for _, t := range n.Terms {
			e.text(t)
		}
		if err := e.op(n.Op); err != nil {
			return fault.Wrap(err, "%s", n.Label())
		}
	}
	return nil
}

// values writes value numbers, None as 0.
func (e *encoder) values(vs []Value) {
	e.count(len(vs))
	for _, v := range vs {
		e.count(int(v) + 1)
	}
}

// Bits of a fact's first byte.
const (
	factRanked = 1 << iota
	factQuant
	factConst
	factInts
)

func (e *encoder) fact(f tensor.Fact) {
	var bits byte
	for i, on := range []bool{f.Shape.Ranked, f.Quant != nil, f.Const != nil, f.Ints != nil} {
		if on {
			bits |= 1 << i
		}
	}
	e.byte(bits)
	e.byte(byte(f.DType))
	if f.Shape.Ranked {
		e.dims(f.Shape.Dims)
	}
	if q := f.Quant; q != nil {
		e.count(len(q.Scale))
		for _, s := range q.Scale {
			e.f32(s)
		}
		e.count(len(q.Zero))
		for _, z := range q.Zero {
			e.int(int64(z))
		}
		e.int(int64(q.Axis))
		e.int(int64(q.Block))
	}
	if f.Const != nil {
		e.constant(f.Const)
	}
	if f.Ints != nil {
		e.dims(f.Ints)
	}
}

func (e *encoder) dims(d []tensor.Dim) {
	e.count(len(d))
	for _, x := range d {
		e.dim(x)
	}
}

func (e *encoder) op(o Op) error {
	v := reflect.ValueOf(o)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return fault.New(fault.Argument, "operator %T is not a pointer to a struct", o)
	}
	e.text(NameOf(o))
	return e.fields(v.Elem())
}

var (
	constType = reflect.TypeFor[*tensor.Const]()
	graphType = reflect.TypeFor[*Graph]()
)

// fields writes the exported fields that are not zero.
func (e *encoder) fields(v reflect.Value) error {
	t := v.Type()
	n := 0
	for i := range t.NumField() {
		if t.Field(i).IsExported() && !v.Field(i).IsZero() {
			n++
		}
	}
	e.count(n)
	for i := range t.NumField() {
		if !t.Field(i).IsExported() || v.Field(i).IsZero() {
			continue
		}
		e.text(t.Field(i).Name)
		if err := e.value(v.Field(i)); err != nil {
			return fault.Wrap(err, "%s", t.Field(i).Name)
		}
	}
	return nil
}

func (e *encoder) value(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Bool:
		e.flag(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		e.int(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		e.uint(v.Uint())
	case reflect.Float32:
		e.f32(float32(v.Float()))
	case reflect.Float64:
		e.f64(v.Float())
	case reflect.String:
		e.text(v.String())
	case reflect.Slice:
		if v.IsNil() {
			e.count(0)
			return nil
		}
		e.count(v.Len() + 1)
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			if err := e.value(v.Index(i)); err != nil {
				return fault.Wrap(err, "[%d]", i)
			}
		}
	case reflect.Struct:
		return e.fields(v)
	case reflect.Pointer:
		e.flag(!v.IsNil())
		switch {
		case v.IsNil():
		case v.Type() == constType:
			e.constant(v.Interface().(*tensor.Const))
		case v.Type() == graphType:
			return e.graph(v.Interface().(*Graph))
		default:
			return e.value(v.Elem())
		}
	default:
		return fault.New(fault.Unsupported, "a field of type %v cannot be encoded", v.Type())
	}
	return nil
}
