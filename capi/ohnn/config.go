package ohnn

import (
	"strconv"
	"strings"
	"sync"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/devices"
	"github.com/anynpu/anynpu/capi/handle"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
)

// config holds the settings of the environment.
type config struct {
	// ANYNPU_OHNN_COMPAT=reference: follow the reference implementation where it differs from the manual
	reference bool
	devices   []devices.Guise // ANYNPU_OHNN_DEVICES: names under which the first device appears; empty: its own
	strict    bool            // ANYNPU_FALLBACK=off: no other device computes what the chosen one lacks
	// ANYNPU_OHNN_DIM_RANGE=min:max,...: sizes of dynamic dimensions; empty: what the device says
	dims []span
}

// span is the smallest and the largest size of a dimension.
type span struct{ lo, hi uint64 }

// settings returns the configuration, read once from the C environment.
var settings = sync.OnceValue(func() config { return readConfig(boundary.Getenv) })

func readConfig(getenv func(string) string) config {
	var c config
	switch v := getenv("ANYNPU_OHNN_COMPAT"); v {
	case "", "manual":
	case "reference":
		c.reference = true
	default:
		caution("unknown value ignored "+
			"[ohnn-unknown-value-ignored]", "ANYNPU_OHNN_COMPAT", v, "want", "manual or reference")
	}
	c.strict = getenv("ANYNPU_FALLBACK") == "off"
	c.devices = guises.Read(getenv("ANYNPU_OHNN_DEVICES"))
	if v := getenv("ANYNPU_OHNN_DIM_RANGE"); v != "" {
		if c.dims = readSpans(v); c.dims == nil {
			caution("value ignored [ohnn-value-ignored]", "ANYNPU_OHNN_DIM_RANGE", v, "want",
				"min:max with 0 <= min <= max, max > 0, or one such range per dimension, separated by commas")
		}
	}
	return c
}

// readSpans reads min:max,...; nil when one of them is wrong.
func readSpans(v string) (out []span) {
	for entry := range strings.SplitSeq(v, ",") {
		lo, hi, _ := strings.Cut(entry, ":")
		from, err1 := strconv.ParseUint(strings.TrimSpace(lo), 10, 31)
		to, err2 := strconv.ParseUint(strings.TrimSpace(hi), 10, 31)
		if err1 != nil || err2 != nil || from > to || to == 0 {
			return nil
		}
		out = append(out, span{from, to})
	}
	return out
}

// span returns the sizes of dynamic dimension i; the last range counts for all dimensions behind it. ok is false when
// none is set.
func (c *config) span(i int) (s span, ok bool) {
	if len(c.dims) == 0 {
		return span{}, false
	}
	return c.dims[min(i, len(c.dims)-1)], true
}

// Programs of the reference implementation may read the objects that their handles point to.
func init() {
	if boundary.Getenv("ANYNPU_OHNN_COMPAT") != "reference" {
		return
	}
	if err := handle.LetRead(); err != nil {
		warn("handles cannot be read [ohnn-handles-read]", "why", err)
	}
}

// warn logs what is probably not what the program wants.
func warn(message string, pairs ...any) {
	boundary.Log(boundary.LevelWarn, "ohnn", message, pairs...)
}

// caution writes a warning on which it depends whether results are right.
func caution(message string, pairs ...any) { boundary.Caution("ohnn", message, pairs...) }

// guises reads ANYNPU_OHNN_DEVICES: names under which the first device appears. Operators lack OH_NN_OPS_.
var guises = devices.Guises{Component: "ohnn", Variable: "ANYNPU_OHNN_DEVICES", Operator: func(operator string) bool {
	return spec.Called(operator) != nil
}}
