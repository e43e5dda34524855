// Package watch tells the record of a report, where there is one, what the layers below the boundary do: models,
// graphs, runs, and what is left at the end.
package watch

import (
	"cmp"
	"strings"
	"time"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/io"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/model"
	"github.com/anynpu/anynpu/core/record"
)

func init() {
	r := boundary.Recorder()
	if r == nil {
		return
	}
	model.Loaded = func(m *model.Model) { r.Loaded(loaded(m)) }
	compile.Watch = func(p *compile.Program) func(time.Duration, error) { return r.Graph(graph(p.Placement())) }
	io.Converted = r.Converted
	boundary.AtEnd(func(r *record.Recorder) { r.End(left()) })
}

func loaded(m *model.Model) record.Model {
	out := record.Model{Name: m.Path, Bytes: m.Size}
	digits := ""
	if m.Digest != "" {
		digits = "bytes " + m.Digest[:12]
	}
	if m.Path == "" {
		out.Name = strings.TrimSpace(m.Graph.Name + " " + digits)
	}
	if m.Instead != nil {
		out.Instead, out.Map = cmp.Or(digits, m.Instead.Name), string(m.Instead.Map)
		if c := m.Instead.Compiled; c != nil {
			out.Targets = c.Targets
		}
	}
	return out
}

func graph(p *device.Placement) record.Graph {
	g := record.Graph{Name: p.Model}
	at := map[string]int{}
	seen := map[record.Refusal]bool{}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		k, known := at[n.Device]
		if !known {
			k = len(g.Devices)
			at[n.Device] = k
			g.Devices = append(g.Devices, record.Device{Name: n.Device})
		}
		g.Devices[k].Operators++
		for _, no := range n.Refused {
			why := record.Refusal{Operator: n.Op, Device: no.Device, Reason: no.Reason}
			if !seen[why] {
				seen[why] = true
				g.Refused = append(g.Refused, why)
			}
		}
	}
	return g
}

func left() record.Left {
	l := record.Left{Objects: []string{}}
	for _, kind := range handle.LiveByKind() {
		l.Objects = append(l.Objects, strings.TrimPrefix(kind, "*"))
	}
	l.Buffers, l.Bytes = mem.Live()
	return l
}
