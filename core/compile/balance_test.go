package compile_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/devicetest/toy"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// priced is a device whose nodes cost what it says, and which counts what it is asked to compile.
type priced struct {
	device.Device
	cost     time.Duration
	least    bool
	compiled int
}

func (d *priced) Support(g *graph.Graph, o device.Options) ([]device.NodeSupport, error) {
	list, err := d.Device.Support(g, o)
	for i := range list {
		if list[i].OK {
			list[i].Cost, list[i].Least = d.cost, d.least
		}
	}
	return list, err
}

func (d *priced) Compile(ctx context.Context, u device.Unit, o device.Options) (device.Program, error) {
	d.compiled++
	return d.Device.Compile(ctx, u, o)
}

// sums is a chain: two additions, a product, one addition, of tensors of n elements.
func sums(t *testing.T, n int64) *graph.Graph {
	b := graph.NewBuilder("sums")
	x := b.Input("x", tensor.T(tensor.Float32, n))
	for i, o := range []graph.Op{&op.Add{}, &op.Add{}, &op.Mul{}, &op.Add{}} {
		b.SetOrigin(i, "")
		x = b.Add(o, x, x)
	}
	b.Output(x)
	g, err := b.Graph()
	require.NoError(t, err)
	return g
}

// TestCompile_byCost: additions go to the first device where that is worth crossing: 40 us, and half a nanosecond for
// each byte in and out.
func TestCompile_byCost(t *testing.T) {
	for _, c := range []struct {
		npu, cpu time.Duration // for a node
		elements int64
		want     []string // who computes the parts
	}{
		{time.Microsecond, time.Millisecond, 2, []string{"npu", "cpu", "npu"}},
		// two additions save 80 us less 2, one saves 40 less 1
		{time.Microsecond, 40 * time.Microsecond, 2, []string{"npu", "cpu"}},
		{time.Microsecond, 10 * time.Microsecond, 2, []string{"cpu"}},
		{time.Millisecond, time.Microsecond, 2, []string{"cpu"}},
		// 8 MB in and out take 4 ms
		{time.Microsecond, time.Millisecond, 1 << 20, []string{"cpu"}},
		{time.Microsecond, 3 * time.Millisecond, 1 << 20, []string{"npu", "cpu"}},
		// nothing to compare
		{0, time.Microsecond, 2, []string{"npu", "cpu", "npu"}},
		{time.Millisecond, 0, 2, []string{"npu", "cpu", "npu"}},
	} {
		npu, cpu := &priced{Device: toy.New("npu"), cost: c.npu}, &priced{Device: toy.NewHost("cpu"), cost: c.cpu}
		p, err := compile.Compile(background, sums(t, c.elements), []device.Device{npu, cpu}, compile.Options{ByCost: true})
		require.NoError(t, err)
		var got []string
		for _, part := range p.Placement().Parts {
			got = append(got, part.Device)
		}
		assert.Equal(t, c.want, got, "%+v", c)
		if len(got) == 2 && c.elements == 2 {
			assert.Equal(t, []device.Refusal{{Device: "npu", Reason: "a part of 1 node takes 1µs there and 40.008µs to cross, " +
				"40µs on cpu"}}, p.Placement().Nodes[3].Refused)
		}
		p.Release()
	}
}

// TestCompile_cheapest: a part that goes back goes to the cheapest of the later devices, and another one that is no CPU
// has to be crossed to as well.
func TestCompile_cheapest(t *testing.T) {
	npu, other := &priced{Device: toy.New("npu"), cost: 2}, &priced{Device: toy.New("other"), cost: 1}
	cpu := &priced{Device: toy.NewHost("cpu"), cost: 10 * time.Microsecond}
	for _, c := range []struct {
		devices []device.Device
		want    string
	}{
		{[]device.Device{npu, other, cpu}, "cpu"},
		{[]device.Device{npu, cpu, other}, "cpu"},
		{[]device.Device{cpu, &priced{Device: toy.New("npu"), cost: 1, least: true}}, "cpu"},
		{[]device.Device{&priced{Device: toy.NewHost("cpu"), cost: time.Second}, &priced{Device: toy.New("npu"), cost: 1,
			least: true}}, "cpu"},
		{[]device.Device{npu, other, &priced{Device: toy.NewHost("cpu"), cost: time.Millisecond}}, "other"},
	} {
		p, err := compile.Compile(background, sums(t, 2), c.devices, compile.Options{ByCost: true})
		require.NoError(t, err)
		assert.Equal(t, c.want, p.Placement().Nodes[0].Device)
		p.Release()
	}
}

