package graph_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// wire builds a graph of adds in which node i reads the outputs of the nodes in reads[i] (the graph input where there
// are fewer than two).
func wire(t *testing.T, reads [][]int) *graph.Graph {
	b := graph.NewBuilder("wire")
	x := b.Input("x", tensor.T(tensor.Float32, 1))
	var made []graph.Value
	for _, r := range reads {
		in := []graph.Value{x, x}
		for k, from := range r {
			in[k] = made[from]
		}
		made = append(made, b.Add(&op.Add{}, in...))
	}
	b.Output(made...)
	g, err := b.Graph()
	require.NoError(t, err)
	return g
}

func TestPartition_shapes(t *testing.T) {
	for name, c := range map[string]struct {
		reads [][]int
		owner []int
		want  [][]int
	}{
		"one owner, not connected": {[][]int{{}, {}}, []int{1, 1}, [][]int{{0, 1}}},
		"chain":                    {[][]int{{}, {0}, {1}, {2}}, []int{0, 0, 1, 1}, [][]int{{0, 1}, {2, 3}}},
		"there and back":           {[][]int{{}, {0}, {1}}, []int{0, 1, 0}, [][]int{{0}, {1}, {2}}},
		// 0 -> 1 -> 2 and 0 -> 2: joining 0 with 2 would make them depend on themselves through 1.
		"triangle": {[][]int{{}, {0}, {0, 1}}, []int{0, 1, 0}, [][]int{{0}, {1}, {2}}},
		// 1 belongs to 3, though 3 also waits for the other owner's 2: nothing leads from 1 to 2.
		"late join":                          {[][]int{{}, {}, {0}, {1, 2}}, []int{0, 0, 1, 0}, [][]int{{0}, {2}, {1, 3}}},
		"two unconnected parts of one owner": {[][]int{{}, {}, {0, 1}}, []int{0, 0, 1}, [][]int{{0}, {1}, {2}}},
	} {
		got, err := wire(t, c.reads).Partition(c.owner)
		require.NoError(t, err, name)
		assert.Equal(t, c.want, got, name)
	}
	_, err := wire(t, [][]int{{}}).Partition(nil)
	assert.Error(t, err)
}

// reachable tells, by brute force over all paths, which parts depend on which.
func dependsOnItself(g *graph.Graph, parts [][]int) bool {
	of := make([]int, len(g.Nodes))
	for p, nodes := range parts {
		for _, i := range nodes {
			of[i] = p
		}
	}
	n := len(parts)
	reach := make([][]bool, n)
	for i := range reach {
		reach[i] = make([]bool, n)
	}
	prod := g.Producers()
	for i := range g.Nodes {
		for _, v := range g.Nodes[i].In {
			if v != graph.None && prod[v] >= 0 && of[prod[v]] != of[i] {
				reach[of[prod[v]]][of[i]] = true
			}
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
			}
		}
	}
	for i := range n {
		if reach[i][i] {
			return true
		}
	}
	return false
}

func TestPartition_randomGraphs(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		n := 1 + r.IntN(25)
		reads, owner := make([][]int, n), make([]int, n)
		for i := range reads {
			owner[i] = r.IntN(3)
			for range r.IntN(3) {
				if i > 0 {
					reads[i] = append(reads[i], r.IntN(i))
				}
			}
		}
		g := wire(t, reads)
		parts, err := g.Partition(owner)
		require.NoError(t, err)
		var all []int
		done := make([]bool, n)
		for _, p := range parts {
			require.True(t, slices.IsSorted(p))
			for _, i := range p {
				require.Equal(t, owner[p[0]], owner[i], "seed %d", seed)
			}
			for _, i := range p { // every input from outside is made by an earlier part
				for _, from := range reads[i] {
					require.True(t, done[from] || slices.Contains(p, from), "seed %d: node %d before %d", seed, i, from)
				}
			}
			for _, i := range p {
				done[i] = true
			}
			all = append(all, p...)
		}
		slices.Sort(all)
		for i, v := range all {
			require.Equal(t, i, v)
		}
		require.Len(t, all, n)
		require.False(t, dependsOnItself(g, parts))
		if !slices.ContainsFunc(owner, func(o int) bool { return o != owner[0] }) {
			continue
		}
		// As large as possible: joining any two neighbours of one owner makes a circle.
		prod := g.Producers()
		for a := range parts {
			for b := range parts {
				joined := false
				for _, i := range parts[b] {
					for _, v := range g.Nodes[i].In {
						joined = joined || prod[v] >= 0 && slices.Contains(parts[a], prod[v])
					}
				}
				if a == b || !joined || owner[parts[a][0]] != owner[parts[b][0]] {
					continue
				}
				merged := [][]int{slices.Concat(parts[a], parts[b])}
				for k := range parts {
					if k != a && k != b {
						merged = append(merged, parts[k])
					}
				}
				require.True(t, dependsOnItself(g, merged), "seed %d: parts %v and %v could be one", seed, parts[a], parts[b])
			}
		}
	}
}

func TestPartition_longAlternation(t *testing.T) {
	const n = 4000
	reads, owner := make([][]int, n), make([]int, n)
	for i := 1; i < n; i++ {
		reads[i] = []int{i - 1, max(0, i-2)}
		owner[i] = i % 2
	}
	parts, err := wire(t, reads).Partition(owner)
	require.NoError(t, err)
	assert.Greater(t, len(parts), n/2)
}

func TestExtract_boundary(t *testing.T) {
	b := graph.NewBuilder("g")
	x := b.Input("x", tensor.T(tensor.Float32, 2))
	c := b.Const("c", tensor.T(tensor.Float32, 2), tensor.Float32s(1, 2))
	p := b.Add(&op.Add{}, x, c)
	q := b.Add(&op.Add{}, p, c)
	r := b.Add(&op.Add{}, q, x)
	s := b.Add(&op.Add{}, r, p)
	b.Output(s, q)
	g, err := b.Graph()
	require.NoError(t, err)
	part, in, out := g.Extract([]int{1, 2})
	require.NoError(t, part.Validate())
	assert.Equal(t, []graph.Value{x, p}, in)
	assert.Equal(t, []graph.Value{q, r}, out)
	assert.Len(t, part.Nodes, 2)
	assert.Len(t, part.Values, 5)
	assert.Same(t, g.Values[c].Fact.Const, part.Values[part.Nodes[0].In[1]].Fact.Const)
	require.NoError(t, part.Infer())
}
