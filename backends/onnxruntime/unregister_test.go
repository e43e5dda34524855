package onnxruntime

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// TestUnregister: a plug-in can be taken out and put in again after its last session has ended. The runtime lets it be
// taken out before, too, and the end of the session then ends the process: a library keeps its plug-ins for good.
func TestUnregister(t *testing.T) {
	long(t)
	const child = "ANYNPU_TEST_UNREGISTER"
	if when := os.Getenv(child); when != "" {
		unregister(t, when == "living")
		return
	}
	for _, when := range []string{"ended", "living"} {
		c := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
		c.Env = append(os.Environ(), child+"="+when, "ANYNPU_ONNXRUNTIME_SITE="+site(t))
		out, err := c.CombinedOutput()
		require.Contains(t, string(out), "unregistered", when)
		if when == "living" {
			assert.Error(t, err, "the runtime counts sessions by now: %s", out)
			assert.NotContains(t, string(out), "the session has ended")
			continue
		}
		assert.NoError(t, err, string(out))
		assert.Contains(t, string(out), "registered again with 1 device")
	}
}

// unregister takes a plug-in out, before or after the end of a session of it.
func unregister(t *testing.T, living bool) {
	b := graph.NewBuilder("g")
	b.Output(b.Add(&op.Relu{}, b.Input("x", tensor.T(tensor.Float32, 1, 4))))
	g, err := b.Graph()
	require.NoError(t, err)
	require.NoError(t, g.Infer())
	d := openQNN(t)
	p, err := d.Compile(context.Background(), device.Unit{Graph: g}, device.Options{})
	require.NoError(t, err)
	if !living {
		p.Release()
	}
	require.NoError(t, d.lib.unplug(d.provider.Name))
	fmt.Println("unregistered")
	if living {
		p.Release()
		fmt.Println("the session has ended")
		return
	}
	again, err := d.lib.find(d.provider.Provider)
	require.NoError(t, err)
	fmt.Printf("registered again with %d device\n", len(again.devices))
}
