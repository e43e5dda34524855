package dl

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// deviceLimit is how long a provider may take to make a session of one node: compilers of NPUs are slow to start.
const deviceLimit = 60 * time.Second

// ProbeDevices has each provider that a usable candidate names make a session of one node in a program of its own,
// unless a kept verdict says what came of it, and gives those that crash, hang, or offer nothing a reason. The library
// must have been probed.
func (c *Candidate) ProbeDevices(o Options) {
	if c.Status != Usable || o.Getenv("ANYNPU_PROBE") == "off" {
		return
	}
	for i := range c.Devices {
		d := &c.Devices[i]
		if d.Reason != "" {
			continue
		}
		arguments := []string{"--onnxruntime", c.File, d.Provider, d.File}
		for _, k := range slices.Sorted(maps.Keys(d.Options)) {
			arguments = append(arguments, k, d.Options[k])
		}
		v := verdict{File: c.File, Identity: c.id, Version: o.Version, Required: arguments, Plugin: d.identity}
		remedy := v.find(o, verdictFile(o.Getenv, fmt.Sprintf("%q", arguments)), arguments, deviceLimit, func(Outcome) {})
		if v.Reason != "" {
			d.Reason = v.Reason + remedy
		}
	}
}
