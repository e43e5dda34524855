// Package anynpu is the library's own API, include/anynpu.h: what no vendor's API offers.
package anynpu

import (
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	onnx "github.com/anynpu/anynpu/core/format/onnx/export"
	"github.com/anynpu/anynpu/core/mem"
)

// Version is the version of the library.
const Version = "0.2.0"

var cVersion boundary.Block

func init() { cVersion.SetString(Version) }

// version is anynpu_version: a string that lives as long as the process.
func version() (uintptr, error) { return cVersion.Addr(), nil }

// liveHandles is anynpu_live_handles: the number of handles, of all façades, that the program has not destroyed.
func liveHandles() (uint64, error) { return uint64(handle.Live()), nil }

// liveBuffers is anynpu_live_buffers: every mapping that is neither a handle window nor of Go's own runtime is a buffer
// of core/mem.
func liveBuffers() (uint64, error) {
	n, _ := mem.Live()
	return uint64(n), nil
}

// setLogCallback is anynpu_set_log_callback.
func setLogCallback(callback, user uintptr) error {
	boundary.SetLogCallback(callback, user)
	return nil
}

// lastError is anynpu_last_error.
func lastError() (uintptr, error) { return boundary.LastError(), nil }

// Results of placementReport.
const (
	placementOK        = 0
	placementTruncated = 2
)

// placementReport is anynpu_placement_report. needed is set even when the buffer is too small; what does not fit is cut
// off behind a final 0.
func placementReport(compilation uintptr, buffer unsafe.Pointer, size uint64, needed *uint64) (int32, error) {
	o, err := handle.HoldAny(compilation)
	if err != nil {
		return 0, fault.Wrap(err, "compilation: %#x", compilation)
	}
	defer handle.Unhold(compilation)
	var report []byte
	if c, ok := o.(interface{ Placement() []byte }); ok {
		report = c.Placement()
	}
	if report == nil {
		return 0, fault.New(fault.Argument, "compilation: %#x: not a compilation, or one that is not built "+
			"[anynpu-compilation-built]", compilation)
	}
	if needed != nil {
		*needed = uint64(len(report)) + 1
	}
	if size == 0 {
		return placementTruncated, nil
	}
	if buffer == nil || size > 1<<47 {
		return 0, fault.New(fault.Argument, "buffer: %p of %d bytes [anynpu-buffer-bytes]", buffer, size)
	}
	if err := boundary.CheckRange(buffer, size); err != nil {
		return 0, fault.Wrap(err, "buffer")
	}
	text := unsafe.Slice((*byte)(buffer), min(size, uint64(len(report))+1))
	text[copy(text[:len(text)-1], report)] = 0
	if len(text) <= len(report) {
		return placementTruncated, nil
	}
	return placementOK, nil
}

// export is anynpu_export: 0, or an error.
func export(of uintptr, path string) (int32, error) {
	o, err := handle.HoldAny(of)
	if err != nil {
		return 0, fault.Wrap(err, "handle: %#x", of)
	}
	defer handle.Unhold(of)
	has, ok := o.(interface {
		Compiled() (program device.Program, release func())
	})
	if !ok {
		return 0, fault.New(fault.Argument, "handle: %#x: not a compilation, rknn_context or hbDNNHandle_t "+
			"[anynpu-handle-compilation-rknn]", of)
	}
	program, release := has.Compiled()
	if program == nil {
		return 0, fault.New(fault.Argument, "handle: %#x: a compilation that is not built "+
			"[anynpu-handle-compilation-built]", of)
	}
	defer release()
	p, ok := program.(*compile.Program)
	if !ok {
		return 0, fault.New(fault.Unsupported, "handle: %#x: its device computes it without a graph "+
			"[anynpu-handle-device-computes]", of)
	}
	w := mem.NewWeights()
	defer w.Release()
	g, err := p.Graph(w)
	if err != nil {
		return 0, fault.Wrap(err, "handle: %#x", of)
	}
	m, err := onnx.Of(g, onnx.Options{Metadata: p.Described()})
	if err != nil {
		return 0, err
	}
	return 0, fault.Wrap(m.WriteFile(path), "path")
}

// outputShape is anynpu_output_shape: the number of sizes, of which as many are stored as there is room for.
func outputShape(of uintptr, output uint32, dims unsafe.Pointer, size uint64) (int32, error) {
	o, err := handle.HoldAny(of)
	if err != nil {
		return 0, fault.Wrap(err, "handle: %#x", of)
	}
	defer handle.Unhold(of)
	has, ok := o.(interface{ OutputShape(i int) ([]int64, error) })
	if !ok {
		return 0, fault.New(fault.Argument, "handle: %#x: neither a rknn_context nor an hbDNNTaskHandle_t "+
			"[anynpu-handle-rknn-context]", of)
	}
	shape, err := has.OutputShape(int(output))
	if err != nil {
		return 0, err
	}
	n := min(size, uint64(len(shape)))
	if n == 0 {
		return int32(len(shape)), nil
	}
	if dims == nil {
		return 0, fault.New(fault.Argument, "dims is NULL: size says that it has room for %d numbers "+
			"[anynpu-dims-null-size]", size)
	}
	if err := boundary.CheckRange(dims, 8*n); err != nil {
		return 0, fault.Wrap(err, "dims")
	}
	copy(unsafe.Slice((*int64)(dims), n), shape)
	return int32(len(shape)), nil
}
