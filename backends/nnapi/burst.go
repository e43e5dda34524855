package nnapi

import (
	"sync"
	"unsafe"

	"github.com/anynpu/anynpu/core/device"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
)

// burstFunctions are those by which a driver computes in a burst.
var burstFunctions = []string{"ANeuralNetworksBurst_create", "ANeuralNetworksBurst_free", burstCompute}

const burstCompute = "ANeuralNetworksExecution_burstCompute"

// bursts are the driver's bursts of a compilation, by those of programs.
type bursts struct {
	mu  sync.Mutex // held while the driver frees one, so that the compilation outlives it
	all map[*device.Burst]*burst
}

// burst is one of the driver's, made by the first run of a program's. A run that was given up may still use it when the
// next one begins, which then computes without.
type burst struct {
	at      uintptr // 0: none so far
	refused bool    // by the driver: it is not asked again
	busy    bool    // a run uses it
	ended   bool    // it is in no list any more: the run that uses it frees it
}

// takesBursts reports whether the driver of a device has bursts.
func (d *Device) takesBursts() bool {
	return d.level >= spec.Level3 && d.driver.Needs(burstFunctions) == nil
}

// Join implements driver.Bursting.
func (e *execution) Join(b *device.Burst) (function string) {
	if b == nil || !e.prog.dev.takesBursts() {
		return ""
	}
	if e.burst = e.prog.enter(b); e.burst == nil {
		return ""
	}
	return burstCompute
}

// enter returns the driver's burst for a program's, for one run; nil: the driver has none that is free.
func (p *program) enter(b *device.Burst) *burst {
	p.bursts.mu.Lock()
	defer p.bursts.mu.Unlock()
	x := p.bursts.all[b]
	switch {
	case x == nil:
		if !b.Keep(p, func() { p.endBurst(b) }) {
			return nil
		}
		if x = (&burst{}); p.bursts.all == nil {
			p.bursts.all = map[*device.Burst]*burst{}
		}
		p.bursts.all[b] = x
	case x.busy || x.refused:
		return nil
	}
	x.busy = true
	return x
}

// leave ends the use of a burst.
func (p *program) leave(x *burst) {
	p.bursts.mu.Lock()
	defer p.bursts.mu.Unlock()
	if x.busy = false; x.ended {
		p.freeBurst(x)
	}
}

// endBurst is the end of a program's burst.
func (p *program) endBurst(b *device.Burst) {
	p.bursts.mu.Lock()
	defer p.bursts.mu.Unlock()
	x := p.bursts.all[b]
	if x == nil { // the compilation has ended
		return
	}
	delete(p.bursts.all, b)
	if x.ended = true; !x.busy {
		p.freeBurst(x)
	}
}

// endBursts ends all bursts before the compilation. No run uses one: each holds the program.
func (p *program) endBursts() {
	p.bursts.mu.Lock()
	defer p.bursts.mu.Unlock()
	for b, x := range p.bursts.all {
		b.Drop(p)
		p.freeBurst(x)
	}
	p.bursts.all = nil
}

func (p *program) freeBurst(x *burst) {
	if x.at != 0 {
		_ = p.dev.driver.BurstFree(x.at) // nothing is left to do with an error
	}
}

// make returns the driver's burst for a run, which the first run makes; 0: there is none, or the driver refuses to make
// it. x may be nil.
func (p *program) make(x *burst) (at uintptr, err error) {
	switch {
	case x == nil || x.refused:
		return 0, nil
	case x.at != 0:
		return x.at, nil
	}
	code, err := p.dev.driver.BurstCreate(p.made.at, unsafe.Pointer(&at))
	if answer := spec.ResultCode(code); err == nil && answer != spec.NoError && answer != spec.DeadObject {
		x.refused = true
		return 0, nil
	}
	if err = made("ANeuralNetworksBurst_create", code, err, at); err != nil {
		return 0, err
	}
	x.at = at
	return at, nil
}
