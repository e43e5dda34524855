package layers

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// Match pairs values of b with those of a, two forms of one network: float and quantized, fused and not, before and
// after a conversion. Inputs and outputs are paired by name, those left over in their order; values that nodes make by
// name; and then, in the order of computation, the results of nodes of one operator whose inputs are paired. A value
// that is quantized and dequantized again counts as the value before, or as the one after a Relu or Clip of a, if b
// leaves that to the range of the codes. Types are not compared: see Measure.
func Match(a, b *graph.Graph) map[graph.Value]graph.Value {
	m := &matcher{a: a, b: b, of: map[graph.Value]graph.Value{}, used: map[graph.Value]bool{},
		producers: map[*graph.Graph][]int{a: a.Producers(), b: b.Producers()},
		uses:      map[*graph.Graph][][]int{a: a.Uses(), b: b.Uses()}}
	if a == b {
		for v := range b.Values {
			m.of[graph.Value(v)] = graph.Value(v)
		}
		return m.of
	}
	m.ports(a.In, b.In)
	m.ports(a.Out, b.Out)
	m.names()
	m.clamped()
	m.structure()
	return m.of
}

type matcher struct {
	a, b *graph.Graph
	of   map[graph.Value]graph.Value // of b, in a
	used map[graph.Value]bool        // of a

	producers map[*graph.Graph][]int
	uses      map[*graph.Graph][][]int
}

func (m *matcher) pair(b, a graph.Value) {
	if _, taken := m.of[b]; !taken && !m.used[a] && a != graph.None && b != graph.None {
		m.of[b], m.used[a] = a, true
	}
}

func (m *matcher) ports(a, b []graph.Value) {
	for i, k := range PairNames(namesOf(m.a, a), namesOf(m.b, b)) {
		if k >= 0 {
			m.pair(b[i], a[k])
		}
	}
}

func namesOf(g *graph.Graph, values []graph.Value) []string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = g.Values[v].Name
	}
	return names
}

// PairNames gives for each name of b the index of its counterpart in a, -1 without one: the one of the same name; those
// left over are paired in their order.
func PairNames(a, b []string) []int {
	of, used := make([]int, len(b)), make([]bool, len(a))
	for i, name := range b {
		of[i] = -1
		for k := range a {
			if a[k] == name && !used[k] {
				of[i], used[k] = k, true
				break
			}
		}
	}
	for i := range of {
		if k := slices.Index(used, false); of[i] < 0 && k >= 0 {
			of[i], used[k] = k, true
		}
	}
	return of
}

// names pairs what nodes make, by names that only one value of each graph has.
func (m *matcher) names() {
	unique := func(g *graph.Graph) map[string]graph.Value {
		found := map[string]graph.Value{}
		for n := range g.Nodes {
			for _, v := range g.Nodes[n].Out {
				if v == graph.None || g.Values[v].Name == "" {
					continue
				}
				if _, twice := found[g.Values[v].Name]; twice {
					v = graph.None
				}
				found[g.Values[v].Name] = v
			}
		}
		return found
	}
	in := unique(m.a)
	for name, v := range unique(m.b) {
		if w, ok := in[name]; ok && v != graph.None && w != graph.None {
			m.pair(v, w)
		}
	}
}

// clamped pairs dequantized values of b, in place of those before, with the results of clamps of a that b lacks.
func (m *matcher) clamped() {
	for v := range m.b.Values {
		v := graph.Value(v)
		w, ok := m.of[v]
		if !ok || !m.clamps(m.a, w) || m.clamps(m.b, v) {
			continue
		}
		if list := m.restored(v); len(list) > 0 {
			delete(m.of, v)
			for _, d := range list {
				m.of[d] = w
			}
		}
	}
}

// clampedAfter pairs the values that are dequantized of v of b with the result of the clamp that follows w of a, the
// counterpart of v, if no clamp follows in b.
func (m *matcher) clampedAfter(v, w graph.Value) {
	if len(m.uses[m.a][w]) != 1 || slices.Contains(m.a.Out, w) {
		return
	}
	after := m.a.Nodes[m.uses[m.a][w][0]].Out[0]
	list := m.restored(v)
	for _, d := range list {
		for _, n := range m.uses[m.b][d] {
			if m.clamps(m.b, m.b.Nodes[n].Out[0]) {
				return
			}
		}
	}
	if m.clamps(m.a, after) && !m.used[after] {
		for _, d := range list {
			m.of[d], m.used[after] = after, true
		}
	}
}

