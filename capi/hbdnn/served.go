package hbdnn

import (
	"slices"
	"sync"

	"github.com/anynpu/anynpu/capi/boundary"
)

// served is the generation that ANYNPU_HBDNN_ABI names, else that of the driver beside, else the newest; read once.
var served = sync.OnceValue(func() *generation {
	name := boundary.Getenv("ANYNPU_HBDNN_ABI")
	if name == "" {
		if g := drivers(); g != nil {
			return g
		}
	}
	return generationNamed(name)
})

// since warns once when a program calls a function that its generation did not have.
func since(function, name string) {
	index := func(n string) int {
		return slices.IndexFunc(generations, func(g generation) bool { return g.name == n })
	}
	if index(served().name) >= index(name) {
		return
	}
	if _, told := toldSince.LoadOrStore(function, true); !told {
		caution("the program calls a function that is newer than the version it is served "+
			"[hbdnn-program-calls-function]", "function", function, "since",
			name, "ANYNPU_HBDNN_ABI", served().name)
	}
}

var toldSince sync.Map
