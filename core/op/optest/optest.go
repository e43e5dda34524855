// Package optest makes arbitrary operators, facts and tensors out of bytes, for fuzz tests. It knows operators only by
// reflection, so that a new operator is covered as soon as it is registered.
package optest

import (
	"math"
	"reflect"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Source hands out the fuzzer's bytes one by one, zeros after the last.
type Source struct {
	data []byte
}

// NewSource returns a source over data.
func NewSource(data []byte) *Source { return &Source{data} }

// Byte returns the next byte.
func (s *Source) Byte() byte {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return b
}

// Below returns a number in [0, n).
func (s *Source) Below(n int) int { return int(s.Byte()) % n }

var wildInts = []int64{-1, -2, -5, 7, 64, 1 << 20, 1 << 31, 1 << 40, math.MaxInt64, math.MinInt64, math.MaxInt64 / 2,
	math.MinInt32, 1<<32 + 1}

// Int returns a small number most of the time, a wild one otherwise.
func (s *Source) Int(wild bool) int64 {
	b := int(s.Byte())
	if !wild || b < 200 {
		return int64(b%6) - int64(b/200)
	}
	return wildInts[b%len(wildInts)]
}

var wildFloats = []float64{0, 1, -1, 0.5, 2, 1e-5, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat32, 3.7, -0.25}

// Float returns one of a few interesting numbers.
func (s *Source) Float() float64 { return wildFloats[s.Below(len(wildFloats))] }

var texts = []string{"", "ij,jk->ik", "...ij->...ji", "ii", "relu", "tanh", "sigmoid", "->", "a,b,c", "linear", "none",
	"\xff"}

// Fill sets every exported field of the operator.
func Fill(o graph.Op, s *Source, wild bool) {
	fill(reflect.ValueOf(o).Elem(), s, wild)
}

func fill(v reflect.Value, s *Source, wild bool) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), s, wild)
			}
		}
	case reflect.Bool:
		v.SetBool(s.Byte()&1 == 1)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n := s.Int(wild)
		if v.OverflowInt(n) {
			n = -1
		}
		v.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n := uint64(s.Byte())
		switch {
		case v.Type() == reflect.TypeFor[tensor.DType]():
			n = uint64(max(0, int(n)%48-24)) // half of the time the default
		case !wild:
			n %= 3
		}
		v.SetUint(n)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(s.Float())
	case reflect.String:
		v.SetString(texts[s.Below(len(texts))])
	case reflect.Slice:
		n := max(0, s.Below(12)-6)
		sl := reflect.MakeSlice(v.Type(), n, n)
		for i := range n {
			fill(sl.Index(i), s, wild)
		}
		if n > 0 {
			v.Set(sl)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), s, wild)
		}
	case reflect.Pointer:
		if v.Type() == reflect.TypeFor[*graph.Graph]() && s.Byte()&3 != 0 {
			v.Set(reflect.ValueOf(body(s)))
		}
	}
}

// body returns a graph of up to three inputs that passes them on.
func body(s *Source) *graph.Graph {
	g := &graph.Graph{Name: "body"}
	for i := range s.Below(4) {
		g.Values = append(g.Values, graph.ValueInfo{Fact: tensor.Fact{Type: tensor.Type{DType: tensor.DType(s.Below(23))}}})
		g.In = append(g.In, graph.Value(i))
		g.Out = append(g.Out, graph.Value(i))
	}
	return g
}

var commonTypes = []tensor.DType{tensor.Float32, tensor.Int64, tensor.Int32, tensor.Bool, tensor.Float16, tensor.Int8,
	tensor.Uint8}

func dtype(s *Source) tensor.DType {
	b := s.Byte()
	if b < 180 {
		return commonTypes[int(b)%len(commonTypes)]
	}
	return tensor.DType(b % 25)
}

func quant(s *Source) *tensor.Quant {
	b := s.Byte()
	if b < 190 {
		return nil
	}
	q := &tensor.Quant{Axis: int(s.Int(true)), Block: int(b % 3)}
	for range s.Below(5) {
		q.Scale = append(q.Scale, float32(s.Float()))
		q.Zero = append(q.Zero, int32(s.Int(true)))
	}
	return q
}

