package devices

import (
	"os"
	"time"

	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/backends/remote"
	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/record"
)

// remoteDevices are the devices of the servers that manifests name; local computes where they do not. Nothing is
// started for them until a model is compiled.
func remoteDevices(local device.Device) (list []device.Device) {
	for _, c := range candidates() {
		if c.Remote == nil || c.Status != dl.Usable {
			continue
		}
		config := remote.Config{Remote: c.Remote, Start: startRemote,
			Tell: func(text string) { boundary.Caution("remote", text) },
			Note: func(text string) { boundary.Log(boundary.LevelInfo, "remote", text) }}
		if boundary.Recorder() != nil {
			config.Ran = recordRun
		}
		if c.Remote.Fallback == dl.FallbackCPU {
			config.Local = local
		}
		d, err := remote.New(config)
		if err != nil {
			boundary.Log(boundary.LevelError, "remote", "the servers are no device [device-servers-no-device]",
				"file", c.Source, "why", err)
			continue
		}
		list = append(list, d)
	}
	return list
}

// recordRun counts a run where it was computed, for the report of anynpu exec.
func recordRun(where string, took time.Duration, err error) {
	count := boundary.Recorder().Graph(record.Graph{Name: where, Devices: []record.Device{{Name: "a server"}}})
	if count != nil {
		count(took, err)
	}
}

// startRemote starts the program that speaks with servers. It ends with its socket.
func startRemote(socket *os.File) (end func(), err error) {
	path := program(link.HelperName)
	if path == "" {
		return nil, fault.New(fault.File, "it is not beside this library [device-helper-not-beside]")
	}
	return func() {}, boundary.StartHelper([]string{path}, socket.Fd())
}
