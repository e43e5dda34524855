package devices

import (
	"path/filepath"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/tensordump"
)

// dumpTensors has what the nodes of programs compute written to a folder, if ANYNPU_DUMP_TENSORS names one.
func dumpTensors() {
	folder := boundary.Getenv("ANYNPU_DUMP_TENSORS")
	if folder == "" {
		return
	}
	if whole, err := filepath.Abs(folder); err == nil { // the program may go elsewhere
		folder = whole
	}
	s, err := tensordump.Select(boundary.Getenv("ANYNPU_DUMP_NAMES"), boundary.Getenv("ANYNPU_DUMP_RUNS"),
		boundary.Getenv("ANYNPU_DUMP_FORM"))
	if err != nil {
		boundary.Log(boundary.LevelError, "boundary", "tensors are not written: ANYNPU_DUMP_NAMES, ANYNPU_DUMP_RUNS or "+
			"ANYNPU_DUMP_FORM [device-dump-selection]", "error", err)
		return
	}
	switch fused := boundary.Getenv("ANYNPU_DUMP_FUSED"); fused {
	case "", "off":
	case "on":
		s.Fused = true
	default:
		boundary.Log(boundary.LevelWarn, "boundary", "ANYNPU_DUMP_FUSED is ignored: want on or off [device-dump-fused]",
			"value", fused)
	}
	compile.Tensors = tensordump.New(folder, s, func(path string, err error) {
		boundary.Log(boundary.LevelError, "boundary", "tensors are not written from here on [device-dump-ended]",
			"ANYNPU_DUMP_TENSORS", path, "error", err)
	})
}
