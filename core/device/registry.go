package device

import (
	"slices"
	"sync"

	"github.com/anynpu/anynpu/core/fault"
)

// Registry is a list of devices in the order in which they were registered. The zero Registry is empty and ready.
type Registry struct {
	mu   sync.RWMutex
	list []Device
	ids  []string
}

// Devices is the registry of the process.
var Devices Registry

// Register adds d at the end. Kind fault.Argument when its id is empty or taken.
func (r *Registry) Register(d Device) error {
	id := d.Info().ID
	r.mu.Lock()
	defer r.mu.Unlock()
	if id == "" || slices.Contains(r.ids, id) {
		return fault.New(fault.Argument, "register device: id %q is empty or taken", id)
	}
	r.list = append(slices.Clone(r.list), d)
	r.ids = append(slices.Clone(r.ids), id)
	return nil
}

// List returns all devices in order of registration; the slice is never changed afterwards.
func (r *Registry) List() []Device {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.list
}
