package driver

import "github.com/anynpu/anynpu/core/device"

// Bursting are Calls of a driver that has bursts of its own.
type Bursting interface {
	// Join says of which burst the next run is part; nil: of none. function is the call that Run then makes; "": the one
	// for runs of no burst. Run follows in any case.
	Join(b *device.Burst) (function string)
}

// join tells the calls of which burst the run is part, one that waits for no fences in the driver. It returns what Run
// then calls.
func (e *Execution) join(b *device.Burst) (function string) {
	if j, is := e.calls.(Bursting); is {
		if function = j.Join(b); function != "" {
			return function
		}
	}
	return e.function
}
