package device

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Placement says, for each node of a compiled graph, which device computes it and why the others do not.
type Placement struct {
	Model string          `json:"model"`
	Parts []PartPlacement `json:"parts"`
	Forms []FormPlacement `json:"compiled,omitempty"` // compiled forms of the model that were considered, in order
	Nodes []NodePlacement `json:"nodes"`
	Edges []Edge          `json:"edges,omitempty"` // what the nodes take from one another
}

// PartPlacement is one program on one device.
type PartPlacement struct {
	Device string `json:"device"`
	Nodes  int    `json:"nodes"`
}

// FormPlacement says what became of a compiled form of the model.
type FormPlacement struct {
	File      string `json:"file"`
	Container string `json:"container"`
	Target    string `json:"target,omitempty"`
	Device    string `json:"device,omitempty"` // that takes such forms
	Used      bool   `json:"used"`
	Reason    string `json:"reason,omitempty"` // why it is not used
}

// NodePlacement is the place of one node.
type NodePlacement struct {
	Origin  int       `json:"origin"` // index of the operator in the program's own model, -1: made by us
	Op      string    `json:"op"`
	Name    string    `json:"name,omitempty"`
	Within  string    `json:"within,omitempty"` // the composite operator that was decomposed to this node
	Device  string    `json:"device"`
	Part    int       `json:"part"` // index in Parts
	Refused []Refusal `json:"refused,omitempty"`
}

// Refusal is why a device that was preferred does not compute a node.
type Refusal struct {
	Device string `json:"device"`
	Reason string `json:"reason"`
}

// Fallbacks returns the number of nodes that a preferred device has refused.
func (p *Placement) Fallbacks() int {
	n := 0
	for i := range p.Nodes {
		if len(p.Nodes[i].Refused) > 0 {
			n++
		}
	}
	return n
}

// Summary returns one line: the number of nodes per device in order of the parts.
func (p *Placement) Summary() string {
	var order []string
	count := map[string]int{}
	for i := range p.Nodes {
		d := p.Nodes[i].Device
		if count[d] == 0 {
			order = append(order, d)
		}
		count[d]++
	}
	parts := make([]string, len(order))
	for i, d := range order {
		parts[i] = fmt.Sprintf("%s: %d", d, count[d])
	}
	for _, f := range p.Forms {
		if f.Used {
			return fmt.Sprintf("compiled form %s on %s", f.File, f.Device)
		}
	}
	return fmt.Sprintf("%s in %s (%s), %s", counted(len(p.Nodes), "node"), counted(len(p.Parts), "part"),
		strings.Join(parts, ", "), counted(p.Fallbacks(), "fallback"))
}

// String returns a line for logs: `operator 3 conv "stem": npu0`, `operator 4 gelu: cpu (npu0: no kernel)`.
func (n *NodePlacement) String() string {
	var b strings.Builder
	if n.Origin >= 0 {
		fmt.Fprintf(&b, "operator %d ", n.Origin)
	}
	b.WriteString(n.Op)
	if n.Name != "" {
		fmt.Fprintf(&b, " %q", n.Name)
	}
	if n.Within != "" {
		fmt.Fprintf(&b, " of %s", n.Within)
	}
	fmt.Fprintf(&b, ": %s", n.Device)
	for i, r := range n.Refused {
		sep := "; "
		if i == 0 {
			sep = " ("
		}
		fmt.Fprintf(&b, "%s%s: %s", sep, r.Device, r.Reason)
	}
	if len(n.Refused) > 0 {
		b.WriteByte(')')
	}
	return b.String()
}

// JSON returns the placement as one JSON object with the field names above.
func (p *Placement) JSON() []byte {
	data, err := json.Marshal(p)
	if err != nil {
		panic("device: a placement has no JSON form: " + err.Error())
	}
	return data
}

// counted is a number of things: "1 node", "2 nodes".
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
