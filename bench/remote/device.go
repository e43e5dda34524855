package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/backends/remote"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/format/onnx/export"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/io"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// neg is y = -x over n numbers, of any number of them for -1.
func neg(n int64) (*graph.Graph, error) {
	b := graph.NewBuilder("neg")
	shape := tensor.Of(1)
	shape.Dims[0] = tensor.D(n)
	if n < 0 {
		shape.Dims[0] = tensor.AnyDim()
	}
	y := b.Add(&op.Neg{}, b.Input("x", tensor.Type{DType: tensor.Float32, Shape: shape}))
	b.Name(y, "y")
	b.Output(y)
	return b.Graph()
}

// numbers are bytes of float32 in memory, no two neighbours alike.
func numbers(bytes int) []byte {
	x := make([]byte, bytes)
	for i := range bytes / 4 {
		binary.LittleEndian.PutUint32(x[4*i:], math.Float32bits(float32(i%1009)-500))
	}
	return x
}

// negated checks the results of a side.
func negated(x, y []byte) error {
	for i := range len(x) / 4 {
		a := math.Float32frombits(binary.LittleEndian.Uint32(x[4*i:]))
		if b := math.Float32frombits(binary.LittleEndian.Uint32(y[4*i:])); a != -b {
			return fmt.Errorf("number %d of %v became %v", i, a, b)
		}
	}
	return nil
}

// startWithin starts a command that is killed when this process ends, in whatever way. The kernel watches the thread
// that starts it, so that thread is kept.
func startWithin(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		started <- cmd.Start()
		select {}
	}()
	return <-started
}

// serve starts the server and fills in its addresses.
func serve(o *options) (end func(), err error) {
	dir, err := os.MkdirTemp("", "anynpu-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) // the server has it in memory when it is ready
	g, err := neg(-1)
	if err != nil {
		return nil, err
	}
	m, err := export.Of(g, export.Options{})
	if err != nil {
		return nil, err
	}
	if err := m.WriteFile(filepath.Join(dir, "neg.onnx")); err != nil {
		return nil, err
	}
	cmd := exec.Command(o.anynpu, "serve", dir, "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0", "--shared-memory")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := startWithin(cmd); err != nil {
		return nil, err
	}
	end = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	for s := bufio.NewScanner(out); s.Scan(); {
		if text, is := strings.CutPrefix(s.Text(), "gRPC on "); is {
			o.grpc = text
		}
		if text, is := strings.CutPrefix(s.Text(), "HTTP on "); is {
			o.http = text
		}
		if strings.HasPrefix(s.Text(), "ready: ") {
			o.server = cmd.Process.Pid
			return end, nil
		}
	}
	end()
	return nil, fmt.Errorf("%s does not serve", o.anynpu)
}

// through is a run of the device on the caller's memory, as programs of the APIs make it.
func through(helper, address string, x []byte, shared bool) (*side, error) {
	s := &side{name: "device", y: make([]byte, len(x))}
	if shared {
		s.name = "shared memory"
	}
	d, err := remote.New(remote.Config{
		Remote: &dl.Remote{Name: "bench", Addresses: []string{address}, Choice: dl.ChoiceOrder, Model: "neg",
			DeadlineMS: deadline.Milliseconds(), Connections: 1, Largest: dl.RemoteLargest, Fallback: dl.FallbackOff,
			SharedMemory: shared},
		Start: func(socket *os.File) (func(), error) {
			cmd := exec.Command(helper)
			cmd.ExtraFiles = []*os.File{socket}
			cmd.Stderr = os.Stderr
			err := cmd.Start()
			if err == nil {
				s.pid = cmd.Process.Pid
			}
			return func() { _ = cmd.Wait() }, err
		},
	})
	if err != nil {
		return nil, err
	}
	g, err := neg(int64(len(x) / 4))
	if err != nil {
		return nil, err
	}
	p, err := compile.Compile(context.Background(), g, []device.Device{d}, compile.Options{})
	if err != nil {
		return nil, err
	}
	e, err := p.New(device.ExecOptions{})
	if err != nil {
		return nil, err
	}
	t := tensor.T(tensor.Float32, int64(len(x)/4))
	run := io.New(e, 1, 1)
	if err := run.Input(0, mem.View{Buf: mem.Borrow(x, nil), Type: t}); err != nil {
		return nil, err
	}
	if err := run.Output(0, mem.View{Buf: mem.Borrow(s.y, nil), Type: t}); err != nil {
		return nil, err
	}
	s.call = func() error { return run.Run(device.RunRequest{}) }
	s.end = func() { run.Release(); p.Release(); d.Close() }
	return s, nil
}
