package plan

import "math"

// Vertices of a flow that are always there, and the capacity of an edge that is never cut.
const (
	flowSource    = 0
	flowSink      = 1
	flowUnbounded = math.MaxInt64 / 4
)

// flow is a network of capacities, for its minimum cut (Dinic's algorithm).
type flow struct {
	edges []flowEdge // each beside its reverse, at its index ^ 1
	from  [][]int    // per vertex: the edges that leave it
	level []int      // per vertex: edges between it and the source, or unreached
	next  []int      // per vertex: the first of its edges that may lead on
}

const unreached = -1

type flowEdge struct {
	to   int
	left int64 // capacity that is not used
}

func newFlow() *flow { return &flow{from: make([][]int, 2)} }

// vertex adds one and returns its number.
func (f *flow) vertex() int {
	f.from = append(f.from, nil)
	return len(f.from) - 1
}

// edge adds capacity from a to b.
func (f *flow) edge(a, b int, capacity int64) {
	f.from[a] = append(f.from[a], len(f.edges))
	f.from[b] = append(f.from[b], len(f.edges)+1)
	f.edges = append(f.edges, flowEdge{b, capacity}, flowEdge{a, 0})
}

// cut returns the vertices on the source's side of a minimum cut, the smallest such set.
func (f *flow) cut() []bool {
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
func (f *flow) reach() bool {
	f.level = make([]int, len(f.from))
	for v := range f.level {
		f.level[v] = unreached
	}
	f.level[flowSource] = 0
	for queue := []int{flowSource}; len(queue) > 0; queue = queue[1:] {
		for _, e := range f.from[queue[0]] {
			if x := f.edges[e]; x.left > 0 && f.level[x.to] == unreached {
				f.level[x.to] = f.level[queue[0]] + 1
				queue = append(queue, x.to)
			}
		}
	}
	return f.level[flowSink] != unreached
}

// push sends as much as fits along one path of growing levels and returns how much, 0 when there is no path. Paths can
// be as long as the graph, so that it keeps its own stack.
func (f *flow) push() int64 {
	var path []int
	for at := flowSource; at != flowSink; {
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
	most := int64(flowUnbounded)
	for _, e := range path {
		most = min(most, f.edges[e].left)
	}
	for _, e := range path {
		f.edges[e].left -= most
		f.edges[e^1].left += most
	}
	return most
}
