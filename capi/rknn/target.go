package rknn

import (
	"strings"
	"sync"

	"github.com/anynpu/anynpu/capi/boundary"
)

// A target is the board whose attribute values are reported.
type target struct {
	name  string
	cores int
	lanes int64 // bytes of the innermost dimension of NC1HWC2
}

var targets = []target{
	{"rk3588", 3, 16}, {"rk3576", 2, 16},
	{"rk3562", 1, 16}, {"rk3566", 1, 8}, {"rk3568", 1, 8},
	{"rv1126b", 1, 16}, {"rv1103", 1, 16}, {"rv1106", 1, 16}, {"rv1103b", 1, 8}, {"rv1106b", 1, 8}, {"rk2118", 1, 16},
}

// targetNames are the names of all targets, for messages.
func targetNames() string {
	names := make([]string, len(targets))
	for i, t := range targets {
		names[i] = t.name
	}
	return strings.Join(names, ", ")
}

// board is the target that ANYNPU_RKNN_TARGET names, rk3588 unless it names a known one; read once.
var board = sync.OnceValue(func() target { return targetNamed(boundary.Getenv("ANYNPU_RKNN_TARGET")) })

func targetNamed(name string) target {
	if name == "" {
		return targets[0]
	}
	for _, t := range targets {
		if strings.EqualFold(t.name, name) {
			return t
		}
	}
	caution("value ignored "+
		"[rknn-value-ignored]", "ANYNPU_RKNN_TARGET", name, "want", "one of "+targetNames(), "used", targets[0].name)
	return targets[0]
}

// boardOf is the board that programs see with a model converted for a target: that of ANYNPU_RKNN_TARGET if it is set,
// else the model's, if that is known.
func boardOf(converted string) target {
	if boundary.Getenv("ANYNPU_RKNN_TARGET") == "" {
		for _, t := range targets {
			if strings.EqualFold(t.name, converted) {
				return t
			}
		}
	}
	return board()
}

// channels is C2 of the NC1HWC2 layout for elements of a size (section 11): what fits into the lanes.
func (t target) channels(size int64) int64 { return max(t.lanes/max(size, 1), 1) }

// masks says which core masks fit.
func (t target) masks() string {
	switch t.cores {
	case 1:
		return "one core and takes RKNN_NPU_CORE_AUTO (0) only"
	case 2:
		return "two cores and takes 0 (AUTO), 1, 2, 3 and 0xffff (ALL)"
	}
	return "three cores and takes 0 (AUTO), 1, 2, 4, 3, 7 and 0xffff (ALL)"
}

// hasCores says whether a core mask fits: 0, any set of the board's cores that starts with the first or is one core, or
// all.
func (t target) hasCores(mask CoreMask) bool {
	switch mask {
	case 0, 0xffff:
		return true
	case 1, 2, 4, 3, 7:
		return mask < 1<<t.cores
	}
	return false
}
