package ir

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
)

// Lower makes the step of every node. Constants in their packed forms are ordered from packer. Kind fault.Memory when
// there is no room for them.
func Lower(p *Placed, packer *Packer) (*Lowered, error) {
	w := &Lowering{Lowered: &Lowered{Graph: p.Net.Graph, Fused: p.fused, Buffers: p.buffers, Outputs: p.outputs},
		Net: p.Net, Packer: packer}
	for _, n := range p.list {
		s := n.Op.Lower(w, n)
		s.Node, s.Kind, s.Reads, s.Writes, s.Scratch = n.At, n.Kind, n.Reads, n.Writes, run.None
		w.Steps = append(w.Steps, &s)
		if packer.err != nil {
			return nil, packer.err
		}
	}
	return w.Lowered, nil
}

// Window returns the table of win over images in buffer buf, of rows of cols values, which pack completes.
func (w *Lowering) Window(win kernel.Window, batch, buf, cols int) *run.WindowTable {
	t := &run.WindowTable{Win: win, Batch: batch, Buf: buf, Cols: cols}
	w.Tables = append(w.Tables, t)
	return t
}
