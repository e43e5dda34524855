package networks

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/internal/session"
)

// mostMemory is how much the peak may rise while a model is made ready, relative to its file.
const mostMemory = 1.3

// Memory makes the model at path ready to run, unsaved if it will not be saved, and compares the rise of the process's
// peak memory with the size of the file. Then it runs the model once. A peak that is too high is an error.
func Memory(out io.Writer, path string, unsaved bool, newDevice NewDevice) error {
	before, err := peak()
	if err != nil {
		return err
	}
	st, err := os.Stat(path)
	if err != nil {
		return fault.As(fault.File, err, "model")
	}
	begin := time.Now()
	w := mem.NewWeights()
	m, err := onnx.ImportFile(path, onnx.Options{Weights: w})
	if err != nil {
		w.Release()
		return err
	}
	d, err := newDevice()
	if err != nil {
		return err
	}
	s, err := session.Open(context.Background(), m.Graph, []device.Device{d}, compile.Options{Weights: w, Consume: true,
		Options: device.Options{Unsaved: unsaved}}, device.ExecOptions{})
	w.Release() // the program holds what it needs of it
	if err != nil {
		return err
	}
	defer s.Close()
	load := time.Since(begin)
	after, err := peak()
	if err != nil {
		return err
	}
	ratio := float64(after-before) / float64(st.Size())
	fmt.Fprintf(out, "%s: peak %.1f MB, before the load %.1f MB, file %.1f MB: %.2f x the file\n", path,
		float64(after)/1e6,
		float64(before)/1e6,
		float64(st.Size())/1e6, ratio)
	first, err := firstRun(s)
	if err != nil {
		return err
	}
	if after, err = peak(); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: loaded in %.0f ms, first run in %.0f ms, peak after it %.1f MB\n", path, load.Seconds()*1e3,
		first.Seconds()*1e3, float64(after)/1e6)
	if ratio >= mostMemory {
		return fault.New(fault.Memory, "want less than %g x the file", mostMemory)
	}
	return nil
}

// firstRun runs the model once and returns how long it takes.
func firstRun(s *session.Session) (time.Duration, error) {
	in, err := patterns(s)
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	_, err = s.Run(context.Background(), in, time.Time{})
	return time.Since(begin), err
}

// peak returns the process's largest resident size so far in bytes.
func peak() (int64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, fault.As(fault.File, err, "peak memory")
	}
	for line := range strings.Lines(string(text)) {
		var kb int64
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kb); err == nil {
			return kb * 1024, nil
		}
	}
	return 0, fault.New(fault.Unsupported, "/proc/self/status has no VmHWM")
}
