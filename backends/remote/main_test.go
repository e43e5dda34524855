package remote

import (
	"context"
	"crypto/tls"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/leak"
	"github.com/anynpu/anynpu/internal/remote"
	"github.com/anynpu/anynpu/internal/remote/fake"
)

// asHelper is a variable that makes a process of this program the helper.
const asHelper = "ANYNPU_TEST_AS_HELPER"

func TestMain(m *testing.M) {
	if os.Getenv(asHelper) != "" {
		c, err := link.NewConn(link.SocketFD)
		if err == nil {
			err = remote.Serve(c)
		}
		if err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(leak.Run(m, mem.LiveCounters))
}

// inProcess is a Config.Start whose helper is a goroutine.
func inProcess(t testing.TB) func(*os.File) (func(), error) {
	return func(socket *os.File) (func(), error) {
		fd, err := unix.FcntlInt(socket.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		c, err := link.NewConn(fd)
		if err != nil {
			return nil, err
		}
		ended := make(chan error, 1)
		go func() {
			err := remote.Serve(c)
			c.Close()
			ended <- err
		}()
		return func() {
			if err := <-ended; err != nil {
				t.Errorf("the helper: %v", err)
			}
		}, nil
	}
}

// twice is y = 2 x + 1 over float32[rows,3], and z = y + y; rows 0: any number.
func twice(t testing.TB, rows int64) *graph.Graph {
	b := graph.NewBuilder("twice")
	shape := tensor.Of(max(rows, 1), 3)
	if rows == 0 {
		shape.Dims[0] = tensor.AnyDim()
	}
	x := b.Input("x", tensor.Type{DType: tensor.Float32, Shape: shape})
	y := b.Add(&op.Add{}, b.Add(&op.Mul{}, x, b.Float32(2)), b.Float32(1))
	b.Name(y, "y")
	z := b.Add(&op.Add{}, y, y)
	b.Name(z, "z")
	b.Output(y, z)
	g, err := b.Graph()
	require.NoError(t, err)
	return g
}

// reference computes on the CPU.
func reference(t testing.TB) device.Device {
	d, err := cpu.New(cpu.Config{Threads: 1})
	require.NoError(t, err)
	return d
}

// start runs a fake server that computes twice.
func start(t testing.TB, config *tls.Config, options ...func(*fake.Server)) *fake.Server {
	m, err := fake.OfGraph("twice", twice(t, 0), reference(t))
	require.NoError(t, err)
	s, err := fake.Start(config, []*fake.Model{m}, options...)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// manifest is one for addresses, changed by change.
func manifest(change func(*dl.Remote), addresses ...string) *dl.Remote {
	r := &dl.Remote{Name: "test", Addresses: addresses, Choice: dl.ChoiceOrder, Model: "twice", DeadlineMS: 5000,
		Connections: 1, Largest: dl.RemoteLargest, Fallback: dl.FallbackOff}
	if change != nil {
		change(r)
	}
	return r
}

// open makes the device of a manifest.
func open(t testing.TB, r *dl.Remote) (*Device, *[]string) {
	var told []string
	c := Config{Remote: r, Start: inProcess(t), Tell: func(text string) { told = append(told, text) }} // one at a time
	if r.Fallback == dl.FallbackCPU {
		c.Local = reference(t)
	}
	d, err := New(c)
	require.NoError(t, err)
	t.Cleanup(d.Close)
	return d, &told
}

// job is an execution of a graph with an input of rows by 3.
type job struct {
	t       testing.TB
	program *compile.Program
	x       device.Execution
	in      mem.Buffer
	rows    int64
}

// prepare compiles a graph for a device with the CPU behind it.
func prepare(t testing.TB, d device.Device, g *graph.Graph, rows int64) *job {
	p, err := compile.Compile(context.Background(), g, []device.Device{d, reference(t)}, compile.Options{ByCost: true})
	require.NoError(t, err)
	j := &job{t: t, program: p, rows: rows}
	j.x, err = p.New(device.ExecOptions{})
	require.NoError(t, err)
	j.in, err = mem.Host(rows*12, mem.Options{})
	require.NoError(t, err)
	require.NoError(t, j.x.BindInput(0, mem.View{Buf: j.in, Type: tensor.T(tensor.Float32, rows, 3)}))
	t.Cleanup(func() {
		j.x.Release()
		j.in.Release()
		p.Release()
	})
	return j
}

// run runs with x[i] = i + start.
func (j *job) run(start float32, r device.RunRequest) error {
	v := make([]float32, j.rows*3)
	for i := range v {
		v[i] = start + float32(i)
	}
	require.NoError(j.t, mem.Write(j.in, 0, tensor.Float32s(v...)))
	return exec.Run(context.Background(), j.x, r)
}

// right checks the outputs of a run.
func (j *job) right(start float32) {
	j.t.Helper()
	for i, factor := range []float32{1, 2} {
		data, err := j.x.OutputData(i)
		require.NoError(j.t, err)
		got, err := tensor.ReadFloat32s(data, int(j.rows)*3)
		require.NoError(j.t, err)
		for k, v := range got {
			require.InDelta(j.t, factor*(2*(start+float32(k))+1), v, 1e-5, "output %d, element %d", i, k)
		}
	}
}

// where are the devices that compute the nodes.
func (j *job) where() (out []string) {
	for _, n := range j.program.Placement().Nodes {
		out = append(out, n.Device)
	}
	return out
}

// soon waits until f says true.
func soon(t testing.TB, f func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !f(); time.Sleep(time.Millisecond) {
		require.True(t, time.Now().Before(end), "it does not become true")
	}
}
