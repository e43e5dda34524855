package graph_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// everyField is an operator with a field of each kind that operators may have.
type everyField struct {
	B      bool
	I      int
	I8     int8
	U64    uint64
	F      float32
	F64    float64
	S      string
	D      tensor.DType
	List   []int64
	Names  []string
	Pair   [2]float32
	Nested struct{ A, B []int32 }
	Ptr    *float32
	Const  *tensor.Const
	Body   *graph.Graph
	Others []*graph.Graph
	hidden int
}

func (o *everyField) Infer([]tensor.Fact, []tensor.Type) ([]tensor.Fact, error) {
	return make([]tensor.Fact, 1+o.hidden), nil
}
func (o *everyField) Bodies() []*graph.Graph { return append([]*graph.Graph{o.Body}, o.Others...) }

func init() { graph.Register[*everyField]("test.every_field", graph.Traits{}) }

// fill sets every exported field of v to something random.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 1)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.Uint64()) >> (64 - v.Type().Bits()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(r.Uint64() >> (64 - v.Type().Bits()))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(float32(r.NormFloat64())))
	case reflect.String:
		v.SetString(fmt.Sprintf("s%d\x00é", r.IntN(1000)))
	case reflect.Slice:
		if n := r.IntN(4); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fill(r, v.Index(i), depth)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(r, v.Field(i), depth)
			}
		}
	case reflect.Pointer:
		switch v.Type() {
		case reflect.TypeFor[*tensor.Const]():
			v.Set(reflect.ValueOf(randomConst(r, r.IntN(100))))
		case reflect.TypeFor[*graph.Graph]():
			v.Set(reflect.ValueOf(randomGraph(r, depth+1)))
		default:
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), depth)
		}
	default:
		panic(v.Type().String())
	}
}

func randomConst(r *rand.Rand, n int) *tensor.Const {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(r.IntN(4))
	}
	c := tensor.NewConst(data)
	c.Hash()
	return c
}

func randomFact(r *rand.Rand) tensor.Fact {
	var f tensor.Fact
	f.DType = tensor.DType(r.IntN(int(tensor.Complex128) + 1))
	if r.IntN(4) > 0 {
		f.Shape.Ranked = true
		for range r.IntN(5) {
			d := tensor.D(r.Int64N(1 << r.IntN(40)))
			switch r.IntN(5) {
			case 0:
				d = tensor.AnyDim()
			case 1:
				d = tensor.Dim{Sym: 1 + r.Uint32N(9)}
			}
			f.Shape.Dims = append(f.Shape.Dims, d)
		}
	}
	if r.IntN(4) == 0 {
		f.Quant = &tensor.Quant{Scale: []float32{r.Float32(), 2}, Axis: r.IntN(3), Block: r.IntN(2)}
		if r.IntN(2) == 0 {
			f.Quant.Zero = []int32{r.Int32(), -1}
		}
	}
	if r.IntN(5) == 0 {
		f.Ints = []tensor.Dim{}
		for range r.IntN(3) {
			f.Ints = append(f.Ints, tensor.D(-r.Int64N(100)), tensor.AnyDim())
		}
	}
	return f
}

