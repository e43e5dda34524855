package device

import (
	"context"

	"github.com/anynpu/anynpu/core/matrix"
)

// MatrixMultiplier is a device that also multiplies matrices that no graph holds.
type MatrixMultiplier interface {
	Device
	// Multiplier returns a share of the device that computes with the priority and the limits of executions, to be given
	// back with Release.
	Multiplier(p Priority) Multiplier
}

// Multiplier multiplies matrices. One goroutine at a time.
type Multiplier interface {
	// Multiply computes p.C. The elements of A and B are read while it runs, each at least once; C must not overlap them.
	// Sizes that do not fit each other, and memory that cannot be read or written, panic on the calling goroutine. The
	// error comes from ctx, or from memory that the device lacks.
	Multiply(ctx context.Context, p *matrix.Product) error
	Release()
}
