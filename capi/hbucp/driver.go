package hbucp

import (
	"strings"

	"github.com/anynpu/anynpu/capi/boundary"
)

// Beside a driver all memory is its own, and a missing function for that is refused. Texts are this library's where the
// driver lacks the function, and so are the functions of libraries that the driver's file does not have, which say what
// they are.
func init() {
	api.Funcs = funcs[:]
	boundary.Choose("hbucp", func(function string) bool {
		return strings.HasPrefix(function, "hbUCPM") || function == "hbUCPFree"
	}, nil)
}
