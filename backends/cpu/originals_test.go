package cpu

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// layers builds a graph with every packed form: first layer, 1x1 and grouped convolution, Winograd, depthwise,
// matrix products of both orders, one weight that two nodes share, one that a reference step reads, one behind a view
// and one that is scaled by a normalization.
func layers(t testing.TB, b *graph.Builder) (*graph.Graph, []tensor.Tensor) {
	rnd := rand.New(rand.NewPCG(1, 2))
	weights := func(scale float32, dims ...int64) graph.Value {
		x := tensor.New(tensor.Float32, dims...)
		for i := range x.Count() {
			tensor.PutFloat(tensor.Float32, x.Data, i, float64((rnd.Float32()-0.5)*scale), false)
		}
		return b.Const("", x.Type(), x.Data)
	}
	same := []int64{1, 1, 1, 1}
	x := b.Input("x", tensor.T(tensor.Float32, 1, 3, 16, 16))
	y := b.Add(&op.Conv{Pads: same}, x, weights(1, 128, 3, 3, 3))
	y = b.Add(&op.Relu{}, b.Add(&op.Conv{}, y, weights(0.2, 192, 1, 1, 128), weights(1, 192)))
	y = b.Add(&op.Conv{Pads: same}, y, weights(0.1, 64, 3, 3, 192))            // Winograd
	y = b.Add(&op.Conv{Pads: same, Groups: 2}, y, weights(0.1, 128, 3, 3, 32)) // two groups
	y = b.Add(&op.MaxPool{Kernel: []int64{4, 4}, Strides: []int64{4, 4}}, y)
	y = b.Add(&op.Conv{}, y, weights(0.1, 2048, 1, 1, 128))
	y = b.Add(&op.Conv{Pads: same, Groups: 2048}, y, weights(1, 2048, 3, 3, 1))
	y = b.Add(&op.Conv{}, y, weights(0.02, 32, 1, 1, 2048))
	y = b.Add(&op.BatchNorm{Epsilon: 1e-5, Axis: 1}, y, weights(1, 32), weights(1, 32), weights(1, 32),
		b.Const("", tensor.T(tensor.Float32, 32), bytes.Repeat([]byte{0, 0, 128, 63}, 32)))
	y = b.Add(&op.Flatten{Axis: 1}, y) // [1, 512]
	shared := weights(0.05, 512, 512)
	m := b.Add(&op.MatMul{}, b.Add(&op.MatMul{}, y, shared), shared)
	y = b.Add(&op.FullyConnected{}, y, weights(0.05, 64, 512))
	y = b.Add(&op.Concat{Axis: 1}, y, m, b.Add(&op.MatMul{},
		b.Add(&op.Tanh{}, b.Add(&op.Flatten{Axis: 1}, b.Add(&op.Reshape{}, x, b.Int64s(1, 768)))), weights(0.1, 768, 48)))
	z := b.Add(&op.MatMul{}, b.Add(&op.Reshape{}, x, b.Int64s(6, 128)), b.Add(&op.Reshape{}, weights(0.1, 64, 512),
		b.Int64s(128, 256)))
	w := weights(0.3, 192, 128)
	z = b.Add(&op.MatMul{TransposeB: true}, b.Add(&op.MatMul{}, z, b.Add(&op.Reshape{}, weights(0.1, 1<<15),
		b.Int64s(256, 128))), w)
	e := b.Add(&op.Sin{}, w) // folded
	b.Output(y, z, b.Add(&op.Mul{}, e, b.Add(&op.Sin{}, b.Add(&op.Tile{}, b.Add(&op.Reshape{}, x, b.Int64s(6, 128)),
		b.Int64s(32, 1)))))
	g, err := b.Graph()
	require.NoError(t, err)
	return inferred(t, g), []tensor.Tensor{randomTensor(rnd, 1, 3, 16, 16)}
}

func randomTensor(rnd *rand.Rand, dims ...int64) tensor.Tensor {
	x := tensor.New(tensor.Float32, dims...)
	for i := range x.Count() {
		tensor.PutFloat(tensor.Float32, x.Data, i, rnd.Float64()*2-1, false)
	}
	return x
}

// stored returns g with its constants in a store, as package compile hands it over.
func stored(t testing.TB, g *graph.Graph) device.Unit {
	w := mem.NewWeights()
	own := g.WithInputs(nil)
	for i := range own.Values {
		if f := &own.Values[i].Fact; f.Const != nil {
			h := f.Const.Hash()
			data, err := w.Add(h, f.Const.Data)
			require.NoError(t, err)
			f.Const = tensor.NewHashedConst(data, h)
		}
	}
	return device.Unit{Graph: own, Weights: w}
}

