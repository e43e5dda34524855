package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// write lists the nodes of the model and of its functions.
func (m *modelGraphs) write(w io.Writer) {
	printf(w, "nodes\n")
	m.Main.write(w, "  ")
	for i := range m.Functions {
		f := &m.Functions[i]
		printf(w, "function    %s\n", f.Name)
		f.ports(w, "  ")
		f.write(w, "  ")
	}
}

// ports lists the inputs and outputs of a body or function.
func (g *graphInfo) ports(w io.Writer, indent string) {
	for _, p := range g.Inputs {
		printf(w, "%sinput   %s\n", indent, named(p.Name, p.typeText()))
	}
	for _, p := range g.Outputs {
		printf(w, "%soutput  %s\n", indent, named(p.Name, p.typeText()))
	}
}

// named is a name with its description, in columns where names are short.
func named(name, what string) string { return fmt.Sprintf("%-24s %s", name, what) }

func (g *graphInfo) write(w io.Writer, indent string) {
	read := map[*constantInfo]bool{}
	g.readBy(read)
	for i := range g.Nodes {
		g.Nodes[i].write(w, indent)
	}
	for _, c := range g.Initializers {
		if !read[c] {
			printf(w, "%snot read by a node: %s\n", indent, named(c.Name, c.text()))
		}
	}
	if g.Sparse > 0 {
		printf(w, "%s%s\n", indent, counted(g.Sparse, "sparse initializer"))
	}
}

// readBy notes the constants that nodes read, those of bodies included.
func (g *graphInfo) readBy(read map[*constantInfo]bool) {
	for i := range g.Nodes {
		for _, o := range g.Nodes[i].Inputs {
			read[o.constant] = true
		}
		for _, a := range g.Nodes[i].Attributes {
			for k := range a.Graphs {
				a.Graphs[k].readBy(read)
			}
		}
	}
}

func (n *nodeInfo) write(w io.Writer, indent string) {
	printf(w, "%s%4d  %s", indent, n.Index, n.Op)
	if n.Name != "" {
		printf(w, "  %s", n.Name)
	}
	printf(w, "\n")
	indent += "      "
	for _, side := range []struct {
		what string
		list []operandInfo
	}{{"in", n.Inputs}, {"out", n.Outputs}} {
		for i := range side.list {
			o := &side.list[i]
			switch {
			case o.Name == "":
				printf(w, "%s%-4s-\n", indent, side.what)
			case o.constant != nil:
				printf(w, "%s%-4s%s\n", indent, side.what, named(o.Name, o.constant.text()))
			default:
				printf(w, "%s%-4s%s\n", indent, side.what, named(o.Name, o.typeText()))
			}
		}
	}
	for i := range n.Attributes {
		n.Attributes[i].write(w, indent)
	}
}

func (a *attributeInfo) write(w io.Writer, indent string) {
	if a.Graphs == nil {
		printf(w, "%s%s = %s\n", indent, a.Name, a.text())
		return
	}
	for i := range a.Graphs {
		g := &a.Graphs[i]
		printf(w, "%s%s = graph %s\n", indent, a.Name, g.Name)
		g.ports(w, indent+"  ")
		g.write(w, indent+"  ")
	}
}

// text is the value of an attribute for a reader, cut where it is long.
func (a *attributeInfo) text() string {
	if a.Tensor != nil {
		return a.Tensor.text()
	}
	switch v := a.Value.(type) {
	case string:
		if a.Type == "reference" {
			return "the function's attribute " + v
		}
		return cutText(v, a.Count)
	case int64:
		return strconv.FormatInt(v, 10)
	case json.RawMessage:
		return string(v)
	case []int64:
		return firstOf(v, a.Count, func(n int64) string { return strconv.FormatInt(n, 10) })
	case []json.RawMessage:
		return firstOf(v, a.Count, func(n json.RawMessage) string { return string(n) })
	case []string:
		return firstOf(v, a.Count, func(s string) string { return cutText(s, len(s)) })
	}
	return "(" + a.Type + ")"
}

// cutText quotes a text of so many bytes, of which s has the first.
func cutText(s string, bytes int) string {
	if bytes <= maxBytesShown {
		return strconv.Quote(s)
	}
	return strconv.Quote(s[:min(len(s), maxBytesShown)]) + fmt.Sprintf(" ... (%d bytes)", bytes)
}

// firstOf lists the first of count elements.
func firstOf[T any](list []T, count int, text func(T) string) string {
	var parts []string
	for _, v := range list[:min(len(list), maxListShown)] {
		parts = append(parts, text(v))
	}
	if count > len(parts) {
		return fmt.Sprintf("[%s, ... (%d elements)]", strings.Join(parts, ", "), count)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// text is type, sizes and elements of a constant: all of a small one, statistics of others.
func (c *constantInfo) text() string {
	sizes := make([]string, len(c.Sizes))
	for i, n := range c.Sizes {
		sizes[i] = strconv.FormatInt(n, 10)
	}
	text := orUnknown(c.Type) + "[" + strings.Join(sizes, ",") + "]"
	switch {
	case c.Error != "":
		return text + "  not read: " + c.Error
	case c.Values != nil:
		text += "  = " + firstOf(c.Values, len(c.Values), func(v json.RawMessage) string { return string(v) })
		if c.NaN+c.Inf == 0 {
			return text
		}
		return text + "  " + c.statistics.text()
	case c.statistics != nil:
		return text + "  " + c.statistics.text()
	}
	return text
}
