package model

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// ConstantBytes adds up the constants of a graph, equal ones once.
func ConstantBytes(g *graph.Graph) (sum int64) {
	seen := map[tensor.Hash]bool{}
	for i := range g.Values {
		if c := g.Values[i].Fact.Const; c != nil && !seen[c.Hash()] {
			seen[c.Hash()] = true
			sum += int64(len(c.Data))
		}
	}
	return sum
}

// ResultBytes adds up the results of all nodes of a graph; those of unknown size do not count.
func ResultBytes(g *graph.Graph) (sum int64) {
	for i := range g.Nodes {
		for _, v := range g.Nodes[i].Out {
			if n, ok := g.Fact(v).ByteSize(); v != graph.None && ok {
				sum += n
			}
		}
	}
	return sum
}
