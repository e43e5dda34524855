package proto

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Random graphs without a cycle, shuffled: each node comes after the makers of what it and its bodies read. Those that
// are in order stay as they are.
func TestSort_randomGraphs(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		nodes := make([]*Node, 1+rnd.IntN(30))
		for i := range nodes {
			n := &Node{OpType: "Add", Index: i, Out: []string{fmt.Sprint("v", i)}, In: []string{"x"}}
			if i > 0 {
				n.In = append(n.In, fmt.Sprint("v", rnd.IntN(i)))
			}
			if i > 1 && rnd.IntN(3) == 0 { // read in a body, beside a name that the body has itself
				own := fmt.Sprint("v", len(nodes)-1)
				body := &Graph{In: []*ValueInfo{{Name: own}}, Nodes: []*Node{{OpType: "Add", Out: []string{"s"},
					In: []string{own, fmt.Sprint("v", rnd.IntN(i))}}}, Out: []*ValueInfo{{Name: "s"}}}
				n.Attrs = map[string]*Attribute{"body": {Name: "body", G: body}}
			}
			nodes[i] = n
		}
		sorted, err := Sort(nodes)
		require.NoError(t, err)
		assert.Equal(t, nodes, sorted)
		rnd.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		if sorted, err = Sort(nodes); !assert.NoError(t, err) {
			continue
		}
		made := map[string]bool{"x": true}
		for _, n := range sorted {
			for _, name := range n.In {
				assert.True(t, made[name], "%s before its maker", name)
			}
			for _, g := range n.Bodies() {
				assert.True(t, made[g.Nodes[0].In[1]], "%s before its maker", g.Nodes[0].In[1])
			}
			made[n.Out[0]] = true
		}
		assert.Len(t, sorted, len(nodes))
	}
}

func TestSort_refuses(t *testing.T) {
	ring := []*Node{{OpType: "Add", Index: 0, In: []string{"b"}, Out: []string{"a"}},
		{OpType: "Neg", Index: 1, In: []string{"a"}, Out: []string{"b"}}}
	_, err := Sort(ring)
	assert.ErrorContains(t, err, `depends on its own result through "`)
	twice := []*Node{{OpType: "Add", Index: 0, Out: []string{"a"}}, {OpType: "Neg", Index: 1, Out: []string{"a"}}}
	_, err = Sort(twice)
	assert.EqualError(t, err, `value "a" is made by node 0 (Add) and by node 1 (Neg)`)
}
