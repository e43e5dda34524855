package hbdnn

import (
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
)

// A piece is the memory of one tensor of a program, which stays until the task is done.
type piece struct {
	buf    mem.Buffer
	chroma mem.Buffer // the pairs of NV12_SEPARATE, nil: all others
	batch  int64      // of the model's batch
	pitch  int64      // bytes of a row of an image, 0: all others
	dense  bool       // no gaps, although the port has some
	source *picture   // of which the region is scaled to the model's size, nil: the model takes buf
	region op.Region
}

// bound is the program's memory for one port: a tensor, or one for each of the batch.
type bound []piece

func (b bound) release() {
	for _, p := range b {
		p.release()
	}
}

func (p *piece) release() {
	if p.source != nil {
		p.source.release()
		return
	}
	p.buf.Release()
	if p.chroma != nil {
		p.chroma.Release()
	}
}

// flush flushes all memory of a port.
func (b bound) flush(flag int32) {
	for i := range b {
		if p := b[i].source; p != nil {
			api.FlushBoard(p.luma, flag)
			api.FlushBoard(p.chroma, flag)
			continue
		}
		api.FlushBoard(b[i].buf, flag)
		api.FlushBoard(b[i].chroma, flag)
	}
}
