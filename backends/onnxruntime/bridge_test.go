package onnxruntime

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
)

// TestOpen_secondBridge: OpenVINO of a copy of its library would get the first library's functions.
func TestOpen_secondBridge(t *testing.T) {
	open(t, openVINO(t), Provider{Name: "OpenVINO", Options: map[string]string{"device_type": "CPU"}})
	assert.False(t, foreignBridge(openVINO(t)))
	folder := t.TempDir()
	for _, name := range []string{bridge, filepath.Base(openVINO(t)), "libonnxruntime_providers_openvino.so"} {
		data, err := os.ReadFile(filepath.Join(filepath.Dir(openVINO(t)), name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), data, 0o644))
	}
	c := Config{}
	c.ID, c.Name = "onnxruntime", "test"
	l := bind(t, filepath.Join(folder, filepath.Base(openVINO(t))))
	devices, failed, err := Open(l, c, []Provider{{Name: "OpenVINO"}, {Name: CPUProvider}})
	require.NoError(t, err)
	require.Len(t, devices, 1)
	require.Len(t, failed, 1)
	assert.ErrorContains(t, failed[0].Err, "a process can have one library with such providers")
	assert.Equal(t, fault.Unsupported, fault.KindOf(failed[0].Err))
}

// TestClaim_beforePlugins: OpenVINO finds its own library although a plug-in has had another one load its bridge before.
func TestClaim_beforePlugins(t *testing.T) {
	const child = "ANYNPU_ONNXRUNTIME_TESTS"
	if os.Getenv(child) != "claim" {
		c := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
		c.Env = append(os.Environ(), child+"=claim", "ANYNPU_ONNXRUNTIME_SITE="+site(t))
		out, err := c.CombinedOutput()
		require.NoError(t, err, string(out))
		return
	}
	openQNN(t)
	d := open(t, openVINO(t), Provider{Name: "OpenVINO", Options: map[string]string{"device_type": "CPU"}})
	e, out := bound(t, d, products(t, 2, 16), 2)
	defer e.Release()
	defer out.Release()
	require.NoError(t, run(e, time.Time{}))
}
