package remote

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/remote/fake"
)

// loadable is a fake server that has no model and takes those that are sent.
func loadable(t testing.TB, options ...func(*fake.Server)) *fake.Server {
	load := func(s *fake.Server) { s.Load = fake.OfFile(reference(t)) }
	s, err := fake.Start(nil, nil, append([]func(*fake.Server){load}, options...)...)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// sends is a change of a manifest: graphs are sent to servers, whose models take the graphs' names.
func sends(change func(*dl.Remote), servers ...*fake.Server) func(*dl.Remote) {
	return func(r *dl.Remote) {
		r.Model, r.Upload = "", &dl.RemoteUpload{Backend: dl.UploadTriton, DeadlineMS: 20000}
		for _, s := range servers {
			r.Upload.Addresses = append(r.Upload.Addresses, s.REST())
		}
		if change != nil {
			change(r)
		}
	}
}

// said counts the lines that have a piece of text.
func said(told []string, text string) (n int) {
	for _, line := range told {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// TestSend: a server without the model loads it and computes it; the log says so first. A second program with the same
// graph uses that model, and nothing is sent unless the manifest asks for it.
func TestSend(t *testing.T) {
	type sent struct {
		config string
		files  []string
	}
	var mu sync.Mutex
	var got []sent
	s := loadable(t, func(s *fake.Server) {
		load := s.Load
		s.Load = func(name, config string, files map[string][]byte) (*fake.Model, error) {
			mu.Lock()
			defer mu.Unlock()
			var paths []string
			for path := range files {
				paths = append(paths, path)
			}
			slices.Sort(paths)
			got = append(got, sent{config, paths})
			return load(name, config, files)
		}
	})
	never, _ := open(t, manifest(nil, s.GRPC()))
	answers, err := never.Support(twice(t, 4), device.Options{})
	require.NoError(t, err)
	assert.Contains(t, answers[0].Reason, "the server has no such model")
	assert.Zero(t, s.Loads.Load())

	for i, address := range []string{s.GRPC(), s.REST()} {
		backend := []string{dl.UploadTriton, dl.UploadTritonPython}[i]
		d, told := open(t, manifest(sends(func(r *dl.Remote) { r.Upload.Backend = backend }, s), address))
		j := prepare(t, d, twice(t, int64(4+i)), int64(4+i)) // two graphs
		assert.Equal(t, []string{"remote:test", "remote:test", "remote:test"}, j.where())
		require.NoError(t, j.run(3, device.RunRequest{}))
		j.right(3)
		require.Len(t, *told, 2)
		assert.Contains(t, (*told)[0], "leaves this machine")
		assert.Contains(t, (*told)[0], "remote device test says: "+s.REST()+" [remote-model-leaves]")
		assert.Contains(t, (*told)[1], "data leaves this process for "+address)

		other, told := open(t, manifest(sends(nil, s), address))
		k := prepare(t, other, twice(t, int64(4+i)), int64(4+i))
		require.NoError(t, k.run(5, device.RunRequest{}))
		k.right(5)
		assert.Zero(t, said(*told, "leaves this machine"))
	}
	assert.Equal(t, int64(2), s.Loads.Load())
	assert.Equal(t, int64(4), s.Infers.Load())
	names := s.Models()
	require.Len(t, names, 2)
	for i, c := range got {
		backend := []string{"onnxruntime", "python"}[i]
		k := slices.IndexFunc(names, func(n string) bool { return strings.Contains(c.config, `"`+n+`"`) })
		require.GreaterOrEqual(t, k, 0)
		assert.Regexp(t, `^anynpu-[0-9a-f]{32}$`, names[k])
		rows := []string{"4", "5"}[i]
		assert.JSONEq(t, `{"name": "`+names[k]+`", "backend": "`+backend+`", "max_batch_size": 0,
			"input": [{"name": "x", "data_type": "TYPE_FP32", "dims": [`+rows+`, 3]}],
			"output": [{"name": "y", "data_type": "TYPE_FP32", "dims": [`+rows+`, 3]},
				{"name": "z", "data_type": "TYPE_FP32", "dims": [`+rows+`, 3]}],
			"instance_group": [{"kind": "KIND_CPU"}]}`, c.config)
		assert.Equal(t, [][]string{{"1/model.onnx"}, {"1/model.onnx", "1/model.py"}}[i], c.files)
	}
}

// TestSend_named: the manifest's name is used, and a model of that name with other ports is not replaced.
func TestSend_named(t *testing.T) {
	s := loadable(t)
	named := sends(func(r *dl.Remote) { r.Model = "mine" })
	d, _ := open(t, manifest(named, s.REST()))
	j := prepare(t, d, twice(t, 0), 7) // of any number of rows
	require.NoError(t, j.run(1, device.RunRequest{}))
	j.right(1)
	assert.Equal(t, []string{"mine"}, s.Models())

	b := graph.NewBuilder("other")
	x := b.Input("x", tensor.T(tensor.Float32, 4, 2))
	b.Output(b.Add(&op.Add{}, x, x))
	g, err := b.Graph()
	require.NoError(t, err)
	answers, err := d.Support(g, device.Options{})
	require.NoError(t, err)
	assert.Contains(t, answers[0].Reason, "its ports are not the graph's")
	assert.Equal(t, int64(1), s.Loads.Load())
}

// TestSend_refused: every way in which a model is not loaded has its line; then the next address computes, or the CPU.
func TestSend_refused(t *testing.T) {
	for _, c := range []struct {
		fault fake.Fault
		id    string
		wire  func(*dl.Remote)
	}{
		{fake.LoadRefused, "no backend for it\" [remote-load-refused]", nil},
		{fake.LoadHalf, "half an answer [remote-load-answer]", nil},
		{fake.LoadCut, "[remote-load-away]", nil},
		{fake.LoadSlow, "[remote-load-late]", func(r *dl.Remote) { r.Upload.DeadlineMS = 300 }},
		{fake.LoadLost, "after it has loaded the model", nil},
	} {
		bad, good := loadable(t), loadable(t)
		bad.Fault.Store(int32(c.fault))
		alone, told := open(t, manifest(sends(c.wire, bad), bad.GRPC()))
		j := prepare(t, alone, twice(t, 4), 4)
		assert.Equal(t, []string{"cpu", "cpu", "cpu"}, j.where(), "fault %d", c.fault)
		assert.Equal(t, 1, said(*told, c.id), "fault %d: %q", c.fault, *told)
		require.Len(t, *told, 2, "fault %d", c.fault)
		assert.True(t, strings.HasPrefix((*told)[1], bad.REST()+" "), "fault %d: %q", c.fault, *told)
		require.NoError(t, j.run(2, device.RunRequest{}))
		j.right(2)

		two, told := open(t, manifest(sends(c.wire, bad, good), bad.GRPC(), good.GRPC()))
		if c.wire != nil {
			two.config.Remote.Upload.DeadlineMS = 3000 // the other one has to load it meanwhile
		}
		k := prepare(t, two, twice(t, 4), 4)
		assert.Equal(t, []string{"remote:test", "remote:test", "remote:test"}, k.where(), "fault %d: %q", c.fault, *told)
		assert.Equal(t, 1, said(*told, c.id), "fault %d: %q", c.fault, *told)
		require.NoError(t, k.run(3, device.RunRequest{}))
		k.right(3)
		assert.Equal(t, int64(1), good.Infers.Load())
	}
}

// TestSend_notThere: servers that take no models, and models that are too large, get none.
func TestSend_notThere(t *testing.T) {
	s := loadable(t, func(s *fake.Server) { s.Load = nil })
	d, told := open(t, manifest(sends(nil, s), s.GRPC()))
	assert.Equal(t, []string{"cpu", "cpu", "cpu"}, prepare(t, d, twice(t, 4), 4).where())
	assert.Equal(t, 1, said(*told, s.REST()+` takes no models, such as anynpu-`), "%q", *told)
	assert.Equal(t, 1, said(*told, `[remote-load-unknown]`), "%q", *told)

	large := loadable(t)
	for largest, id := range map[int64]string{50: "[remote-load-file-size]", 700: "[remote-load-size]"} {
		d, told = open(t, manifest(sends(func(r *dl.Remote) { r.Largest = largest }), large.REST()))
		assert.Equal(t, []string{"cpu", "cpu", "cpu"}, prepare(t, d, twice(t, 4), 4).where())
		assert.Zero(t, large.Loads.Load())
		assert.Equal(t, 1, said(*told, id), "%q", *told)
	}

	gone := loadable(t)
	address := gone.REST()
	gone.Kill()
	d, told = open(t, manifest(sends(nil), address))
	assert.Equal(t, []string{"cpu", "cpu", "cpu"}, prepare(t, d, twice(t, 4), 4).where())
	assert.Zero(t, said(*told, "leaves this machine"))
}

// TestSend_again: a server that has begun anew, and lost the model, gets it again.
func TestSend_again(t *testing.T) {
	s, other := loadable(t), loadable(t)
	d, _ := open(t, manifest(sends(nil, s), s.GRPC()))
	j := prepare(t, d, twice(t, 4), 4)
	require.NoError(t, j.run(1, device.RunRequest{}))
	name := s.Models()[0]
	soon(t, func() bool {
		s.Drop(name)
		return j.run(2, device.RunRequest{}) == nil // not more often than once in a time
	})
	j.right(2)
	assert.Equal(t, []string{name}, s.Models())

	both, _ := open(t, manifest(sends(func(r *dl.Remote) { r.Choice = dl.ChoiceRoundRobin }, s, other), s.GRPC(),
		other.GRPC()))
	k := prepare(t, both, twice(t, 4), 4)
	soon(t, func() bool { // runs go on at the one that has it
		require.NoError(t, k.run(4, device.RunRequest{}))
		k.right(4)
		return len(other.Models()) == 1
	})
}

// TestSend_image: nodes that make a tensor of an image stay here.
func TestSend_image(t *testing.T) {
	b := graph.NewBuilder("image")
	image := b.Input("image", tensor.T(tensor.Uint8, 1, 2, 2, 1))
	x := b.Add(&op.DecodeImage{Pixel: op.PixelGray, Interleaved: true, Order: op.OrderGray, Mean: []float32{128},
		Scale: []float32{0.5}}, image)
	y := b.Add(&op.Add{}, b.Add(&op.Mul{}, x, b.Float32(2)), b.Float32(1))
	b.Name(y, "y")
	b.Output(y)
	g, err := b.Graph()
	require.NoError(t, err)
	s := loadable(t)
	d, _ := open(t, manifest(sends(nil), s.REST()))
	p, err := compile.Compile(context.Background(), g, []device.Device{d, reference(t)}, compile.Options{})
	require.NoError(t, err)
	defer p.Release()
	var where []string
	for _, n := range p.Placement().Nodes {
		where = append(where, n.Device)
	}
	assert.Equal(t, []string{"cpu", "remote:test", "remote:test"}, where)
	e, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	defer e.Release()
	in, err := mem.Host(4, mem.Options{})
	require.NoError(t, err)
	defer in.Release()
	require.NoError(t, e.BindInput(0, mem.View{Buf: in, Type: tensor.T(tensor.Uint8, 1, 2, 2, 1)}))
	require.NoError(t, mem.Write(in, 0, []byte{128, 129, 0, 255}))
	require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
	data, err := e.OutputData(0)
	require.NoError(t, err)
	got, err := tensor.ReadFloat32s(data, 4)
	require.NoError(t, err)
	assert.Equal(t, []float32{1, 2, -127, 128}, got) // 2 (v - 128) / 2 + 1
	assert.Equal(t, int64(1), s.Infers.Load())
}
