package rknn

import (
	"regexp"
	"strings"
)

// Tensors of a file have the names of the ONNX model's tensors, or those of its nodes, with endings for the converter's
// changes. The endings of copies, other shapes and other types can follow one another.
var (
	endings = regexp.MustCompile(
		`(_exSecondary\d*|[-_](rs|tp|sw|mm)|_sdpa|_2ln|__(float16|float32|int8|int16)|_2conv\d+|_conv|` +
			`_compute_zone|_y_channel|_uv_channel|_2d)$`)
	stepEndings = []string{"_conv", "_2conv0", "_2conv1", "_2ln", "_compute_zone"}
	copyEnding  = regexp.MustCompile(`(_exSecondary\d*|[-_](rs|tp|sw|mm)|_sdpa|_2ln|__(float16|float32|int8|int16))$`)
)

// Base returns a name without the last ending that the converter has added, ok false if there is none.
func Base(name string) (base string, ok bool) {
	at := endings.FindStringIndex(name)
	if at == nil || at[0] == 0 {
		return "", false
	}
	return name[:at[0]], true
}

// Same returns a name without the last ending that leaves the values as they are: a copy, another shape or order,
// another type, a product before its reshaping.
func Same(name string) (base string, ok bool) {
	at := copyEnding.FindStringIndex(name)
	if at == nil || at[0] == 0 {
		return "", false
	}
	return name[:at[0]], true
}

// Step reports whether a name belongs to one of several steps of an operator. The ONNX model has no tensor for it.
func Step(name string) bool {
	for {
		for _, s := range stepEndings {
			if strings.HasSuffix(name, s) {
				return true
			}
		}
		base, ok := Same(name)
		if !ok {
			return false
		}
		name = base
	}
}
