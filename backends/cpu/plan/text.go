package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/graph"
)

// The text of what a pass makes has a line per node or step. Values are v0, v1, ...; nodes of the graph n0, n1, ...;
// buffers b0, b1, ...

// String lists the nodes that are left.
func (x *loaded) String() string {
	var t strings.Builder
	for _, i := range x.order {
		x.writeNode(&t, i)
	}
	return t.String()
}

func (x *loaded) writeNode(t *strings.Builder, i int) {
	n := &x.graph.Nodes[i]
	fmt.Fprintf(t, "n%d %s(%s)", i, graph.NameOf(n.Op), valuesText(n.In))
	for k, v := range n.Out {
		if v != graph.None {
			fmt.Fprintf(t, "%s v%d %v", [...]string{" ->", ","}[min(k, 1)], v, x.values[v].typ)
		}
	}
	t.WriteString("\n")
}

// String lists the nodes that are left, and the values that are constants.
func (g *network) String() string {
	var t strings.Builder
	for v := range g.uses {
		if x := &g.values[v]; x.data != nil && len(g.uses[v]) > 0 {
			fmt.Fprintf(&t, "v%d %v constant\n", v, x.typ)
		}
	}
	for _, i := range g.order {
		switch {
		case g.held[i]:
			t.WriteString("held: ")
		case g.done[i]:
			continue
		}
		g.writeNode(&t, i)
	}
	return t.String()
}

// String lists the operations that are found, and the nodes of the graph that have none yet.
func (p *program) String() string {
	var t strings.Builder
	for _, i := range p.net.order {
		for _, n := range p.at[i] {
			fmt.Fprintf(&t, "%s(%s) -> %s", n.text(), valuesText(n.in), valuesText(n.out))
			for _, v := range n.out {
				if c, ok := p.params[v]; ok {
					fmt.Fprintf(&t, " codes %v*(q-%d)", c.scale, c.zero)
				}
			}
			if n.waits {
				t.WriteString(", waits")
			}
			t.WriteString("\n")
		}
		if !p.net.done[i] {
			t.WriteString("open: ")
			p.net.writeNode(&t, i)
		}
	}
	return t.String()
}

// text is what a node is: nodes of the graph, and what computes them.
func (n *node) text() string {
	var t strings.Builder
	if n.at != none {
		fmt.Fprintf(&t, "n%d", n.at)
	}
	for _, i := range n.fused {
		fmt.Fprintf(&t, "+n%d", i)
	}
	if t.Len() > 0 {
		t.WriteString(" ")
	}
	if s, ok := n.op.(fmt.Stringer); ok {
		fmt.Fprintf(&t, "%s {%v}", n.kind, s)
	} else {
		t.WriteString(n.kind)
	}
	return t.String()
}

// String lists the operations with the buffers of their operands, conversions among them.
func (p *placed) String() string {
	var t strings.Builder
	for _, n := range p.list {
		fmt.Fprintf(&t, "%s(%s) -> %s\n", n.text(), formsText(p.buffers, n.reads), formsText(p.buffers, n.writes))
	}
	for i, o := range p.outputs {
		fmt.Fprintf(&t, "output %d: %s\n", i, formsText(p.buffers, []int{o.buf}))
	}
	return t.String()
}

// String lists the steps with what they ask of their buffers.
func (x *lowered) String() string {
	var t strings.Builder
	for _, s := range x.steps {
		s.write(&t)
		if s.inplace {
			t.WriteString(", may be in place")
		}
		if slices.Max(append(slices.Clone(s.inCols), 0)) > 0 || slices.Max(append(slices.Clone(s.outCols), 0)) > 0 {
			fmt.Fprintf(&t, ", rows of %v -> %v", s.inCols, s.outCols)
		}
		if s.room > 0 {
			fmt.Fprintf(&t, ", %d bytes for itself", s.room)
		}
		t.WriteString("\n")
	}
	return t.String()
}

// String lists the forms of constants that were made.
func (k *packer) String() string {
	var t strings.Builder
	for _, j := range k.jobs {
		fmt.Fprintf(&t, "n%d v%d: %s, %d values\n", j.form.node, j.value, j.form.kind, j.len)
	}
	return t.String()
}

func valuesText(vs []graph.Value) string {
	var list []string
	for _, v := range vs {
		if v == graph.None {
			list = append(list, "-")
		} else {
			list = append(list, fmt.Sprint("v", v))
		}
	}
	return strings.Join(list, ", ")
}

func formsText(buffers []buffer, list []int) string {
	var t []string
	for _, x := range list {
		t = append(t, fmt.Sprintf("b%d %s", x, buffers[x].form))
	}
	return strings.Join(t, ", ")
}
