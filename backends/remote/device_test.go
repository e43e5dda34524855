package remote

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/remote/fake"
)

func TestRun_onAServer(t *testing.T) {
	s := start(t, nil)
	for name, address := range map[string]string{"gRPC": s.GRPC(), "REST": s.REST()} {
		for _, f := range []fake.Fault{fake.None, fake.Typed, fake.OneMore, fake.Extra, fake.GoAway, fake.None} {
			s.Fault.Store(int32(f))
			d, told := open(t, manifest(nil, address))
			j := prepare(t, d, twice(t, 4), 4)
			assert.Equal(t, []string{"remote:test", "remote:test", "remote:test"}, j.where())
			for i := range 3 {
				require.NoError(t, j.run(float32(i), device.RunRequest{}), "%s, fault %d", name, f)
				j.right(float32(i))
			}
			require.Len(t, *told, 1)
			assert.Contains(t, (*told)[0], "data leaves this process for "+address)
		}
	}
	assert.Equal(t, int64(36), s.Infers.Load())
}

func TestRun_openSizes(t *testing.T) {
	s := start(t, nil)
	for _, address := range []string{s.GRPC(), s.REST()} {
		d, _ := open(t, manifest(nil, address))
		for _, rows := range []int64{1, 7, 300} {
			j := prepare(t, d, twice(t, 0), rows)
			require.NoError(t, j.run(3, device.RunRequest{}))
			j.right(3)
			got, err := j.x.OutputType(1)
			require.NoError(t, err)
			assert.True(t, got.Shape.Equal(tensor.Of(rows, 3)))
		}
	}
}

// TestFaults has the server misbehave: without a fallback each run ends with the error of its kind, with one the CPU
// computes.
func TestFaults(t *testing.T) {
	s := start(t, nil)
	cases := []struct {
		fault fake.Fault
		kind  fault.Kind
		died  bool
		text  string
		grpc  bool // of gRPC alone
	}{
		{fake.Half, fault.Device, false, "half an answer", false},
		{fake.Cut, fault.Device, true, "", true},
		{fake.WrongShape, fault.Device, false, `output "y" has the shape [2 4 3], want [4 3]`, false},
		{fake.WrongLength, fault.Device, false, `output "y" has 47 bytes, want 48`, false},
		{fake.WrongType, fault.Device, false, `output "y" is "INT32", want float32`, false},
		{fake.NoOutput, fault.Device, false, `no output "y" in the answer`, false},
		{fake.Reset, fault.Device, true, "no server", false},
		{fake.Large, fault.Memory, false, "largest_message", false},
		{fake.Garbage, fault.Device, false, "the server's answer is wrong", false},
		{fake.Compressed, fault.Device, false, "a compressed answer", true},
		{fake.NoStatus, fault.Device, true, "without a status", true},
		{fake.Busy, fault.Device, false, "the servers are busy", false},
		{fake.Overlarge, fault.Memory, false, "larger than max", true},
		{fake.StubDied, fault.Device, true, "Stub process", true},
		{fake.Broken, fault.Device, false, `ray::Replica Traceback: File x ValueError: no`, true},
		{fake.Denied, fault.Device, false, "denies access", false},
		{fake.NotFound, fault.Device, false, "unknown model", false},
		{fake.Invalid, fault.Device, false, "unexpected shape", false},
		{fake.EndlessHead, fault.Device, true, "", true},
	}
	for _, c := range cases {
		addresses := []string{s.GRPC(), s.REST()}
		if c.grpc {
			addresses = addresses[:1]
		}
		for _, address := range addresses {
			s.Fault.Store(int32(fake.None))
			d, _ := open(t, manifest(func(r *dl.Remote) { r.Largest = 1 << 20 }, address))
			j := prepare(t, d, twice(t, 4), 4)
			s.Fault.Store(int32(c.fault))
			err := j.run(0, device.RunRequest{})
			require.Error(t, err, "fault %d of %s", c.fault, address)
			assert.Equal(t, c.kind, fault.KindOf(err), "fault %d of %s: %v", c.fault, address, err)
			assert.Equal(t, c.died, errors.Is(err, device.ErrDied), "fault %d of %s: %v", c.fault, address, err)
			assert.ErrorContains(t, err, c.text, "fault %d of %s", c.fault, address)
			assert.ErrorContains(t, err, address)
			assert.NotContains(t, err.Error(), "\x1b")
			s.Fault.Store(int32(fake.None))
			soon(t, func() bool { return j.run(5, device.RunRequest{}) == nil }) // a rest may be under way
			j.right(5)

			s.Fault.Store(int32(c.fault))
			local, told := open(t, manifest(func(r *dl.Remote) { r.Largest = 1 << 20; r.Fallback = dl.FallbackCPU }, address))
			s.Fault.Store(int32(fake.None))
			k := prepare(t, local, twice(t, 4), 4)
			s.Fault.Store(int32(c.fault))
			require.NoError(t, k.run(1, device.RunRequest{}), "fault %d of %s", c.fault, address)
			k.right(1)
			assert.True(t, slices.ContainsFunc(*told, func(line string) bool {
				return line == "remote:test: computed here instead: "+err.Error()
			}) || c.text == "", "fault %d: %v, want %v", c.fault, *told, err)
		}
	}
}

