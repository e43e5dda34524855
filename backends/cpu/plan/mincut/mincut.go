// Package mincut divides a graph where it costs least.
package mincut

import "math"

// Vertices that every graph has, and the capacity of an edge that is never cut.
const (
	Source    = 0
	Sink      = 1
	Unbounded = math.MaxInt64 / 4
)

// Graph is a network of capacities, for its minimum cut (Dinic's algorithm).
type Graph struct {
	edges []edge  // each beside its reverse, at its index ^ 1
	from  [][]int // per vertex: the edges that leave it
	level []int   // per vertex: edges between it and the source, or unreached
	next  []int   // per vertex: the first of its edges that may lead on
}

const unreached = -1

type edge struct {
	to   int
	left int64 // capacity that is not used
}

// New returns a graph of the source and the sink.
func New() *Graph { return &Graph{from: make([][]int, 2)} }

// Vertex adds one and returns its number.
func (f *Graph) Vertex() int {
	f.from = append(f.from, nil)
	return len(f.from) - 1
}

// Edge adds capacity from a to b.
func (f *Graph) Edge(a, b int, capacity int64) {
	f.from[a] = append(f.from[a], len(f.edges))
	f.from[b] = append(f.from[b], len(f.edges)+1)
	f.edges = append(f.edges, edge{b, capacity}, edge{a, 0})
}

// Cut returns the vertices on the source's side of a minimum cut, the smallest such set.
func (f *Graph) Cut() []bool {
	for f.reach() {
		f.next = make([]int, len(f.from))
		for f.push() > 0 {
		}
	}
	side := make([]bool, len(f.from))
	for v := range side {
		side[v] = f.level[v] != unreached
	}
	return side
}

// reach sets the levels by the edges with capacity left and reports whether they lead to the sink.
func (f *Graph) reach() bool {
	f.level = make([]int, len(f.from))
	for v := range f.level {
		f.level[v] = unreached
	}
	f.level[Source] = 0
	for queue := []int{Source}; len(queue) > 0; queue = queue[1:] {
		for _, e := range f.from[queue[0]] {
			if x := f.edges[e]; x.left > 0 && f.level[x.to] == unreached {
				f.level[x.to] = f.level[queue[0]] + 1
				queue = append(queue, x.to)
			}
		}
	}
	return f.level[Sink] != unreached
}

// push sends as much as fits along one path of growing levels and returns how much, 0 when there is no path. Paths can
// be as long as the graph, so it keeps its own stack.
func (f *Graph) push() int64 {
	var path []int
	for at := Source; at != Sink; {
		if k := f.next[at]; k < len(f.from[at]) {
			e := f.from[at][k]
			if x := f.edges[e]; x.left > 0 && f.level[x.to] == f.level[at]+1 {
				path, at = append(path, e), x.to
			} else {
				f.next[at]++
			}
			continue
		}
		if len(path) == 0 {
			return 0
		}
		at = f.edges[path[len(path)-1]^1].to
		path = path[:len(path)-1]
		f.next[at]++
	}
	most := int64(Unbounded)
	for _, e := range path {
		most = min(most, f.edges[e].left)
	}
	for _, e := range path {
		f.edges[e].left -= most
		f.edges[e^1].left += most
	}
	return most
}