// randomGraph returns a valid graph of random operators; it need not infer.
func randomGraph(r *rand.Rand, depth int) *graph.Graph {
	g := &graph.Graph{Name: fmt.Sprint("g", r.IntN(100))}
	if r.IntN(2) == 0 {
		g.Meta = map[string]string{"anynpu.b": "1", "a": "", "z": "x"}
	}
	var known []graph.Value
	add := func(f tensor.Fact) graph.Value {
		g.Values = append(g.Values, graph.ValueInfo{Name: fmt.Sprint("v", len(g.Values)), Fact: f})
		v := graph.Value(len(g.Values) - 1)
		known = append(known, v)
		return v
	}
	for range 1 + r.IntN(3) {
		g.In = append(g.In, add(randomFact(r)))
	}
	for range r.IntN(3) {
		n := r.IntN(50)
		add(tensor.Fact{Type: tensor.T(tensor.Int16, int64(n)), Const: randomConst(r, 2*n)})
	}
	names := graph.OpNames()
	for range r.IntN(6) {
		o, _ := graph.NewOp(names[r.IntN(len(names))])
		if _, control := o.(graph.Control); control && depth >= 3 {
			continue
		}
		fill(r, reflect.ValueOf(o).Elem(), depth)
		n := graph.Node{Op: o, Name: fmt.Sprint("n", r.IntN(9)), Origin: r.IntN(50) - 1}
		for range r.IntN(4) {
			v := known[r.IntN(len(known))]
			if r.IntN(6) == 0 {
				v = graph.None
			}
			n.In = append(n.In, v)
		}
		for range 1 + r.IntN(2) {
			n.Out = append(n.Out, add(randomFact(r)))
		}
		if r.IntN(5) == 0 {
			n.Out = append(n.Out, graph.None)
		}
		g.Nodes = append(g.Nodes, n)
	}
	for range 1 + r.IntN(3) {
		g.Out = append(g.Out, known[r.IntN(len(known))])
	}
	return g
}

func encode(t testing.TB, g *graph.Graph, o graph.EncodeOptions) []byte {
	var b bytes.Buffer
	require.NoError(t, graph.Encode(&b, g, o))
	return b.Bytes()
}

func TestCodec_roundTripOfRandomGraphs(t *testing.T) {
	for seed := range uint64(400) {
		g := randomGraph(rand.New(rand.NewPCG(seed, 1)), 0)
		require.NoError(t, g.Validate())
		blob := encode(t, g, graph.EncodeOptions{})
		require.Equal(t, blob, encode(t, g, graph.EncodeOptions{}), "seed %d: not deterministic", seed)
		back, err := graph.Decode(blob, graph.DecodeOptions{})
		require.NoError(t, err, "seed %d", seed)
		require.Equal(t, g, back, "seed %d", seed)
	}
}

func TestCodec_everyOperator(t *testing.T) {
	for _, name := range graph.OpNames() {
		r := rand.New(rand.NewPCG(7, 7))
		o, ok := graph.NewOp(name)
		require.True(t, ok)
		fill(r, reflect.ValueOf(o).Elem(), 2)
		g := &graph.Graph{
			Values: make([]graph.ValueInfo, 2),
			In:     []graph.Value{0},
			Out:    []graph.Value{1},
			Nodes:  []graph.Node{{Op: o, In: []graph.Value{0}, Out: []graph.Value{1}}},
		}
		back, err := graph.Decode(encode(t, g, graph.EncodeOptions{}), graph.DecodeOptions{})
		require.NoError(t, err, name)
		require.Equal(t, o, back.Nodes[0].Op, name)
	}
}

func TestCodec_constantsOnceAndAligned(t *testing.T) {
	data := bytes.Repeat([]byte("constant"), 1000)
	b := graph.NewBuilder("g")
	x := b.Input("x", tensor.T(tensor.Uint8, 8000))
	for range 3 {
		x = b.Add(&op.Add{}, x, b.Const("c", tensor.T(tensor.Uint8, 8000), bytes.Clone(data)))
	}
	b.Output(x)
	g, err := b.Graph()
	require.NoError(t, err)
	blob := encode(t, g, graph.EncodeOptions{})
	assert.Equal(t, 1, bytes.Count(blob, data))
	assert.Zero(t, bytes.Index(blob, data)%64)

	store := map[tensor.Hash][]byte{}
	small := encode(t, g, graph.EncodeOptions{External: func(h tensor.Hash, d []byte) bool {
		store[h] = d
		return true
	}})
	assert.Less(t, len(small), 1000)
	_, err = graph.Decode(small, graph.DecodeOptions{})
	assert.Equal(t, fault.File, fault.KindOf(err))
	back, err := graph.Decode(small, graph.DecodeOptions{Const: func(h tensor.Hash, d []byte, n int64) ([]byte, error) {
		assert.Nil(t, d)
		assert.EqualValues(t, 8000, n)
		return store[h], nil
	}})
	require.NoError(t, err)
	assert.Equal(t, blob, encode(t, back, graph.EncodeOptions{}))
	_, err = graph.Decode(small, graph.DecodeOptions{Const: func(tensor.Hash, []byte, int64) ([]byte,
		error) {
		return data[1:], nil
	}})
	assert.Equal(t, fault.File, fault.KindOf(err), "constant of another length: %v", err)
}

