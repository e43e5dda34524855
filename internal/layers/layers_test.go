package layers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m, mem.LiveCounters)) }

// planted is what is wrong in one block of a network.
type planted struct {
	kind  string
	block int
}

const blocks = 6

// network is six blocks of a convolution, its quantization to int8 and back if quantized, and an activation; a block
// adds what the one before the last made. The fault, if any, is in one node.
func network(t *testing.T, quantized bool, f planted) *graph.Graph {
	r := rand.New(rand.NewPCG(1, 2))
	b := graph.NewBuilder("network")
	x := b.Input("x", tensor.T(tensor.Float32, 1, 8, 12, 12))
	var before graph.Value
	name := func(v graph.Value, kind string, i int) graph.Value {
		b.Name(v, fmt.Sprintf("%s%d", kind, i))
		return v
	}
	for i := range blocks {
		is := func(kind string) bool { return f.kind == kind && f.block == i }
		w := make([]byte, 4*8*8*3*3)
		for k := range 8 * 8 * 9 {
			at := k
			if is("channels") { // the first two inputs of every filter are exchanged
				if c := k % 8; c < 2 {
					at = k - c + (1 - c)
				}
			}
			tensor.PutFloat(tensor.Float32, w, at, r.Float64()-0.5, false)
		}
		pads := []int64{1, 1, 1, 1}
		if is("pad") {
			pads = []int64{2, 1, 0, 1}
		}
		dilations := []int64{1, 1}
		if is("dilation") {
			pads, dilations = []int64{2, 2, 2, 2}, []int64{2, 2}
		}
		y := b.Add(&op.Conv{Pads: pads, Dilations: dilations, Groups: 1}, x,
			b.Const(fmt.Sprintf("w%d", i), tensor.T(tensor.Float32, 8, 3, 3, 8), w))
		name(y, "conv", i)
		if quantized {
			scale := float32(0.05)
			if is("scale") {
				scale = 0.051
			}
			s := b.Float32(scale)
			q := name(b.Add(&op.Quantize{To: tensor.Int8}, y, s), "codes", i)
			if is("scale") {
				s = b.Float32(0.05)
			}
			y = name(b.Add(&op.Dequantize{To: tensor.Float32}, q, s), "real", i)
		}
		if before != graph.None && i >= 2 {
			if is("saturation") {
				y = b.Add(&op.Min{}, b.Add(&op.Add{}, y, before), b.Float32(1))
			} else {
				y = b.Add(&op.Add{}, y, before)
			}
			name(y, "sum", i)
		}
		switch {
		case is("activation"):
			y = b.Add(&op.LeakyRelu{Alpha: 0.05}, y)
		case is("layout"):
			y = b.Add(&op.Transpose{}, b.Add(&op.Relu{}, y), b.Int64s(0, 1, 3, 2))
		case is("rounding"):
			y = b.Add(&op.Mul{}, b.Add(&op.Round{}, b.Add(&op.Mul{}, b.Add(&op.Relu{}, y), b.Float32(256))),
				b.Float32(1./256))
		default:
			y = b.Add(&op.Relu{}, y)
		}
		name(y, "act", i)
		before, x = x, y
	}
	b.Output(x)
	g, err := b.Graph()
	require.NoError(t, err)
	return g
}

func side(t *testing.T, g *graph.Graph, byRef bool) *Side {
	d, err := cpu.New(cpu.Config{Reference: byRef})
	require.NoError(t, err)
	s := &Side{Graph: g, Devices: []device.Device{d}}
	s.Options.Unsaved = true
	return s
}

func input() tensor.Tensor {
	r := rand.New(rand.NewPCG(3, 4))
	x := tensor.Tensor{DType: tensor.Float32, Dims: []int64{1, 8, 12, 12}, Data: make([]byte, 4*8*144)}
	for i := range 8 * 144 {
		tensor.PutFloat(tensor.Float32, x.Data, i, r.Float64()*2-1, false)
	}
	return x
}

