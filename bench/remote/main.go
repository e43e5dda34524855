// Command remote measures what a remote device costs beside a direct client of grpc-go: the same tensors to the same
// server, in turns, one call at a time. The device is measured with shared memory, too, which the server may refuse.
//
//	go run ./remote -address HOST:PORT [-helper FILE] [-rounds N]
//
// The server computes y = -x over float32[-1], as model neg. It is a process of its own, for one in the direct client's
// process would spare that client what the helper has: the way from process to process.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"

	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/backends/remote"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/oip"
	"github.com/anynpu/anynpu/internal/session"
)

func main() {
	address := flag.String("address", "", "of a server that has neg, HOST:PORT")
	helper := flag.String("helper", "../build/lib/anynpu-remote", "the program that speaks with servers")
	rounds := flag.Int("rounds", 200, "calls of each side and size")
	flag.Parse()
	if err := run(*address, *helper, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "remote:", err)
		os.Exit(1)
	}
}

func run(address, helper string, rounds int) error {
	if address == "" {
		return errors.New("-address: want HOST:PORT of a server that has neg, in a process of its own")
	}
	for _, bytes := range []int64{150528, 5227200} {
		if err := compare(address, helper, bytes, rounds); err != nil {
			return err
		}
	}
	return nil
}

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

func compare(address, helper string, bytes int64, rounds int) error {
	x := make([]byte, bytes)
	direct, end, err := newDirect(address, x)
	if err != nil {
		return err
	}
	defer end()
	through, stop, err := newThrough(address, helper, bytes/4, x, false)
	if err != nil {
		return err
	}
	defer stop()
	shared, stopShared, err := newThrough(address, helper, bytes/4, x, true)
	if err != nil {
		return err
	}
	defer stopShared()
	calls := []func() error{direct, through, shared}
	times := make([][]time.Duration, len(calls))
	for i := range rounds + 10 {
		for side, call := range calls {
			from := time.Now()
			if err := call(); err != nil {
				return err
			}
			if i >= 10 {
				times[side] = append(times[side], time.Since(from))
			}
		}
	}
	for _, t := range times {
		slices.Sort(t)
	}
	at := func(t []time.Duration, q float64) float64 {
		return float64(t[int(q*float64(len(t)-1))].Microseconds()) / 1e3
	}
	fmt.Printf("%d bytes, %d calls each: direct min %.3f p50 %.3f ms\n", bytes, rounds, at(times[0], 0), at(times[0], 0.5))
	for side, name := range []string{"device", "shared memory"} {
		t := times[side+1]
		fmt.Printf("  %s min %.3f p50 %.3f ms, ratio min %.3f p50 %.3f\n", name, at(t, 0), at(t, 0.5),
			at(t, 0)/at(times[0], 0), at(t, 0.5)/at(times[0], 0.5))
	}
	return nil
}

// codec marshals the requests of package oip as generated code does: into one slice.
type codec struct{}

func (codec) Name() string { return "proto" }

func (codec) Marshal(v any) (mem.BufferSlice, error) {
	parts, size := v.(*oip.Request).Parts()
	b := make([]byte, 0, size)
	for _, p := range parts {
		b = append(b, p...)
	}
	return mem.BufferSlice{mem.SliceBuffer(b)}, nil
}

func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	m, err := oip.ParseResponse(data.Materialize())
	if err == nil {
		*v.(*oip.Response) = *m
	}
	return err
}

func newDirect(address string, x []byte) (call func() error, end func(), err error) {
	encoding.RegisterCodecV2(codec{})
	c, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(1<<30)))
	if err != nil {
		return nil, nil, err
	}
	y := make([]byte, len(x))
	q := &oip.Request{Model: "neg", ID: "1", Inputs: []oip.Tensor{{Name: "x", Datatype: "FP32",
		Shape: []int64{int64(len(x) / 4)},
		Raw:   x}}, Outputs: []oip.Requested{{Name: "y"}}}
	return func() error {
		var r oip.Response
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := c.Invoke(ctx, oip.ModelInfer, q, &r); err != nil {
			return err
		}
		copy(y, r.Outputs[0].Raw)
		return nil
	}, func() { c.Close() }, nil
}

func newThrough(address, helper string, n int64, x []byte, shared bool) (call func() error, end func(),
	err error) {
	d, err := remote.New(remote.Config{
		Remote: &dl.Remote{Name: "bench", Addresses: []string{"grpc://" + address}, Choice: dl.ChoiceOrder, Model: "neg",
			DeadlineMS: 60000, Connections: 1, Largest: dl.RemoteLargest, Fallback: dl.FallbackOff, SharedMemory: shared},
		Start: func(socket *os.File) (func(), error) {
			cmd := exec.Command(helper)
			cmd.ExtraFiles = []*os.File{socket}
			cmd.Stderr = os.Stderr
			return func() { _ = cmd.Wait() }, cmd.Start()
		},
	})
	if err != nil {
		return nil, nil, err
	}
	g, err := neg(n)
	if err != nil {
		return nil, nil, err
	}
	s, err := session.Open(context.Background(), g, []device.Device{d}, compile.Options{}, device.ExecOptions{})
	if err != nil {
		return nil, nil, err
	}
	if err := s.Bind([]tensor.Tensor{{DType: tensor.Float32, Dims: []int64{n}, Data: x}}); err != nil {
		return nil, nil, err
	}
	return func() error { return s.Repeat(time.Time{}) }, func() { s.Close(); d.Close() }, nil
}
