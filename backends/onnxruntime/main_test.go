package onnxruntime

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/driver"
)

// site is where the packages are unpacked, each in a folder of its name; ANYNPU_ONNXRUNTIME_SITE names another folder.
func site(t testing.TB) string {
	folder := os.Getenv("ANYNPU_ONNXRUNTIME_SITE")
	if folder == "" {
		folder, _ = filepath.Abs("../../build/onnxruntime/site")
	}
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("no ONNX Runtime in %s", folder)
	}
	return folder
}

// file is the only file of a package that a pattern means.
func file(t testing.TB, pattern string) string {
	found, err := filepath.Glob(filepath.Join(site(t), pattern))
	require.NoError(t, err)
	require.Len(t, found, 1, pattern)
	return found[0]
}

func newest(t testing.TB) string {
	return file(t, "onnxruntime/onnxruntime/capi/libonnxruntime.so.1.*")
}
func openVINO(t testing.TB) string {
	return file(t, "onnxruntime_openvino/onnxruntime/capi/libonnxruntime.so.1.*")
}

// bind opens a library.
func bind(t testing.TB, file string) *Library {
	Claim(openVINO(t))
	opened, err := driver.Opening{}.Open(file)
	require.NoError(t, err)
	l, err := Bind(file, opened.Lookup, Config{Threads: 2})
	require.NoError(t, err)
	return l
}

// open makes the device of a provider.
func open(t testing.TB, file string, p Provider) *Device {
	c := Config{}
	c.ID, c.Name, c.Patience = "onnxruntime", "test", Patience
	all, failed, err := Open(bind(t, file), c, []Provider{p})
	require.NoError(t, err)
	require.Empty(t, failed)
	require.Len(t, all, 1)
	return all[0]
}

func openCPU(t testing.TB) *Device { return open(t, newest(t), Provider{Name: CPUProvider}) }

func openVINOCPU(t testing.TB) *Device {
	return open(t, openVINO(t), Provider{Name: openVINOProvider, Options: map[string]string{"device_type": "CPU"}})
}

func openQNN(t testing.TB) *Device {
	return open(t, newest(t), Provider{Name: "QNNExecutionProvider",
		Plugin:  file(t, "onnxruntime_qnn/onnxruntime_qnn/libonnxruntime_providers_qnn.so"),
		Options: map[string]string{"backend_type": "htp"}})
}

// all says that tests of some minutes run too: ANYNPU_ONNXRUNTIME_TESTS=all.
func all() bool { return os.Getenv("ANYNPU_ONNXRUNTIME_TESTS") == "all" }

// long skips a test that takes minutes.
func long(t testing.TB) {
	if !all() {
		t.Skip("it takes minutes: ANYNPU_ONNXRUNTIME_TESTS=all")
	}
}

// soak is how long threads compute at once.
func soak() time.Duration {
	if all() {
		return 20 * time.Second
	}
	return 2 * time.Second
}