// TestCompile_leastCost: of a device that knows only the least that its nodes take, a part whose crossing takes longer
// than the next device goes there, and a graph that it computes alone stays.
func TestCompile_leastCost(t *testing.T) {
	for _, c := range []struct {
		cpu   time.Duration // for a node
		whole bool
		want  []string
	}{
		{10 * time.Microsecond, false, []string{"cpu"}},
		// two additions take 60 us, one takes 30
		{30 * time.Microsecond, false, []string{"npu", "cpu"}},
		{time.Millisecond, false, []string{"npu", "cpu", "npu"}},
		{time.Nanosecond, true, []string{"npu"}},
	} {
		npu := &priced{Device: toy.New("npu"), cost: time.Nanosecond, least: true}
		cpu := &priced{Device: toy.NewHost("cpu"), cost: c.cpu}
		g := sums(t, 2)
		if c.whole {
			b := graph.NewBuilder("sum")
			x := b.Input("x", tensor.T(tensor.Float32, 2))
			b.Output(b.Add(&op.Add{}, x, x))
			var err error
			g, err = b.Graph()
			require.NoError(t, err)
		}
		p, err := compile.Compile(background, g, []device.Device{npu, cpu}, compile.Options{ByCost: true})
		require.NoError(t, err)
		var got []string
		for _, part := range p.Placement().Parts {
			got = append(got, part.Device)
		}
		assert.Equal(t, c.want, got, "%+v", c)
		if len(got) == 2 {
			assert.Equal(t, []device.Refusal{{Device: "npu", Reason: "a part of 1 node takes 40.008µs to cross alone, 30µs on " +
				"cpu"}}, p.Placement().Nodes[3].Refused)
		}
		p.Release()
	}
}

// TestCompile_failedPart: what the first device claims and does not compile goes to the next, and is asked no more.
func TestCompile_failedPart(t *testing.T) {
	broken := toy.New("broken")
	broken.Set(toy.FailCompile)
	npu, cpu := &priced{Device: broken}, toy.NewHost("cpu")
	for round := range 2 { // the part of one addition says that this one is not to be tried again
		var warned []string
		p, err := compile.Compile(background, sums(t, 2), []device.Device{npu, cpu}, compile.Options{
			Warn: func(text string) { warned = append(warned, text) }})
		require.NoError(t, err)
		assert.Equal(t, []device.PartPlacement{{Device: "cpu", Nodes: 4}}, p.Placement().Parts)
		assert.Equal(t, "it failed: toy: the compiler failed", p.Placement().Nodes[3].Refused[0].Reason)
		assert.Equal(t, 2, npu.compiled, "round %d", round)
		require.Len(t, warned, 2-2*round)
		if round == 0 {
			assert.Contains(t, warned[0], "device broken does not compile 2 operators that it has claimed")
			assert.Contains(t, warned[1], "device broken does not compile 1 operator that it has claimed")
		}
		p.Release()
	}
	_, err := compile.Compile(background, sums(t, 4), []device.Device{npu, cpu}, compile.Options{Strict: true})
	require.Error(t, err)
	p, err := compile.Compile(background, sums(t, 2), []device.Device{toy.New("other"), cpu}, compile.Options{})
	require.NoError(t, err)
	assert.Len(t, p.Placement().Parts, 3, "another device is asked")
	p.Release()
}
