package expand

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/proto"
)

// program makes random functions whose nodes add, multiply, call one another and choose by a constant. Names are few,
// so that those of calls and branches are the same as those around them.
type program struct {
	rnd       *rand.Rand
	functions []*proto.Function
}

// body makes nodes that read the names that can be seen and make one more name each.
func (p *program) body(level, depth int, seen []string) (nodes []*proto.Node, names []string) {
	names = append(names, seen...)
	own := map[string]bool{}
	for range 2 + p.rnd.IntN(3) {
		out := string(rune('a' + p.rnd.IntN(5)))
		if own[out] {
			continue
		}
		pick := func() string { return names[p.rnd.IntN(len(names))] }
		in := []string{pick(), pick()}
		if in[0] == out || in[1] == out { // it would depend on itself
			continue
		}
		node := &proto.Node{OpType: []string{"Add", "Mul", "Sub"}[p.rnd.IntN(3)], In: in, Out: []string{out}}
		switch k := p.rnd.IntN(6); {
		case k == 0 && level < len(p.functions)-1:
			node.Domain, node.OpType = "own", p.functions[level+1+p.rnd.IntN(len(p.functions)-level-1)].Name
		case k <= 2 && depth > 0:
			c := fmt.Sprint("c", len(nodes))
			nodes = append(nodes, &proto.Node{OpType: "Constant", Out: []string{c},
				Attrs: attrs{"value_int": {I: int64(k - 1)}}})
			visible := []string{}
			for _, name := range names {
				if name != out {
					visible = append(visible, name)
				}
			}
			node.OpType, node.In, node.Attrs = "If", []string{c}, attrs{"then_branch": {G: p.branch(level, depth, visible)},
				"else_branch": {G: p.branch(level, depth, visible)}}
		}
		own[out] = true
		nodes = append(nodes, node)
		names = append(names, out)
	}
	// a name that is read before it is made anew would mean two values
	made := map[string]bool{}
	for i, n := range nodes {
		for _, m := range nodes[:i] {
			for _, name := range m.Needs() {
				made[name] = true
			}
		}
		if made[n.Out[0]] {
			return p.body(level, depth, seen)
		}
	}
	return nodes, names
}

func (p *program) branch(level, depth int, seen []string) *proto.Graph {
	nodes, names := p.body(level, depth-1, seen)
	return g("branch", "", names[len(names)-1], nodes...)
}

// environment maps names to values, by the definition of graphs and functions.
type environment struct {
	values map[string]int64
	around *environment
}

func (v *environment) get(name string) int64 {
	for at := v; at != nil; at = at.around {
		if x, ok := at.values[name]; ok {
			return x
		}
	}
	panic("no value " + name)
}

func (p *program) compute(nodes []*proto.Node, v *environment) {
	for _, n := range nodes {
		if n.Domain == "own" {
			for _, f := range p.functions {
				if f.Name == n.OpType {
					inner := &environment{values: map[string]int64{}}
					for i, name := range f.In {
						inner.values[name] = v.get(n.In[i])
					}
					p.compute(f.Nodes, inner)
					v.values[n.Out[0]] = inner.get(f.Out[0])
				}
			}
			continue
		}
		if n.OpType == "If" {
			b := n.Attrs["else_branch"].G
			if v.get(n.In[0]) != 0 {
				b = n.Attrs["then_branch"].G
			}
			inner := &environment{map[string]int64{}, v}
			p.compute(b.Nodes, inner)
			v.values[n.Out[0]] = inner.get(b.Out[0].Name)
			continue
		}
		v.values[n.Out[0]] = arithmetic(n, v.get)
	}
}

func arithmetic(n *proto.Node, get func(string) int64) int64 {
	switch n.OpType {
	case "Constant":
		return n.Attrs["value_int"].I
	case "Identity":
		return get(n.In[0])
	case "Add":
		return get(n.In[0]) + get(n.In[1])
	case "Sub":
		return get(n.In[0]) - get(n.In[1])
	case "Mul":
		return get(n.In[0]) * get(n.In[1])
	}
	panic(n.OpType)
}

// machine is a sink that computes each node as it comes, with nothing but its names.
type machine struct {
	recorder
	t      *testing.T
	values map[proto.Name]int64
}

func (m *machine) Node(q *proto.Instance) error {
	in := map[string]int64{}
	for i, name := range q.In {
		x, ok := m.values[name]
		require.True(m.t, ok, "no value %v", name)
		in[q.Node.In[i]] = x
	}
	out := arithmetic(q.Node, func(name string) int64 { return in[name] })
	_, taken := m.values[q.Out[0]]
	require.False(m.t, taken, "two values are named %v", q.Out[0])
	m.values[q.Out[0]] = out
	return m.recorder.Node(q)
}

func (m *machine) Alias(name, of proto.Name) error {
	m.values[name] = m.values[of]
	return m.recorder.Alias(name, of)
}

func TestExpander_randomPrograms(t *testing.T) {
	for seed := range uint64(400) {
		p := &program{rnd: rand.New(rand.NewPCG(seed, 7))}
		for i := range 4 {
			p.functions = append(p.functions, &proto.Function{Name: fmt.Sprint("F", i), Domain: "own", In: []string{"p", "q"}})
		}
		for i := range p.functions {
			nodes, names := p.body(i, 3, []string{"p", "q"})
			p.functions[i].Nodes, p.functions[i].Out = nodes, names[len(names)-1:]
		}
		call := &proto.Node{Domain: "own", OpType: "F0", In: []string{"a", "b"}, Out: []string{"c"}}
		v := &environment{values: map[string]int64{"a": 3, "b": 5}}
		p.compute([]*proto.Node{call}, v)

		e := New(p.functions)
		m := &machine{t: t, values: map[proto.Name]int64{{Text: "a"}: 3, {Text: "b"}: 5}}
		m.recorder = *newRecorder(e)
		main := g("main", "a b", "c", call)
		f, err := e.Graph(main, nil, 17)
		require.NoError(t, err)
		m.input(main)
		require.NoError(t, e.Nodes(f, main.Nodes, m))
		assert.Equal(t, v.values["c"], m.values[proto.Name{Text: "c"}], "seed %d", seed)
	}
}
