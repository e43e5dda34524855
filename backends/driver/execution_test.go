package driver

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/mem"
)

// slow is an execution without inputs and outputs whose run ends when it is let go.
type slow struct {
	Execution
	runs, ends chan struct{}
}

func (*slow) Own(*Slot) (*Memory, error)   { return nil, nil }
func (*slow) Take(*Slot, mem.View) *Memory { return nil }
func (*slow) Enter() error                 { return nil }
func (*slow) Leave() error                 { return nil }
func (*slow) End()                         {}
func (s *slow) Run() error                 { close(s.runs); <-s.ends; return nil }

// asked is one that can be asked to end early.
type asked struct{ slow }

func (*asked) Stopper() func() { return func() {} }

// givenUp returns an execution whose run was given up and goes on.
func givenUp(t *testing.T, s *slow, c Calls) (life *Life) {
	life = NewLife("test", 0, nil)
	p := &Program{}
	p.Hold(func() {})
	s.runs, s.ends = make(chan struct{}), make(chan struct{})
	s.Begin(&Device{Life: life, own: NewLife("test", 0, nil)}, p, "run", c)
	p.Release()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-s.runs; cancel() }()
	require.ErrorIs(t, exec.Run(ctx, &s.Execution, device.RunRequest{}), context.Canceled)
	return life
}

// TestExecution_releaseAfterARunThatWasGivenUp: Release returns when a run that was asked to end has ended, or when the
// device dies; and at once where the driver cannot be asked.
func TestExecution_releaseAfterARunThatWasGivenUp(t *testing.T) {
	for _, dies := range []bool{false, true} {
		a := &asked{}
		life := givenUp(t, &a.slow, a)
		released := make(chan struct{})
		go func() { a.Release(); close(released) }()
		for range 20 {
			time.Sleep(time.Millisecond)
			select {
			case <-released:
				t.Fatal("it is released while the run goes on")
			default:
				assert.Len(t, a.lane, 1)
			}
		}
		if dies {
			life.End("it is dead")
		} else {
			close(a.ends)
		}
		<-released
	}
	s := &slow{}
	givenUp(t, s, s)
	s.Release()
	close(s.ends)
}