func ran(t testing.TB, p device.Program, in []tensor.Tensor) [][]byte {
	e := newExec(t, p, device.ExecOptions{})
	defer e.Release()
	_, out := p.Ports()
	res, err := execute(t, e, in, len(out))
	require.NoError(t, err)
	var data [][]byte
	for _, r := range res {
		data = append(data, bytes.Clone(r.Data))
	}
	return data
}

func save(t testing.TB, p device.Program) []byte {
	var b bytes.Buffer
	require.NoError(t, p.Save(&b))
	return b.Bytes()
}

func originalsLeft(g *graph.Graph) (n int) {
	for i := range g.Values {
		if c := g.Values[i].Fact.Const; c != nil && len(c.Data) >= leastDropped {
			n++
		}
	}
	return n
}

func TestCompile_exclusiveDropsOriginals(t *testing.T) {
	for _, guard := range []bool{false, true} {
		t.Run(map[bool]string{false: "plain", true: "guarded"}[guard], func(t *testing.T) {
			mem.SetGuard(guard)
			defer mem.SetGuard(false)
			levels(t, func(t *testing.T) {
				g, in := layers(t, graph.NewBuilder("layers"))
				d := newDevice(t, Config{Threads: 2})
				kept := stored(t, g)
				p, err := d.Compile(context.Background(), kept, device.Options{})
				require.NoError(t, err)
				defer p.Release()
				kept.Weights.Release()
				want, blob := ran(t, p, in), save(t, p)

				u := stored(t, g)
				u.Exclusive = true
				before := u.Weights.(*mem.Weights).Bytes()
				q, err := d.Compile(context.Background(), u, device.Options{})
				require.NoError(t, err)
				defer q.Release()
				defer u.Weights.Release()
				require.IsType(t, &plannedGraph{}, q.(*program).plan)
				// What is left: Winograd and the normalized filter, whose forms do not give the original back, and what
				// steps read.
				assert.Less(t, originalsLeft(u.Graph), 6)
				assert.Less(t, u.Weights.(*mem.Weights).Bytes(), before/2)
				assert.True(t, bytes.Equal(blob, save(t, q)), "saved before the first run")
				for range 2 {
					assert.Equal(t, want, ran(t, q, in))
				}
				assert.True(t, bytes.Equal(blob, save(t, q)), "saved after it")
				l, err := d.Load(context.Background(), blob)
				require.NoError(t, err)
				defer l.Release()
				assert.Equal(t, want, ran(t, l, in))
				assert.True(t, bytes.Equal(blob, save(t, l)), "saved by what was loaded")
			})
		})
	}
}

func TestPlannedGraph_byReferenceAfterOriginalsWereDropped(t *testing.T) {
	if testing.Short() {
		t.Skip("with -short: it is slow under the race detector, and starts no goroutines of its own")
	}
	g, in := layers(t, graph.NewBuilder("layers"))
	d := newDevice(t, Config{Threads: 2})
	u := stored(t, g)
	u.Exclusive = true
	q, err := d.Compile(context.Background(), u, device.Options{})
	require.NoError(t, err)
	defer q.Release()
	defer u.Weights.Release()
	by, err := q.(*program).plan.(*plannedGraph).byReference(context.Background(), device.ExecOptions{})
	require.NoError(t, err)
	defer by.release()
	got, err := by.run(context.Background(), in, nil)
	require.NoError(t, err)
	require.Nil(t, by.end(), "nobody waits")
	r, err := newDevice(t, Config{Reference: true}).Compile(context.Background(), device.Unit{Graph: g}, device.Options{})
	require.NoError(t, err)
	defer r.Release()
	for i, w := range ran(t, r, in) {
		assert.True(t, bytes.Equal(w, got[i].Data), "output %d", i)
	}
	assert.NotEmpty(t, ran(t, q, in), "the plan goes on, and drops nothing that the other reads")
	_, err = by.run(context.Background(), in, nil)
	require.NoError(t, err)
	require.Nil(t, by.end(), "nobody waits")
}

func TestCompile_unsavedDropsEveryOriginal(t *testing.T) {
	g, in := layers(t, graph.NewBuilder("layers"))
	d := newDevice(t, Config{Threads: 2})
	p, err := d.Compile(context.Background(), device.Unit{Graph: g}, device.Options{})
	require.NoError(t, err)
	defer p.Release()
	u := stored(t, g)
	u.Exclusive = true
	q, err := d.Compile(context.Background(), u, device.Options{Unsaved: true})
	require.NoError(t, err)
	defer q.Release()
	defer u.Weights.Release()
	left := originalsLeft(u.Graph)
	assert.Equal(t, ran(t, p, in), ran(t, q, in))
	assert.Equal(t, left-1, originalsLeft(u.Graph), "the first run transforms the Winograd filters")
	assert.Equal(t, ran(t, p, in), ran(t, q, in))
	assert.Equal(t, fault.Unsupported, fault.KindOf(q.Save(&bytes.Buffer{})))
}
