package ohnn

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/mem"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
)

// slow is memory that a run waits for.
type slow struct {
	mem.Buffer
	asked, goOn chan struct{}
}

func (s *slow) Map() ([]byte, error) {
	select {
	case s.asked <- struct{}{}:
	default:
	}
	<-s.goOn
	return s.Buffer.Map()
}

// TestTensorGetFd_waitsForTheRun: while a run has the address of a tensor, its bytes are not moved into a file.
func TestTensorGetFd_waitsForTheRun(t *testing.T) {
	m := addModel(t)
	e := executor(t, m.built([]uint32{0, 1}, []uint32{2}))
	x, y := newTestTensor(t, spec.Float32, f32s(1, 2), 2), newTestTensor(t, spec.Float32, nil, 2)
	j, err := e.tensorJob([]*Tensor{x, x}, []*Tensor{y})
	require.NoError(t, err)
	s := &slow{x.buf, make(chan struct{}, 1), make(chan struct{})}
	j.inputs[0].Buf = s
	ran, shared := make(chan error, 1), make(chan error, 1)
	go func() { _, err := e.do(j); ran <- err }()
	<-s.asked
	var fd int32
	go func() { shared <- tensorGetFd(y, &fd) }()
	select {
	case err := <-shared:
		assert.Fail(t, "the tensor got its descriptor while a run used it")
		shared <- err
	case <-time.After(50 * time.Millisecond):
	}
	close(s.goOn)
	require.NoError(t, <-ran)
	require.NoError(t, <-shared)
	var got [8]byte
	_, err = unix.Pread(int(fd), got[:], 0)
	require.NoError(t, err)
	assert.Equal(t, []float32{2, 4}, floats(t, got[:]))
}

// TestTensor_withoutDescriptor: a tensor has none until it is asked for it, and keeps the one that it gets.
func TestTensor_withoutDescriptor(t *testing.T) {
	x := newTestTensor(t, spec.Float32, f32s(3), 1)
	_, _, ok := x.buf.FD()
	assert.False(t, ok)
	before := memoryOf(x)
	var fd, again int32
	require.NoError(t, tensorGetFd(x, &fd))
	require.NoError(t, tensorGetFd(x, &again))
	assert.Equal(t, fd, again)
	assert.Same(t, &before[0], &memoryOf(x)[0])
	before[0] = 9
	var got [4]byte
	_, err := unix.Pread(int(fd), got[:], 0)
	require.NoError(t, err)
	assert.Equal(t, memoryOf(x), got[:])
}