// compare returns the rows of b's network beside a's, and the name of the first value that departs.
func compare(t *testing.T, a, b *Side) ([]Row, string) {
	ctx := context.Background()
	in := []tensor.Tensor{input()}
	of, err := a.Run(ctx, in)
	require.NoError(t, err)
	own, err := b.Run(ctx, in)
	require.NoError(t, err)
	want := Values{}
	for v, w := range Match(a.Graph, b.Graph) {
		if x, ok := of[w]; ok && x.DType == b.Graph.Fact(v).DType {
			want[v] = x
		}
	}
	rows, err := Compare(ctx, b, own, want, func(int, int) {})
	require.NoError(t, err)
	list := Departures(rows, 40)
	if len(list) == 0 {
		return rows, ""
	}
	return rows, b.Graph.Values[rows[list[0]].Value].Name
}

// Faults in one node are found at the value that the node makes, in a float and in a quantized network.
func TestCompare_findsPlantedFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("with -short: it is slow under the race detector, and starts no goroutines of its own")
	}
	made := map[string]string{"pad": "conv", "channels": "conv", "dilation": "conv", "activation": "act", "layout": "act",
		"rounding": "act", "saturation": "sum", "scale": "codes"}
	found := 0
	for _, quantized := range []bool{false, true} {
		right := side(t, network(t, quantized, planted{}), false)
		for kind, value := range made {
			for block := range blocks {
				if kind == "scale" && !quantized || kind == "saturation" && block < 2 {
					continue
				}
				wrong := side(t, network(t, quantized, planted{kind, block}), false)
				_, got := compare(t, right, wrong)
				if assert.Equal(t, fmt.Sprintf("%s%d", value, block), got, "%s in block %d, quantized %v", kind, block, quantized) {
					found++
				}
			}
		}
	}
	assert.GreaterOrEqual(t, found, 80)
}

// The fast kernels differ from the reference in the last places of float32, which is no departure.
func TestCompare_acceptsAnotherOrderOfSums(t *testing.T) {
	g := network(t, false, planted{})
	rows, got := compare(t, side(t, g, true), side(t, g, false))
	assert.Empty(t, got)
	assert.Len(t, rows, len(g.Nodes))
}

// A float network and its quantized form are paired by names and by structure, and what quantization adds is told from
// what is inherited.
func TestCompare_pairsAQuantizedNetwork(t *testing.T) {
	a, b := network(t, false, planted{}), network(t, true, planted{})
	for v := range b.Values { // names are not needed, but for inputs and outputs
		if b.Values[v].Name != "x" {
			b.Values[v].Name += "_quantized"
		}
	}
	pairs := Match(a, b)
	paired := 0
	for v := range b.Values {
		if w, ok := pairs[graph.Value(v)]; ok && b.Values[v].Name == a.Values[w].Name+"_quantized" {
			paired++
		}
	}
	assert.Equal(t, blocks*2+4, paired, "convolutions, activations and sums")
	rows, _ := compare(t, side(t, a, false), side(t, b, false))
	for _, r := range rows {
		if r.Total != nil && r.Added != nil && !math.IsInf(r.Added.SNR, 1) {
			assert.Greater(t, r.Added.SNR, r.Total.SNR-1, b.Values[r.Value].Name)
		}
	}
}

