package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/internal/session"
)

// mostMemory is how much the peak may rise while a model is made ready, relative to its file.
const mostMemory = 1.3

// memory makes the model at path ready to run and compares the rise of the process's peak memory with the size of the file.
func memory(path string) error {
	before, err := peak()
	if err != nil {
		return err
	}
	st, err := os.Stat(path)
	if err != nil {
		return fault.As(fault.File, err, "model")
	}
	w := mem.NewWeights()
	defer w.Release()
	m, err := onnx.ImportFile(path, onnx.Options{Weights: w})
	if err != nil {
		return err
	}
	d, err := cpu.New(cpu.Config{Reference: os.Getenv("ANYNPU_CPU") == "ref"})
	if err != nil {
		return err
	}
	s, err := session.Open(context.Background(), m.Graph, []device.Device{d}, compile.Options{Weights: w}, device.ExecOptions{})
	if err != nil {
		return err
	}
	defer s.Close()
	after, err := peak()
	if err != nil {
		return err
	}
	ratio := float64(after-before) / float64(st.Size())
	fmt.Printf("%s: peak %.1f MB, before the load %.1f MB, file %.1f MB: %.2f x the file\n", path, float64(after)/1e6, float64(before)/1e6,
		float64(st.Size())/1e6, ratio)
	if ratio >= mostMemory {
		return fault.New(fault.Memory, "want less than %g x the file", mostMemory)
	}
	return nil
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
