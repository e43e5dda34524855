package main

import (
	"slices"
	"strings"

	"github.com/anynpu/anynpu/backends/remote"
	"github.com/anynpu/anynpu/backends/settings"
	"github.com/anynpu/anynpu/core/fault"
)

// isRemote reports whether an id names servers of a manifest: remote:NAME, or remote for the first.
func isRemote(id string) bool { return id+":" == remote.Prefix || strings.HasPrefix(id, remote.Prefix) }

// openRemote is the device of servers with an id. Their state goes to the log.
func openRemote(id string, env func(string) string, tell settings.Teller) (*remote.Device, error) {
	var names []string
	for _, d := range listDrivers(env, false) {
		if d.Remote == nil || !d.Used {
			continue
		}
		if name := remote.Prefix + d.Name; name == id || id+":" == remote.Prefix {
			return newRemote(d.Remote, env, tell)
		}
		names = append(names, remote.Prefix+d.Name)
	}
	if len(names) == 0 {
		return nil, fault.New(fault.Device, "no device %s: no manifest names servers; anynpu drivers lists those there are "+
			"[tool-no-servers]", id)
	}
	return nil, fault.New(fault.Device, "no device %s; there is: %s [tool-no-such-servers]", id, strings.Join(names, ", "))
}

// remoteIDs are the ids of the servers' devices in a list.
func remoteIDs(list []driverInfo) (ids []string) {
	for _, d := range list {
		if d.Remote != nil && d.Used {
			ids = append(ids, remote.Prefix+d.Name)
		}
	}
	return slices.Clip(ids)
}
