package nnapi

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
)

// keeper is a program whose runs keep something for their burst. It notes the bursts.
type keeper struct {
	device.Program
	got   []*device.Burst
	ended int
}

func (p *keeper) New(o device.ExecOptions) (device.Execution, error) {
	e, err := p.Program.New(o)
	return &keeping{e, p}, err
}

type keeping struct {
	device.Execution
	p *keeper
}

func (e *keeping) Start(r device.RunRequest) error {
	e.p.got = append(e.p.got, r.Burst)
	if r.Burst != nil {
		r.Burst.Keep(e.p, func() { e.p.ended++ })
	}
	return e.Execution.Start(r)
}

// TestExecution_handsBurstsOn: devices know which runs are of one burst, and learn its end while the compiled model is
// still there.
func TestExecution_handsBurstsOn(t *testing.T) {
	c := compiledFor(t, sumOfProducts(t, 3), withGuises(t, "")[:1], true)
	p := &keeper{Program: c.result.whole.program}
	c.result.whole.program = p
	x, y, z := []float32{1, 2, 3}, []float32{4, 5, 6}, make([]float32, 3)
	e := bound(t, c, x, y, z)
	one, err := burstCreate(c)
	require.NoError(t, err)
	two, err := burstCreate(c)
	require.NoError(t, err)
	require.NoError(t, executionBurstCompute(e, one))
	require.NoError(t, executionBurstCompute(e, two))
	require.NoError(t, executionCompute(e))
	require.NoError(t, executionBurstCompute(e, one))
	assert.Equal(t, []float32{5, 12, 21}, z)
	require.Len(t, p.got, 4)
	assert.Same(t, p.got[0], p.got[3])
	assert.NotSame(t, p.got[0], p.got[1])
	assert.Nil(t, p.got[2])
	require.NoError(t, burstFree(one))
	assert.Equal(t, 1, p.ended)
	require.NoError(t, burstFree(two))
	assert.Equal(t, 2, p.ended)
	require.NoError(t, executionFree(e))
}
