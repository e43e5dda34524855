package hbdnn

/*
#include <stdint.h>

#include "../boundary/boundary.h"

static uintptr_t version(void *function)
{
	int inside = anynpu_out();
	const char *text = ((const char *(*)(void))function)();
	anynpu_back(inside);
	return (uintptr_t)text;
}
*/
import "C"

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/mem"
)

// Beside a driver all memory is its own, and a missing function for that is refused. hbDNNResize has no object that
// would tell whose it is: the driver scales, unless it cannot. Functions that only compute are this library's where the
// driver lacks them.
func init() {
	api.Funcs = funcs[:]
	boundary.Choose("hbdnn", func(function string) bool {
		if function == "hbDNNResize" {
			return boundary.DriverHas("hbdnn", function)
		}
		return strings.HasPrefix(function, "hbSys") || strings.HasPrefix(function, "_Z")
	}, nil)
}

// pinned pins need bytes, which the memory says it has. name is the memory's name.
func pinned(m *SysMem, name string, need int64) (mem.Buffer, error) {
	buf, err := api.Pinned(m.virt, name, need)
	if err != nil {
		return nil, err
	}
	return api.OnBoard(buf, m.phys, m.virt, need), nil
}

// drivers returns the generation of the headers that the driver was made with, nil without a driver: programs on its
// board have the same.
func drivers() *generation {
	f := api.Function("hbDNNGetVersion")
	if boundary.Driver(f) == nil || !boundary.HasDriver("hbdnn") {
		return nil
	}
	var addr uintptr
	boundary.InDriver(f, func(at unsafe.Pointer) { addr = uintptr(C.version(at)) })
	if addr == 0 {
		return nil
	}
	text, err := boundary.CString(cPointer(addr))
	if err != nil {
		return nil
	}
	g := generationOf(text)
	if g == nil {
		caution("the driver's version is not known as one: ANYNPU_HBDNN_ABI names that of the program's headers "+
			"[hbdnn-driver-version-known]", "version",
			text, "used", generations[len(generations)-1].name)
	}
	return g
}

// generationOf is the newest generation that a version, such as "1.9.7_(3.14.5 HBRT)", is not older than; nil for none.
func generationOf(version string) (g *generation) {
	var major, minor, from int
	if n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor); n < 2 || major != 1 {
		return nil
	}
	for i := range generations {
		if _, err := fmt.Sscanf(generations[i].name, "1.%d", &from); err == nil && (from <= minor || i == 0) {
			g = &generations[i]
		}
	}
	return g
}