// chain is two blocks of a convolution and a Relu. The quantized form leaves the Relu to the range of the codes: the
// value before them has the Relu's name, as quantizers have it, or none.
func chain(t *testing.T, quantized, named bool) *graph.Graph {
	r := rand.New(rand.NewPCG(5, 6))
	b := graph.NewBuilder("chain")
	x := b.Input("x", tensor.T(tensor.Float32, 1, 8, 12, 12))
	for i := range 2 {
		w := make([]byte, 4*8*8*3*3)
		for k := range 8 * 8 * 9 {
			tensor.PutFloat(tensor.Float32, w, k, r.Float64()-0.5, false)
		}
		x = b.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}, Dilations: []int64{1, 1}, Groups: 1}, x,
			b.Const(fmt.Sprintf("w%d", i), tensor.T(tensor.Float32, 8, 3, 3, 8), w))
		if !quantized {
			b.Name(x, fmt.Sprintf("conv%d", i))
			x = b.Add(&op.Relu{}, x)
		}
		if named {
			b.Name(x, fmt.Sprintf("relu%d", i))
		}
		if quantized {
			s := b.Float32([]float32{0.025, 0.04}[i])
			x = b.Add(&op.Dequantize{To: tensor.Float32}, b.Add(&op.Quantize{To: tensor.Uint8}, x, s), s)
			b.Name(x, fmt.Sprintf("real%d", i))
		}
	}
	b.Output(b.Add(&op.Neg{}, x))
	g, err := b.Graph()
	require.NoError(t, err)
	return g
}

// A Relu that the codes stand for is no departure, with the names of quantizers and without names.
func TestMatch_reluOfTheCodes(t *testing.T) {
	for _, named := range []bool{true, false} {
		a, b := chain(t, false, true), chain(t, true, named)
		pairs := map[string]string{}
		of := Match(a, b)
		for v, w := range of {
			pairs[b.Values[v].Name] = a.Values[w].Name
		}
		assert.Equal(t, "relu0", pairs["real0"])
		assert.Equal(t, "relu1", pairs["real1"])
		convs := 0
		for i := range b.Nodes {
			if _, ok := b.Nodes[i].Op.(*op.Conv); ok {
				assert.Equal(t, fmt.Sprintf("conv%d", convs), a.Values[of[b.Nodes[i].Out[0]]].Name)
				convs++
			}
		}
		require.Equal(t, 2, convs)
		rows, got := compare(t, side(t, a, false), side(t, b, false))
		assert.Empty(t, got)
		assert.Len(t, rows, 5, "two convolutions, two values that are dequantized, and the output")
		for _, r := range rows {
			require.NotNil(t, r.Added, r.Why)
		}
	}
}

func TestMeasure(t *testing.T) {
	of := func(x ...float64) tensor.Tensor {
		y := tensor.Tensor{DType: tensor.Float32, Dims: []int64{int64(len(x))}, Data: make([]byte, 4*len(x))}
		for i, v := range x {
			tensor.PutFloat(tensor.Float32, y.Data, i, v, false)
		}
		return y
	}
	d, ok := Measure(of(3, 4.5), of(3, 4))
	require.True(t, ok)
	assert.InDelta(t, 20, d.SNR, 1e-9, "25 over 0.25 is 20 dB")
	assert.Equal(t, 1, d.Worst)
	assert.InDelta(t, 0.25, d.Mean, 1e-9)
	assert.InDelta(t, (9+18)/math.Hypot(3, 4.5)/5, d.Cosine, 1e-9)
	d, _ = Measure(of(1, math.NaN(), math.Inf(1)), of(1, math.NaN(), math.Inf(1)))
	assert.True(t, math.IsInf(d.SNR, 1))
	d, _ = Measure(of(math.NaN()), of(1))
	assert.True(t, math.IsInf(d.SNR, -1))
	_, ok = Measure(of(1), of(1, 2))
	assert.False(t, ok)
}

// A port without a counterpart of its name gets one that no other has.
func TestPairNames(t *testing.T) {
	assert.Equal(t, []int{1, 0}, PairNames([]string{"x", "y"}, []string{"z", "x"}))
	assert.Equal(t, []int{0, 1}, PairNames([]string{"x", "y"}, []string{"v", "w"}))
	assert.Equal(t, []int{0, 1, -1}, PairNames([]string{"", ""}, []string{"", "", "z"}))
}
