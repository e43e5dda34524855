package ohnn

import (
	"strconv"
	"strings"
	"sync"

	"github.com/anynpu/anynpu/capi/boundary"
)

// config is what the environment decides.
type config struct {
	reference      bool    // ANYNPU_OHNN_COMPAT=reference: follow the reference implementation where it differs from the manual
	devices        []guise // ANYNPU_OHNN_DEVICES: names under which the first device appears; empty: its own
	strict         bool    // ANYNPU_FALLBACK=off: no other device computes what the chosen one lacks
	dimMin, dimMax uint64  // ANYNPU_OHNN_DIM_RANGE=min:max of dynamic dimensions; 0, 0: what the device says
}

// settings returns the configuration, read once from the C environment.
var settings = sync.OnceValue(func() config { return readConfig(boundary.Getenv) })

func readConfig(getenv func(string) string) config {
	var c config
	switch v := getenv("ANYNPU_OHNN_COMPAT"); v {
	case "", "manual":
	case "reference":
		c.reference = true
	default:
		caution("unknown value ignored", "ANYNPU_OHNN_COMPAT", v, "want", "manual or reference")
	}
	c.strict = getenv("ANYNPU_FALLBACK") == "off"
	c.devices = readGuises(getenv("ANYNPU_OHNN_DEVICES"))
	if v := getenv("ANYNPU_OHNN_DIM_RANGE"); v != "" {
		lo, hi, _ := strings.Cut(v, ":")
		from, err1 := strconv.ParseUint(strings.TrimSpace(lo), 10, 31)
		to, err2 := strconv.ParseUint(strings.TrimSpace(hi), 10, 31)
		if err1 != nil || err2 != nil || from > to || to == 0 {
			warn("value ignored", "ANYNPU_OHNN_DIM_RANGE", v, "want", "min:max with 0 <= min <= max, max > 0")
		} else {
			c.dimMin, c.dimMax = from, to
		}
	}
	return c
}

// warn logs what is probably not what the program wants.
func warn(message string, pairs ...any) {
	boundary.Log(boundary.LevelWarn, "ohnn", message, pairs...)
}

// caution writes a warning on which it depends whether results are right.
func caution(message string, pairs ...any) { boundary.Caution("ohnn", message, pairs...) }
