package devices

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
)

func TestGuises_attributes(t *testing.T) {
	v := Guises{Component: "test", Variable: "TEST", Operator: func(name string) bool {
		return name == "ADD" ||
			name == "RELU"
	}}
	full := device.Info{Kind: device.CPU, Float16: device.Accepts, Performance: device.Honours, Priority: true,
		Cache: true, Dynamic: true, DimMin: 1, DimMax: 9}
	for text, want := range map[string]func(*device.Info){
		"n":                      func(*device.Info) {},
		"n:no-float16":           func(i *device.Info) { i.Float16 = device.Lacks },
		"n:no-performance":       func(i *device.Info) { i.Performance = device.Lacks },
		" n : no-priority ":      func(i *device.Info) { i.Priority = false },
		"n:no-cache:no-dynamic,": func(i *device.Info) { i.Cache, i.Dynamic = false, false },
		"n:no-ranges":            func(i *device.Info) { i.DimMin, i.DimMax = 0, 0 },
		"n:as-gpu":               func(i *device.Info) { i.Kind = device.GPU },
		"n:as-accelerator":       func(i *device.Info) { i.Kind = device.Accelerator },
		"n:as-other":             func(i *device.Info) { i.Kind = device.Other },
		"n:no-such:no-:relu:":    func(*device.Info) {},
	} {
		got := v.Read(text)
		require.Len(t, got, 1, text)
		info, expected := full, full
		got[0].Hide(&info)
		want(&expected)
		assert.Equal(t, expected, info, text)
		assert.Equal(t, "n", got[0].Name)
		assert.Empty(t, got[0].Operators, text)
	}
	g, bad := v.one("a:no-RELU:no-relu:no-ADD:offline:no-cash")
	assert.Equal(t, []string{"RELU", "ADD"}, g.Operators)
	assert.Equal(t, []string{"no-relu", "no-cash"}, bad)
	assert.True(t, g.Offline)
	assert.True(t, g.Lacks("ADD"))
	v.Attributes = []string{"as-gpu"}
	g, bad = v.one("a:as-gpu:no-cache")
	assert.Equal(t, []string{"no-cache"}, bad, "an attribute without an effect in this API")
	assert.Len(t, g.hide, 1)
}
