package rknn

import (
	"fmt"
	"strconv"

	"github.com/anynpu/anynpu/capi/anynpu"
	"github.com/anynpu/anynpu/capi/boundary"
)

func init() {
	if level, ok := logLevel(boundary.Getenv("RKNN_LOG_LEVEL")); ok {
		boundary.SetDefaultLevel("rknn", level)
	}
}

// logLevel maps the vendor's RKNN_LOG_LEVEL, 0 to 5, to a level of the log: 0 and 1 show errors, which the vendor's
// library prints at any level, then each shows more (section 2). ok is false when value is empty or no such number.
func logLevel(value string) (level boundary.Level, ok bool) {
	if value == "" {
		return 0, false
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || n > 5 {
		warn("value ignored", "RKNN_LOG_LEVEL", value, "want", "0 to 5")
		return 0, false
	}
	return max(boundary.Level(n), boundary.LevelError), true
}

// announce writes what was loaded and what becomes of inputs, as information.
func (m *model) announce(im *imported) {
	if !boundary.LogEnabled(boundary.LevelInfo, "rknn") {
		return
	}
	name, shapes := im.path, "static"
	if name == "" {
		name = fmt.Sprintf("%d bytes", im.size)
	}
	if m.dynamic {
		shapes = fmt.Sprintf("%d listed shapes", len(m.shapes))
	}
	boundary.Log(boundary.LevelInfo, "rknn", "model loaded", "version", anynpu.Version, "driver", "none, the CPU computes",
		"model", name, "opset", im.Opset, "producer", im.Producer,
		"target", board().name, "inputs", len(m.in), "outputs", len(m.out), "shapes", shapes)
	for i, p := range m.in {
		dims := m.shapes[m.largest].in[i]
		boundary.Log(boundary.LevelInfo, "rknn", "input", "index", i, "name", p.name, "shape", dims, "type", p.kind, "fmt",
			p.format(true), "formula", p.formula())
	}
}

// formula says what an element of an input becomes.
func (p *port) formula() string {
	v := "x"
	if p.Normalized() {
		list := func(v []float32, none string) string {
			switch len(v) {
			case 0:
				return none
			case 1:
				return fmt.Sprint(v[0])
			}
			return fmt.Sprint(v)
		}
		v = fmt.Sprintf("(x - %s) / %s", list(p.info.Mean, "0"), list(p.info.Std, "1"))
	}
	if p.Quant == nil {
		return "value = " + v
	}
	if v != "x" {
		v = "(" + v + ")"
	}
	return fmt.Sprintf("q = round(%s / %g) + %d", v, p.Quant.Scale, p.Quant.Zero)
}