// Fact returns a fact of any kind, possibly absent, contradictory or with sizes no tensor has.
func Fact(s *Source, wild bool) tensor.Fact {
	b := s.Byte()
	if b > 250 {
		return tensor.Fact{}
	}
	f := tensor.Fact{Type: tensor.Type{DType: dtype(s), Quant: quant(s)}}
	if b < 20 {
		f.Quant = nil
	} else {
		f.Shape.Ranked = true
		for range s.Below(6) {
			f.Shape.Dims = append(f.Shape.Dims, dim(s, wild))
		}
	}
	switch s.Below(6) {
	case 1, 2: // a constant of the right size, if that is small
		if size, ok := f.ByteSize(); ok && size <= 512 {
			data := make([]byte, size)
			fillData(f.DType, data, s)
			f.Const = tensor.NewConst(data)
		}
	case 3:
		if wild {
			f.Const = tensor.NewConst(make([]byte, s.Byte()))
		}
	case 4:
		for range s.Below(6) {
			f.Ints = append(f.Ints, dim(s, true))
		}
	}
	return f
}

func dim(s *Source, wild bool) tensor.Dim {
	switch b := s.Byte(); {
	case b < 30:
		return tensor.AnyDim()
	case b < 60:
		return tensor.Dim{Sym: uint32(b%3) + 1}
	}
	n := s.Int(wild)
	if !wild && n < 0 {
		n = 0
	}
	return tensor.D(n)
}

// Facts returns up to n facts.
func Facts(s *Source, n int, wild bool) []tensor.Fact {
	out := make([]tensor.Fact, s.Below(n+1))
	for i := range out {
		out[i] = Fact(s, wild)
	}
	return out
}

// Tensors returns up to six small tensors, possibly absent. Later ones often go together with the first: of its type or
// shape, a list along one of its dimensions, or a few small integers.
func Tensors(s *Source) []tensor.Tensor {
	n := s.Below(8)
	if n > 5 {
		n -= 5
	}
	var out []tensor.Tensor
	for i := range n {
		if i == 0 {
			out = append(out, one(s, dtype(s), sizes(s)))
			continue
		}
		x := out[0]
		d, dims := dtype(s), []int64(nil)
		switch s.Below(9) {
		case 0:
			dims = sizes(s)
		case 1:
			d, dims = x.DType, sizes(s)
		case 2, 3:
			d, dims = x.DType, x.Dims
		case 4:
			d = x.DType
		case 5:
			d, dims = x.DType, []int64{int64(s.Below(4))}
			if len(x.Dims) > 0 {
				dims[0] = x.Dims[s.Below(len(x.Dims))]
			}
		case 6:
			d, dims = tensor.Int64, []int64{int64(s.Below(5))}
		case 7:
			d = tensor.Int64
		case 8:
			if s.Byte()&1 == 0 {
				out = append(out, tensor.Tensor{})
				continue
			}
			d, dims = tensor.Bool, x.Dims
		}
		t := one(s, d, dims)
		if t.DType == x.DType && s.Byte() > 40 {
			t.Quant = x.Quant
		}
		out = append(out, t)
	}
	return out
}

func sizes(s *Source) []int64 {
	var dims []int64
	n := int64(1)
	for range s.Below(5) {
		size := int64(s.Below(5))
		if n*size > 256 {
			size = 1
		}
		n *= max(size, 1)
		dims = append(dims, size)
	}
	return dims
}

func one(s *Source, d tensor.DType, dims []int64) tensor.Tensor {
	if !d.Valid() {
		return tensor.Tensor{}
	}
	t := tensor.New(d, dims...)
	if s.Byte() > 220 {
		t.Quant = quant(s)
		if t.Quant != nil && len(t.Quant.Scale) > 0 && s.Byte()&1 == 0 {
			t.Quant = tensor.PerTensor(0.5, t.Quant.Zero[0])
		}
	}
	fillData(d, t.Data, s)
	return t
}

// fillData writes small integers, or floats, some of them wild.
func fillData(d tensor.DType, data []byte, s *Source) {
	if d.Bits() == 0 {
		return
	}
	for i := range len(data) * 8 / d.Bits() {
		if d.IsFloat() {
			tensor.PutFloat(d, data, i, s.Float(), false)
		} else {
			tensor.PutInt(d, data, i, s.Int(s.Byte() > 230))
		}
	}
}
