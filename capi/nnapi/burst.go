package nnapi

import (
	"sync"

	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/device"
)

// Burst is an ANeuralNetworksBurst: computations of one compilation, one after the other.
type Burst struct {
	handle.Ref
	*compiled
	busy sync.Mutex   // held during a computation
	runs device.Burst // what devices know of it
}

func burstCreate(c *Compilation) (*Burst, error) {
	result, err := c.use()
	if err != nil {
		return nil, err
	}
	return &Burst{compiled: result}, nil
}

func burstFree(b *Burst) error {
	if b != nil {
		b.runs.End()
		b.compiled.release()
	}
	return nil
}

func executionBurstCompute(e *Execution, b *Burst) error {
	if e.compiled != b.compiled {
		return badData("burst: it is of another compilation than the execution [nnapi-burst-another-compilation]")
	}
	if !b.busy.TryLock() {
		return badState("burst: it is computing already [nnapi-burst-computing-already]")
	}
	defer b.busy.Unlock()
	return e.computeNow(&b.runs)
}