func TestDecode_damagedBlobs(t *testing.T) {
	var blob []byte
	for seed := uint64(0); len(blob) < 800 || len(blob) > 1600; seed++ {
		blob = encode(t, randomGraph(rand.New(rand.NewPCG(seed, 3)), 0), graph.EncodeOptions{})
	}
	for n := range len(blob) {
		_, err := graph.Decode(blob[:n], graph.DecodeOptions{})
		require.Error(t, err, "cut at %d", n)
		require.Equal(t, fault.File, fault.KindOf(err))
	}
	_, err := graph.Decode(append(bytes.Clone(blob), 0), graph.DecodeOptions{})
	require.Error(t, err, "a byte too many")
	for i := range blob {
		bad := bytes.Clone(blob)
		bad[i] ^= 0x80
		if g, err := graph.Decode(bad, graph.DecodeOptions{}); err == nil {
			require.NoError(t, g.Validate())
		} else {
			require.Equal(t, fault.File, fault.KindOf(err))
		}
	}
	bad := bytes.Clone(blob)
	bad[8] = 9
	_, err = graph.Decode(bad, graph.DecodeOptions{})
	assert.ErrorContains(t, err, "version 9")
}

func TestDecode_lengthsBeyondTheEnd(t *testing.T) {
	head := append([]byte("ANPUGRPH"), 1)
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}
	for name, tail := range map[string][]byte{
		"constants": huge,
		"name":      append([]byte{0}, huge...),
		"meta":      append([]byte{0, 0}, huge...),
		"values":    append([]byte{0, 0, 0}, huge...),
		"inputs":    append([]byte{0, 0, 0, 0}, huge...),
		"nodes":     append([]byte{0, 0, 0, 0, 0, 0}, huge...),
		"constant":  append(append([]byte{1}, make([]byte, 32)...), append(huge, 1, 0, 0, 0, 0, 0, 0)...),
	} {
		blob := append(bytes.Clone(head), tail...)
		var err error
		allocated := testing.AllocsPerRun(1, func() { _, err = graph.Decode(blob, graph.DecodeOptions{}) })
		require.Error(t, err, name)
		assert.Equal(t, fault.File, fault.KindOf(err), name)
		assert.Less(t, allocated, 100.0, name)
	}
}

func TestDecode_deepBodies(t *testing.T) {
	leaf := func(body *graph.Graph) *graph.Graph {
		g := &graph.Graph{Values: make([]graph.ValueInfo, 2), In: []graph.Value{0}, Out: []graph.Value{0}}
		if body != nil {
			g.Nodes = []graph.Node{{Op: &everyField{Body: body}, Out: []graph.Value{1}}}
		}
		return g
	}
	g := leaf(nil)
	for range graph.MaxDepth - 1 {
		g = leaf(g)
	}
	_, err := graph.Decode(encode(t, g, graph.EncodeOptions{}), graph.DecodeOptions{})
	require.NoError(t, err)
	assert.Error(t, graph.Encode(&bytes.Buffer{}, leaf(g), graph.EncodeOptions{}))
}

func FuzzDecode(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(encode(f, randomGraph(rand.New(rand.NewPCG(seed, 9)), 1), graph.EncodeOptions{}))
	}
	f.Fuzz(func(t *testing.T, blob []byte) {
		g, err := graph.Decode(blob, graph.DecodeOptions{})
		if err != nil {
			if k := fault.KindOf(err); k != fault.File {
				t.Fatalf("kind %v: %v", k, err)
			}
			return
		}
		again := encode(t, g, graph.EncodeOptions{})
		back, err := graph.Decode(again, graph.DecodeOptions{})
		require.NoError(t, err)
		require.Equal(t, again, encode(t, back, graph.EncodeOptions{}))
	})
}
