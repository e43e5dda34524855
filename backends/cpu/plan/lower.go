package plan

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
)

// lower makes the step of every node. Constants in their packed forms are ordered from packer. Kind fault.Memory when
// there is no room for them.
func lower(p *placed, packer *packer) (*lowered, error) {
	w := &lowering{lowered: &lowered{graph: p.net.graph, fused: p.fused, buffers: p.buffers, outputs: p.outputs},
		net: p.net, packer: packer}
	for _, n := range p.list {
		s := n.op.lower(w, n)
		s.node, s.kind, s.reads, s.writes, s.scratch = n.at, n.kind, n.reads, n.writes, none
		w.steps = append(w.steps, &s)
		if packer.err != nil {
			return nil, packer.err
		}
	}
	return w.lowered, nil
}

// window returns the table of win over images in buffer buf, of rows of cols values, which pack completes.
func (w *lowering) window(win kernel.Window, batch, buf, cols int) *windowTable {
	t := &windowTable{win: win, batch: batch, buf: buf, cols: cols}
	w.tables = append(w.tables, t)
	return t
}