// clamps reports whether a value is made by an operator that codes of a range can stand for.
func (m *matcher) clamps(g *graph.Graph, v graph.Value) bool {
	p := m.producers[g][v]
	if p < 0 {
		return false
	}
	switch g.Nodes[p].Op.(type) {
	case *op.Relu, *op.Clip:
		return true
	}
	return false
}

// restored are the values that are dequantized of v of b, if nothing else reads v or its codes; those with counterparts
// are none.
func (m *matcher) restored(v graph.Value) (list []graph.Value) {
	if slices.Contains(m.b.Out, v) {
		return nil
	}
	for _, q := range m.uses[m.b][v] {
		if _, ok := m.b.Nodes[q].Op.(*op.Quantize); !ok {
			return nil
		}
		for _, n := range m.uses[m.b][m.b.Nodes[q].Out[0]] {
			d := m.b.Nodes[n].Out[0]
			if _, ok := m.dequantized(m.b, d); !ok {
				return nil
			}
			if _, paired := m.of[d]; !paired {
				list = append(list, d)
			}
		}
	}
	return list
}

// structure pairs the results of nodes with equal operators and paired inputs.
func (m *matcher) structure() {
	type result struct {
		node int
		used bool
	}
	candidates := map[string][]*result{}
	for _, n := range orderOf(m.a) {
		k := m.key(m.a, n, func(v graph.Value) (graph.Value, bool) { return v, true })
		candidates[k] = append(candidates[k], &result{node: n})
	}
	for _, n := range orderOf(m.b) {
		k := m.key(m.b, n, func(v graph.Value) (graph.Value, bool) {
			if w, ok := m.of[v]; ok {
				return w, true
			}
			w, ok := m.of[m.before(v)]
			return w, ok
		})
		if k == "" {
			continue
		}
		for _, c := range candidates[k] {
			if c.used || m.used[m.a.Nodes[c.node].Out[0]] {
				continue
			}
			c.used = true
			for i := range min(len(m.a.Nodes[c.node].Out), len(m.b.Nodes[n].Out)) {
				m.pair(m.b.Nodes[n].Out[i], m.a.Nodes[c.node].Out[i])
			}
			if v, w := m.b.Nodes[n].Out[0], m.a.Nodes[c.node].Out[0]; m.of[v] == w {
				m.clampedAfter(v, w)
			}
			break
		}
	}
}

// key is what two nodes have in common that compute the same of the same values, "" when an input has no counterpart.
// Constants count as equal, since weights may be quantized in one of the forms.
func (m *matcher) key(g *graph.Graph, n int, counterpart func(graph.Value) (graph.Value, bool)) string {
	node := &g.Nodes[n]
	text := reflect.TypeOf(node.Op).String()
	some := false
	for _, v := range node.In {
		switch {
		case v == graph.None:
			text += " -"
		case m.constant(g, v):
			text += " c"
		default:
			w, ok := counterpart(v)
			if !ok {
				return ""
			}
			some = true
			text += fmt.Sprintf(" %d", w)
		}
	}
	if !some {
		return ""
	}
	return text
}

// before is the value that v of b is, but for being quantized and dequantized.
func (m *matcher) before(v graph.Value) graph.Value {
	if codes, ok := m.dequantized(m.b, v); ok {
		if q := m.producers[m.b][codes]; q >= 0 {
			if _, ok := m.b.Nodes[q].Op.(*op.Quantize); ok {
				return m.b.Nodes[q].In[0]
			}
		}
	}
	return v
}

// constant reports whether a value is one, or made of one by Dequantize.
func (m *matcher) constant(g *graph.Graph, v graph.Value) bool {
	if codes, ok := m.dequantized(g, v); ok {
		v = codes
	}
	return g.Values[v].Fact.Const != nil
}

// dequantized returns what Dequantize makes v of.
func (m *matcher) dequantized(g *graph.Graph, v graph.Value) (graph.Value, bool) {
	p := m.producers[g][v]
	if p < 0 {
		return v, false
	}
	_, ok := g.Nodes[p].Op.(*op.Dequantize)
	return g.Nodes[p].In[0], ok
}
