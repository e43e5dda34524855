package device

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// An Edge is a value that a node takes or that the program gives; constants have none.
type Edge struct {
	Value int    `json:"value"` // edges of one value have the same
	From  int    `json:"from"`  // index in Placement.Nodes, -1: an input of the program
	To    int    `json:"to"`    // likewise, -1: an output
	Name  string `json:"name,omitempty"`
	Type  string `json:"type"` // element type and sizes: "float32[1,8]"
}

// colors are how many colors the Brewer scheme set3 has.
const colors = 12

// DOT returns the executed graph in the language of Graphviz (graphviz.org, DOT Language): a cluster for each part, a
// color for each device, refusals as tooltips, and edges labeled with types, bold between parts. Names are quoted, what
// cannot be printed in them becomes U+FFFD.
func (p *Placement) DOT() string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n\tnode [shape=box, style=filled, fillcolor=white];\n", quoted(p.Model))
	var devices []string
	for i, part := range p.Parts {
		k := slices.Index(devices, part.Device)
		if k < 0 {
			k = len(devices)
			devices = append(devices, part.Device)
		}
		fmt.Fprintf(&b, "\tsubgraph cluster_%d {\n\t\tlabel=%s;\n", i, quoted(fmt.Sprintf("part %d on %s", i, part.Device)))
		for n := range p.Nodes {
			if p.Nodes[n].Part != i {
				continue
			}
			fmt.Fprintf(&b, "\t\tn%d [label=%s, fillcolor=\"/set3%d/%d\", tooltip=%s];\n", n, quoted(p.Nodes[n].label()),
				colors, k%colors+1, quoted(p.Nodes[n].String()))
		}
		b.WriteString("\t}\n")
	}
	told := map[string]bool{}
	port := func(kind string, e *Edge) string {
		id := fmt.Sprintf("%s%d", kind, e.Value)
		if !told[id] {
			told[id] = true
			fmt.Fprintf(&b, "\t%s [label=%s, shape=ellipse];\n", id, quoted(e.Name))
		}
		return id
	}
	for i := range p.Edges {
		e := &p.Edges[i]
		if e.From >= len(p.Nodes) || e.To >= len(p.Nodes) {
			continue // of a saved program that is not as it was
		}
		from, to, style := fmt.Sprintf("n%d", e.From), fmt.Sprintf("n%d", e.To), ""
		if e.From < 0 {
			from = port("in", e)
		}
		if e.To < 0 {
			to = port("out", e)
		}
		if e.From >= 0 && e.To >= 0 && p.Nodes[e.From].Part != p.Nodes[e.To].Part {
			style = ", style=bold"
		}
		fmt.Fprintf(&b, "\t%s -> %s [label=%s%s];\n", from, to, quoted(e.Type), style)
	}
	b.WriteString("}\n")
	return b.String()
}

// label is the operator and its name.
func (n *NodePlacement) label() string {
	if n.Name == "" {
		return n.Op
	}
	return n.Op + "\n" + n.Name
}

// quoted is s as a string of DOT, in which a backslash is none of an escape.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s { // what is no UTF-8 comes as U+FFFD
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsControl(r):
			b.WriteRune(unicode.ReplacementChar)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}
