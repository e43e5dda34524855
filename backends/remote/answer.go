package remote

import (
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
)

// answered is an answer with its memory; nil when the helper has ended.
type answered struct {
	link.Answer
	spill int // descriptor, -1: none
}

func (a *answered) drop() {
	if a != nil && a.spill >= 0 {
		unix.Close(a.spill)
		a.spill = -1
	}
}

// lacking says that an address has not the model of a run.
func (a *answered) lacking() bool {
	return a.Failure != nil && a.Failure.Lacking || a.Done != nil && a.Done.Lacking
}

// failure is the error of a failed call: of the fault's kind, or of the given one where a model is looked for. A server
// that is gone is a device that has died, though it may come back.
func failure(otherwise fault.Kind, f *link.Failure) error {
	text := f.Text
	switch f.Class {
	case link.Down:
		return fault.As(fault.Device, device.ErrDied, "no server: %s", text)
	case link.Busy:
		return fault.New(fault.Device, "the servers are busy: %s", text)
	case link.Missing:
		return fault.New(otherwise, "the server has no such model: %s", text)
	case link.Refused:
		return fault.New(otherwise, "the server refuses the tensors: %s", text)
	case link.TooLarge:
		return fault.New(fault.Memory, "too large for the server, or for largest_message of the manifest: %s", text)
	case link.Denied:
		return fault.New(fault.Device, "the server denies access: %s", text)
	case link.Late:
		return fault.New(fault.Timeout, "no answer within deadline_ms of the manifest: %s", text)
	case link.Stopped:
		return fault.New(fault.Canceled, "%s", text)
	case link.Garbled:
		return fault.New(fault.Device, "the server's answer is wrong: %s", text)
	}
	return fault.New(fault.Device, "the server failed: %s", text)
}