func TestRun_elsewhere(t *testing.T) {
	for _, c := range []struct {
		fault fake.Fault
		again bool
	}{{fake.Reset, true}, {fake.Busy, true}, {fake.NotFound, true}, {fake.Half, true}, {fake.StubDied, true},
		{fake.Broken, false}, {fake.Invalid, false}, {fake.Denied, false}} {
		bad, good := start(t, nil), start(t, nil)
		d, _ := open(t, manifest(nil, bad.GRPC(), good.GRPC()))
		j := prepare(t, d, twice(t, 2), 2)
		bad.Fault.Store(int32(c.fault))
		err := j.run(2, device.RunRequest{})
		if c.again {
			require.NoError(t, err, "fault %d", c.fault)
			j.right(2)
			assert.Equal(t, int64(1), good.Infers.Load())
		} else {
			require.Error(t, err, "fault %d", c.fault)
			assert.Zero(t, good.Infers.Load(), "fault %d", c.fault)
		}
		assert.Equal(t, int64(1), bad.Infers.Load())
	}
}

func TestRun_deadlineAndCancel(t *testing.T) {
	s := start(t, nil)
	d, _ := open(t, manifest(func(r *dl.Remote) { r.DeadlineMS = 50 }, s.GRPC()))
	j := prepare(t, d, twice(t, 4), 4)
	s.Fault.Store(int32(fake.Slow))
	err := j.run(0, device.RunRequest{})
	require.Error(t, err)
	assert.Equal(t, fault.Timeout, fault.KindOf(err), "%v", err)

	long, _ := open(t, manifest(func(r *dl.Remote) { r.DeadlineMS = 60000 }, s.GRPC()))
	s.Fault.Store(int32(fake.None))
	k := prepare(t, long, twice(t, 4), 4)
	s.Fault.Store(int32(fake.Slow))
	err = k.run(0, device.RunRequest{Deadline: time.Now().Add(50 * time.Millisecond)})
	require.Error(t, err)
	assert.Equal(t, fault.Timeout, fault.KindOf(err), "%v", err)

	before := s.Infers.Load()
	ended := make(chan error, 1)
	require.NoError(t, k.x.Start(device.RunRequest{Done: func(err error) { ended <- err }}))
	soon(t, func() bool { return s.Infers.Load() > before })
	k.x.Cancel()
	err = <-ended // the server would take 30 s
	require.Error(t, err)
	assert.Equal(t, fault.Canceled, fault.KindOf(err), "%v", err)
	s.Fault.Store(int32(fake.None))
	require.NoError(t, k.run(9, device.RunRequest{}))
	k.right(9)
}

func TestMatch_refusesWithBothLists(t *testing.T) {
	s := start(t, nil)
	d, told := open(t, manifest(nil, s.GRPC()))
	b := graph.NewBuilder("other")
	x := b.Input("x", tensor.T(tensor.Float32, 4, 2))
	b.Output(b.Add(&op.Add{}, x, x))
	g, err := b.Graph()
	require.NoError(t, err)
	answers, err := d.Support(g, device.Options{})
	require.NoError(t, err)
	for _, a := range answers {
		assert.False(t, a.OK)
		assert.Contains(t, a.Reason, `model "twice" of `+s.GRPC())
		assert.Contains(t, a.Reason, `the server has ("x" FP32[-1 3]) -> ("y" FP32[-1 3], "z" FP32[-1 3]), `+
			`the graph has ("x" float32[4,2]) -> ("" float32[4,2])`)
	}
	other, _ := open(t, manifest(func(r *dl.Remote) {
		r.Model, r.Models = "", []dl.RemoteModel{{Name: "another", Model: "twice"}}
	}, s.GRPC()))
	answers, err = other.Support(twice(t, 4), device.Options{})
	require.NoError(t, err)
	assert.Equal(t, `the manifest names no model for the graph "twice"`, answers[0].Reason)
	missing, _ := open(t, manifest(func(r *dl.Remote) { r.Model = "nosuch" }, s.GRPC()))
	answers, err = missing.Support(twice(t, 4), device.Options{})
	require.NoError(t, err)
	assert.Contains(t, answers[0].Reason, "the server has no such model")
	require.NotEmpty(t, *told)
}
