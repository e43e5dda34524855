package ir

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
)

// The text of a pass's result has a line per node or step. Values are v0, v1, ...; nodes of the graph n0, n1, ...;
// buffers b0, b1, ...

// String lists the nodes that are left.
func (x *Loaded) String() string {
	var t strings.Builder
	for _, i := range x.Order {
		x.writeNode(&t, i)
	}
	return t.String()
}

func (x *Loaded) writeNode(t *strings.Builder, i int) {
	n := &x.Graph.Nodes[i]
	fmt.Fprintf(t, "n%d %s(%s)", i, graph.NameOf(n.Op), valuesText(n.In))
	for k, v := range n.Out {
		if v != graph.None {
			fmt.Fprintf(t, "%s v%d %v", [...]string{" ->", ","}[min(k, 1)], v, x.Values[v].Type)
		}
	}
	t.WriteString("\n")
}

// String lists the nodes that are left, and the values that are constants.
func (g *Network) String() string {
	var t strings.Builder
	for v := range g.Uses {
		if x := &g.Values[v]; x.Data != nil && len(g.Uses[v]) > 0 {
			fmt.Fprintf(&t, "v%d %v constant\n", v, x.Type)
		}
	}
	for _, i := range g.Order {
		switch {
		case g.Held[i]:
			t.WriteString("held: ")
		case g.Done[i]:
			continue
		}
		g.writeNode(&t, i)
	}
	return t.String()
}

// String lists the operations that are found, and the nodes of the graph that have none yet.
func (p *Program) String() string {
	var t strings.Builder
	for _, i := range p.Net.Order {
		for _, n := range p.At[i] {
			fmt.Fprintf(&t, "%s(%s) -> %s", n.text(), valuesText(n.In), valuesText(n.Out))
			for _, v := range n.Out {
				if c, ok := p.Params[v]; ok {
					fmt.Fprintf(&t, " codes %v*(q-%d)", c.Scale, c.Zero)
				}
			}
			if n.Waits {
				t.WriteString(", waits")
			}
			t.WriteString("\n")
		}
		if !p.Net.Done[i] {
			t.WriteString("open: ")
			p.Net.writeNode(&t, i)
		}
	}
	return t.String()
}

// text names the nodes of the graph that n stands for, and what computes them.
func (n *Node) text() string {
	var t strings.Builder
	if n.At != run.None {
		fmt.Fprintf(&t, "n%d", n.At)
	}
	for _, i := range n.fused {
		fmt.Fprintf(&t, "+n%d", i)
	}
	if t.Len() > 0 {
		t.WriteString(" ")
	}
	if s, ok := n.Op.(fmt.Stringer); ok {
		fmt.Fprintf(&t, "%s {%v}", n.Kind, s)
	} else {
		t.WriteString(n.Kind)
	}
	return t.String()
}

// String lists the operations with the buffers of their operands, conversions among them.
func (p *Placed) String() string {
	var t strings.Builder
	for _, n := range p.list {
		fmt.Fprintf(&t, "%s(%s) -> %s\n", n.text(), formsText(p.buffers, n.Reads), formsText(p.buffers, n.Writes))
	}
	for i, o := range p.outputs {
		fmt.Fprintf(&t, "output %d: %s\n", i, formsText(p.buffers, []int{o.Buf}))
	}
	return t.String()
}

// String lists the steps with their demands on buffers.
func (x *Lowered) String() string {
	var t strings.Builder
	for _, s := range x.Steps {
		s.Write(&t)
		if s.Inplace {
			t.WriteString(", may be in place")
		}
		if slices.Max(append(slices.Clone(s.InCols), 0)) > 0 || slices.Max(append(slices.Clone(s.OutCols), 0)) > 0 {
			fmt.Fprintf(&t, ", rows of %v -> %v", s.InCols, s.OutCols)
		}
		if s.Room > 0 {
			fmt.Fprintf(&t, ", %d bytes for itself", s.Room)
		}
		t.WriteString("\n")
	}
	return t.String()
}

// String lists the forms of constants that were made.
func (k *Packer) String() string {
	var t strings.Builder
	for _, j := range k.jobs {
		fmt.Fprintf(&t, "n%d v%d: %s, %d values\n", j.form.Node, j.Value, j.form.Kind, j.Len)
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

func formsText(buffers []run.Buffer, list []int) string {
	var t []string
	for _, x := range list {
		t = append(t, fmt.Sprintf("b%d %s", x, buffers[x].Form))
	}
	return strings.Join(t, ", ")
}
