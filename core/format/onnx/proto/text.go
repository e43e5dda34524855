package proto

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Text lists the nodes of a graph, a line each, with those of the bodies below them.
func (g *Graph) Text() string {
	var b strings.Builder
	g.text(&b, "")
	return b.String()
}

func (g *Graph) text(b *strings.Builder, indent string) {
	names := func(vs []*ValueInfo) string {
		var list []string
		for _, v := range vs {
			list = append(list, v.Name)
		}
		return strings.Join(list, ", ")
	}
	fmt.Fprintf(b, "%sgraph %s(%s)\n", indent, g.Name, names(g.In))
	for _, t := range g.Inits {
		fmt.Fprintf(b, "%s  %s = %s\n", indent, t.Name, t.Text())
	}
	for _, n := range g.Nodes {
		n.text(b, indent+"  ", plain(n.In), plain(n.Out))
	}
	fmt.Fprintf(b, "%s  return %s\n", indent, names(g.Out))
}

// Text is the line of a node with those of its bodies below it. A name of a frame has the frame's number behind it.
func (q *Instance) Text() string {
	var b strings.Builder
	q.Node.text(&b, "", q.In, q.Out)
	return b.String()
}

func (n *Node) text(b *strings.Builder, indent string, in, out []Name) {
	fmt.Fprintf(b, "%s%s = %s(%s)", indent, nameTexts(out), n.Operator(), nameTexts(in))
	if n.Name != "" {
		fmt.Fprintf(b, " %q", n.Name)
	}
	for _, key := range slices.Sorted(maps.Keys(n.Attrs)) {
		fmt.Fprintf(b, " %s=%s", key, n.Attrs[key].text())
	}
	b.WriteString("\n")
	for _, g := range n.Bodies() {
		g.text(b, indent+"  ")
	}
}

func plain(names []string) []Name {
	list := make([]Name, len(names))
	for i, name := range names {
		list[i].Text = name
	}
	return list
}

// String is the name with the number of its frame behind it, "_" for no value.
func (n Name) String() string {
	switch {
	case n == Name{}:
		return "_"
	case n.Frame == 0:
		return n.Text
	}
	return fmt.Sprintf("%s'%d", n.Text, n.Frame)
}

func nameTexts(names []Name) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = name.String()
	}
	return strings.Join(list, ", ")
}

// text is the value of an attribute, told by the field that is set.
func (a *Attribute) text() string {
	switch {
	case a.Ref != "":
		return "$" + a.Ref
	case a.G != nil:
		return a.G.Name
	case a.T != nil:
		return a.T.Text()
	case a.Ints != nil:
		return fmt.Sprint(a.Ints)
	case a.Floats != nil:
		return fmt.Sprint(a.Floats)
	case a.S != nil:
		return fmt.Sprintf("%q", a.S)
	case a.F != 0:
		return fmt.Sprint(a.F)
	}
	return fmt.Sprint(a.I)
}

// Text is the type of a tensor, and its elements where they are few integers.
func (t *Tensor) Text() string {
	s := fmt.Sprintf("type %d%v", t.DType, t.Dims)
	if d, err := DTypeOf(t.DType); err == nil {
		s = fmt.Sprintf("%v%v", d, t.Dims)
	}
	if len(t.Ints) > 0 && len(t.Ints) <= 8 {
		s += fmt.Sprint(t.Ints)
	}
	return s
}
