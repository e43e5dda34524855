// Package anynpu is the library's own API, include/anynpu.h: what no vendor's API offers.
package anynpu

import (
	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
)

// Version is the version of the library.
const Version = "0.1.0"

var cVersion boundary.Block

func init() { cVersion.SetString(Version) }

// version is anynpu_version: a string that lives as long as the process.
func version() (uintptr, error) { return cVersion.Addr(), nil }

// liveHandles is anynpu_live_handles: the number of handles, of all façades, that the program has not destroyed.
func liveHandles() (uint64, error) { return uint64(handle.Live()), nil }

// setLogCallback is anynpu_set_log_callback.
func setLogCallback(callback, user uintptr) error {
	boundary.SetLogCallback(callback, user)
	return nil
}

// lastError is anynpu_last_error.
func lastError() (uintptr, error) { return boundary.LastError(), nil }
