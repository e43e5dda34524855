package rknn

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"github.com/anynpu/anynpu/capi/devices"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/matrix"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// Matmul is an rknn_matmul_ctx: a matrix product C = A x B of certain types, layouts and sizes, and the memory it is
// computed in. Safe for concurrent use: calls follow one another. It serves as the context of the memory functions as
// well.
type Matmul struct {
	handle.Ref
	spec    matmulSpec
	shapes  []MatmulShape
	dynamic bool
	ctx     context.Context // is done when the product is being destroyed
	cancel  context.CancelFunc

	mu      sync.Mutex // guards what follows
	compute device.Multiplier
	device  string     // that multiplies
	current int        // index into shapes
	bound   [3]*memory // of A, B, C
	params  [3]matmulParams
	dumped  []MatmulShape                // sizes whose graph has been written
	notes   []func(time.Duration, error) // of the sizes, for a report; nil: none was made yet
}

// matmulCreate makes a product of one size (matmul notes, sections 1 and 8).
func matmulCreate(infoAddr unsafe.Pointer, attr *spec.MatmulIOAttr) (*Matmul, error) {
	info, err := infoAt(infoAddr)
	if err != nil {
		return nil, err
	}
	m, err := newMatmul(info, []MatmulShape{{info.M, info.K, info.N}}, false)
	if err != nil {
		return nil, err
	}
	*attr = m.spec.ioAttr(m.shapes[0])
	return m, nil
}

// matmulCreateDynamicShape makes a product of any of several sizes, the first at the beginning; those of info are not
// looked at.
func matmulCreateDynamicShape(infoAddr unsafe.Pointer, shapes []MatmulShape,
	attrs []spec.MatmulIOAttr) (*Matmul, error) {
	info, err := infoAt(infoAddr)
	if err != nil {
		return nil, err
	}
	m, err := newMatmul(info, shapes, true)
	if err != nil {
		return nil, err
	}
	for i, s := range m.shapes {
		attrs[i] = m.spec.ioAttr(s)
	}
	return m, nil
}

// matmulCreateDynShape is the name that matmulCreateDynamicShape had at first.
func matmulCreateDynShape(info unsafe.Pointer, shapes []MatmulShape, attrs []spec.MatmulIOAttr) (*Matmul, error) {
	return matmulCreateDynamicShape(info, shapes, attrs)
}

func newMatmul(info *spec.MatmulInfo, shapes []MatmulShape, dynamic bool) (*Matmul, error) {
	m := &Matmul{dynamic: dynamic}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	var err error
	if m.spec, err = specOf(info); err != nil {
		return nil, err
	}
	for i, s := range shapes {
		where := "info->"
		if dynamic {
			where = shapeName(i)
		}
		if err := m.spec.checkShape(where, s); err != nil {
			return nil, err
		}
		m.shapes = append(m.shapes, s)
	}
	m.compute, m.device, err = multiplier()
	return m, err
}

// multiplier is a share of the first device that multiplies matrices, and the device's name.
func multiplier() (m device.Multiplier, id string, err error) {
	list, err := devices.List()
	if err != nil {
		return nil, "", err
	}
	for _, d := range list {
		if d, ok := d.(device.MatrixMultiplier); ok {
			return d.Multiplier(device.PriorityMedium), d.Info().ID, nil
		}
	}
	return nil, "", fault.New(fault.Unsupported, "no device multiplies matrices [rknn-no-device-multiplies]")
}

// matmulSetCoreMask checks the mask against the board, as rknn_set_core_mask does.
func matmulSetCoreMask(_ *Matmul, mask CoreMask) error { return checkCoreMask(board(), mask) }

// matmulDestroy waits for calls under way. Bound memory stays.
func matmulDestroy(h uintptr) error {
	if h == 0 {
		return fault.Wrap(handle.ErrNull, "ctx")
	}
	for {
		m, err := handle.Close[Matmul](h)
		if err == nil {
			m.cancel()
			m.compute.Release()
			handle.Drop(m)
			return nil
		}
		if !errors.Is(err, handle.ErrBusy) {
			return fault.Wrap(err, "ctx: %#x", h)
		}
		if m, err := handle.Hold[Matmul](h); err == nil {
			await(&m.mu, m.cancel)
			handle.Unhold(h)
		}
		runtime.Gosched()
	}
}

// matmulParams are the quantization parameters of a matrix; empty ones mean scale 1 and zero point 0.
type matmulParams struct {
	scale matrix.Params[float32]
	zero  matrix.Params[int32]
}

func shapeName(i int) string { return fmt.Sprintf("dynamic_shapes[%d].", i) }
