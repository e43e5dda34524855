package rknn

import (
	"sync/atomic"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/model"
)

// sharedModel is shared by contexts that were duplicated from one another.
type sharedModel struct {
	refs    atomic.Int32
	run     *runnable
	base    *baseGraph
	meta    *metadata.Metadata
	board   target
	in, out []*port
	dynamic bool
	shapes  []model.ShapeSet // at least one; the last of a static model is its only one
	largest int              // index into shapes
	rows    []map[int]row    // for each set of shapes what the table of times says of operators, nil: it was not asked for
	size    int64            // bytes of the model as it was handed over
	weights int64            // bytes of the constants
	inner   int64            // bytes of all intermediate results at the largest shapes

	told struct{ bytes, order, planes, repeats atomic.Bool } // warnings that were given
}

func (m *sharedModel) retain() { m.refs.Add(1) }

func (m *sharedModel) release() {
	if m.refs.Add(-1) == 0 {
		m.run.program.Release()
		m.base.release()
	}
}

// quantizes reports whether models compute with codes where their metadata, or an .rknn file, say so.
func quantizes() bool {
	switch v := boundary.Getenv("ANYNPU_RKNN_QUANTIZE"); v {
	case "off":
		return false
	case "", "on":
	default:
		caution("value ignored [rknn-value-ignored]", "ANYNPU_RKNN_QUANTIZE", v, "want", "on or off", "used", "on")
	}
	return true
}
