package session

import (
	"time"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// Bind copies the inputs, one tensor per input in the order of the ports, for Repeat.
func (s *Session) Bind(in []tensor.Tensor) error {
	if len(in) != len(s.in) {
		return fault.New(fault.Argument, "want %d inputs, got %d", len(s.in), len(in))
	}
	for i, t := range in {
		if err := s.bind(i, t); err != nil {
			return fault.Wrap(err, "input %q", s.in[i].Name)
		}
	}
	return nil
}

// Repeat runs once more on the inputs of Bind or of the last Run and leaves the outputs with the device: what it takes
// is the run itself. It allocates nothing of its own after the first time. A zero deadline is none.
func (s *Session) Repeat(deadline time.Time) error {
	return s.exec.Run(device.RunRequest{Deadline: deadline})
}
