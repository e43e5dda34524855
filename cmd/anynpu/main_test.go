package main

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/model"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/leak"
	"github.com/anynpu/anynpu/internal/npy"
)

func TestMain(m *testing.M) {
	signal.Stop(func() chan os.Signal { // Go's goroutine of signals stays
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGUSR2)
		return c
	}())
	os.Exit(leak.Run(m, mem.LiveCounters))
}

const digits = "../../examples/digits/"

// anynpu runs the tool and returns its exit code and output.
func anynpu(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = command(args, &out, &err)
	return code, out.String(), err.String()
}

func writeNPY(t *testing.T, x tensor.Tensor) string {
	path := filepath.Join(t.TempDir(), "x.npy")
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, npy.Write(f, x))
	require.NoError(t, f.Close())
	return path
}

func readNPY(t *testing.T, path string) tensor.Tensor {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	x, err := npy.Read(f)
	require.NoError(t, err)
	return x
}

// vectorModel is y = op(x, x) over float32[n] as ONNX bytes: ModelProto{ir_version 8, graph{node op, in x, out y},
// opset 17}. op may begin with a domain and a full stop.
func vectorModel(op string) []byte {
	str := func(num byte, s string) string { return string([]byte{num<<3 | 2, byte(len(s))}) + s }
	dim := str(1, str(2, "n"))
	value := func(name string) string {
		return str(1, name) + str(2, str(1, "\x08\x01"+str(2, dim)))
	}
	domain, op, ok := strings.Cut(op, ".")
	if !ok {
		domain, op = "", domain
	}
	node := str(1, "x") + str(1, "x") + str(2, "y") + str(4, op) + str(7, domain)
	graph := str(1, node) + str(2, "double") + str(11, value("x")) + str(12, value("y"))
	return []byte("\x08\x08" + str(2, "test") + str(7, graph) + str(8, "\x10\x11"))
}

func writeFile(t *testing.T, name string, data []byte) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

func TestExitCodes_table(t *testing.T) {
	model := writeFile(t, "m.onnx", vectorModel("Add"))
	strange := writeFile(t, "strange.onnx", vectorModel("Frobnicate"))
	whole, err := os.ReadFile(digits + "digits.onnx")
	require.NoError(t, err)
	cut := writeFile(t, "cut.onnx", whole[:len(whole)/2])
	x := writeNPY(t, tensor.Tensor{DType: tensor.Float32, Dims: []int64{2}, Data: tensor.Float32s(1, 2)})
	ints := writeNPY(t, tensor.New(tensor.Int32, 2))
	matrix := writeNPY(t, tensor.New(tensor.Float32, 2, 2))
	twice := writeNPY(t, tensor.Tensor{DType: tensor.Float32, Dims: []int64{2}, Data: tensor.Float32s(2, 4)})
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"runs", []string{"run", model, "-i", "x=" + x}, 0, ""},
		{"the only input needs no name", []string{"run", model, "-i", x}, 0, ""},
		{"as expected", []string{"run", model, "-i", x, "--expect", "y=" + twice}, 0, ""},
		{"different", []string{"run", model, "-i", x, "--expect", x}, 1, "1 of 1 outputs differs"},
		{"unknown verb", []string{"frob"}, 2, `unknown command "frob"`},
		{"unknown flag", []string{"run", model, "--frob"}, 2, "unknown flag: --frob"},
		{"no model", []string{"run"}, 2, "want one MODEL, got 0"},
		{"two models", []string{"inspect", model, model}, 2, "want one MODEL, got 2"},
		{"no input", []string{"run", model}, 2, `input "x" (float32[n]) is not given; add -i x=FILE`},
		{"unknown input", []string{"run", model, "-i", "z=" + x}, 2, `the model has no "z"; there is: x`},
		{"input twice", []string{"run", model, "-i", x, "-i", "x=" + x}, 2, "given twice"},
		{"no such file", []string{"run", model, "-i", "nowhere.npy"}, 2, "nowhere.npy"},
		{"not an array", []string{"run", model, "-i", model}, 2, "not a .npy file"},
		{"wrong type", []string{"run", model, "-i", ints}, 2, "holds int32"},
		{"wrong sizes", []string{"run", model, "-i", matrix}, 2, "holds sizes [2 2]"},
		{"wrong top-k", []string{"run", model, "-i", x, "--top-k", "-1"}, 2, "--top-k -1"},
		{"wrong repeat", []string{"run", model, "-i", x, "--repeat", "0"}, 2, "--repeat 0"},
		{"unknown expectation", []string{"run", model, "-i", x, "--expect", "q=" + x}, 2, `no "q"`},
		{"no such model", []string{"run", "nowhere.onnx"}, 3, "nowhere.onnx"},
		{"not a model", []string{"run", x}, 3, "not an ONNX model but a .npy file"},
		{"folder", []string{"inspect", t.TempDir()}, 3, ""},
		{"cut off", []string{"run", cut}, 3, "cut.onnx"},
		{"unknown operator", []string{"run", strange}, 3, "Frobnicate x 1"},
		{"unknown operator, check", []string{"check", strange}, 3, "Frobnicate x 1"},
		{"no such device", []string{"run", model, "--device", "npu9", "-i", x}, 4, `no device "npu9"; there is: cpu`},
		{"no such device, check", []string{"check", model, "--device", "npu9"}, 4, "npu9"},
		{"check engine", []string{"check", model, "--engine", "--shape", "x=5"}, 0, ""},
		{"check, flags of engine", []string{"check", model, "--shape", "x=5"}, 2, "go with --engine"},
		{"check passes", []string{"check", model, "--passes", "--shape", "x=5"}, 0, ""},
		{"check engine, no fast kernel", []string{"check", writeFile(t, "shift.onnx", vectorModel("Mod")), "--engine",
			"--shape", "x=5"}, 1, "0.00 % of the arithmetic"},
		{"check engine, unknown operator", []string{"check", strange, "--engine"}, 3, "Frobnicate x 1"},
		{"bench", []string{"bench", model, "--shape", "x=5", "--time", "0s", "--warmup", "0s", "--spread", "1e9"}, 0, ""},
		{"bench, open sizes", []string{"bench", model}, 2, `input "x" is float32[n]; give its sizes with --shape x=SIZES`},
		{"bench, wrong rank", []string{"bench", model, "--shape", "x=1,2"}, 2, "--shape x=1,2: the input is float32[n]"},
		{"bench, no size", []string{"bench", model, "--shape", "x=q"}, 2, `size "q": want a whole number`},
		{"bench, huge", []string{"bench", model, "--shape", "x=9223372036854775807"}, 2, "too large"},
		{"bench, file and sizes", []string{"bench", model, "-i", x, "--shape", "x=2"}, 2, "is given as a file"},
		{"bench, unknown input", []string{"bench", model, "--shape", "q=2"}, 2, `no "q"`},
		{"bench, wrong time", []string{"bench", model, "--time", "-1s"}, 2, "--time -1s"},
		{"bench, wrong spread", []string{"bench", model, "--spread", "NaN"}, 2, "--spread NaN"},
		{"run, wrong tolerance", []string{"run", model, "-i", x, "--rtol", "NaN"}, 2, "--rtol NaN"},
		{"bench, wrong threads", []string{"bench", model, "--threads", "-1"}, 2, "--threads -1"},
		{"bench, wrong API", []string{"bench", model, "--api", "nnapi"}, 2, "--api nnapi: want ohnn or rknn"},
		{"check, no such API", []string{"check", model, "--api", "cuda"}, 2, "want hbdnn, nnapi, ohnn, rknn"},
		{"bench, wrong instructions", []string{"bench", model, "--isa", "mmx"}, 2, "want instruction set " +
			kernel.ISANames()},
		{"bench, no baseline", []string{"bench", model, "--baseline", "nowhere.json"}, 2, "nowhere.json"},
		{"bench, wrong baseline", []string{"bench", model, "--baseline", model}, 2, "--baseline"},
		{"bench, no model", []string{"bench"}, 2, "want one MODEL"},
		{"bench, no such model", []string{"bench", "nowhere.onnx"}, 3, "nowhere.onnx"},
		{"bench, no such device", []string{"bench", model, "--device", "npu9"}, 4, "npu9"},
		{"profile", []string{"profile", model, "-i", x, "--runs", "1"}, 0, ""},
		{"profile, wrong runs", []string{"profile", model, "--runs", "0"}, 2, "--runs 0"},
		{"profile, cannot write", []string{"profile", model, "-i", x, "-o", t.TempDir()}, 5, "trace"},
		{"profile, no such model", []string{"profile", "nowhere.onnx"}, 3, "nowhere.onnx"},
		{"cannot write", []string{"run", model, "-i", x, "-o", model}, 5, "output"},
		{"timed out", []string{"run", model, "-i", x, "--timeout", "1ns"}, 7, ""},
	} {
		code, out, errs := anynpu(c.args...)
		assert.Equal(t, c.code, code, "%s: stdout %q stderr %q", c.name, out, errs)
		assert.Contains(t, errs, c.says, c.name)
		if c.code >= exitUsage && c.args[0] != "check" {
			assert.Empty(t, out, "%s: results only on stdout", c.name)
		}
		if c.code != 0 {
			assert.True(t, strings.HasPrefix(errs, "anynpu: "), "%s: %q", c.name, errs)
		}
	}
}

func TestFileNames_ownFileForEachOutput(t *testing.T) {
	long := strings.Repeat("n", 300)
	var ports []device.Port
	for _, name := range []string{"a:0", "a_0", "A_0", "..", "../x", "输出", "结果", long + "1", long + "2", ""} {
		ports = append(ports, device.Port{Name: name})
	}
	assert.Equal(t, []string{"a_0.npy", "a_0-2.npy", "A_0-3.npy", "...npy", ".._x.npy", "__.npy", "__-2.npy",
		long[:200] + ".npy", long[:200] + "-2.npy", ".npy"}, fileNames(ports))
}

func TestAssignments_namesWithEquals(t *testing.T) {
	ports := []device.Port{{Name: "x"}, {Name: "x=y"}}
	got, err := assignments("--input", []string{"x=y=f", "x=a=b"}, ports)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"x=y": "f", "x": "a=b"}, got)
}

func TestInputs_sizesOfOneName(t *testing.T) {
	m := &loaded{Model: &model.Model{Model: &onnx.Model{Symbols: []string{"N"}, Meta: &metadata.Metadata{}}}}
	shape := tensor.OfDims(tensor.Dim{Sym: 1})
	ports := []device.Port{{Name: "a", Type: tensor.Type{DType: tensor.Float32, Shape: shape}},
		{Name: "b", Type: tensor.Type{DType: tensor.Float32, Shape: shape}}}
	two, three := writeNPY(t, tensor.New(tensor.Float32, 2)), writeNPY(t, tensor.New(tensor.Float32, 3))
	_, err := (&inputFlags{files: []string{"a=" + two, "b=" + two}}).tensors(m, ports, io.Discard)
	require.NoError(t, err)
	_, err = (&inputFlags{files: []string{"a=" + two, "b=" + three}}).tensors(m, ports, io.Discard)
	assert.ErrorContains(t, err, "holds sizes [3], but N is 2 already")
}

func TestRun_writesOutputs(t *testing.T) {
	model := writeFile(t, "m.onnx", vectorModel("Add"))
	x := writeNPY(t, tensor.Tensor{DType: tensor.Float32, Dims: []int64{3}, Data: tensor.Float32s(1, 5, -2)})
	dir := filepath.Join(t.TempDir(), "made")
	code, out, errs := anynpu("run", model, "-i", x, "-o", dir, "--top-k", "2", "--repeat", "3", "--json")
	require.Equal(t, 0, code, errs)
	assert.Equal(t, tensor.Float32s(2, 10, -4), readNPY(t, filepath.Join(dir, "y.npy")).Data)
	var r struct {
		Schema  string
		Runs    int
		Outputs []struct {
			Name, Type string
			Sizes      []int64
			Min, Max   float64
			Mean       float64
			Top        []struct {
				Index int
				Value float64
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	assert.Equal(t, "anynpu.run/1", r.Schema)
	assert.Equal(t, 3, r.Runs)
	require.Len(t, r.Outputs, 1)
	o := r.Outputs[0]
	assert.Equal(t, "y float32", o.Name+" "+o.Type)
	assert.Equal(t, []int64{3}, o.Sizes)
	assert.Equal(t, []float64{-4, 10}, []float64{o.Min, o.Max})
	assert.InDelta(t, 8.0/3, o.Mean, 1e-6)
	require.Len(t, o.Top, 2)
	assert.Equal(t, 1, o.Top[0].Index)
	assert.Equal(t, 2.0, o.Top[1].Value)
}

func TestRun_recognizesImages(t *testing.T) {
	for _, c := range []struct{ file, top string }{{"000_label4.pgm", "\n       4  "},
		{"002_label5.pgm", "\n       5  "}} {
		path := digits + "images/" + c.file
		code, out, errs := anynpu("run", digits+"digits.onnx", "-i", path, "--top-k", "1")
		require.Equal(t, 0, code, errs)
		assert.Contains(t, out, c.top, c.file)
	}
}

// TestRun_preparesImages checks channel order, mean and std with a model whose output is its input.
func TestRun_preparesImages(t *testing.T) {
	str := func(num byte, s string) string { return string([]byte{num<<3 | 2, byte(len(s))}) + s }
	var shape string
	for _, d := range []byte{1, 3, 1, 2} {
		shape += str(1, string([]byte{8, d}))
	}
	value := func(name string) string { return str(1, name) + str(2, str(1, "\x08\x01"+str(2, shape))) }
	graph := str(1, str(1, "x")+str(2, "y")+str(4, "Identity")) + str(11, value("x")) + str(12, value("y"))
	model := writeFile(t, "m.onnx", []byte("\x08\x08"+str(7, graph)+str(8, "\x10\x11")))
	require.NoError(t, os.WriteFile(model+".anynpu.json",
		[]byte(`{"anynpu.input.x.mean": [1, 2, 3], "anynpu.input.x.std": [2], "anynpu.input.x.order": "bgr"}`), 0o600))

	img := image.NewNRGBA(image.Rect(0, 0, 2, 1))
	img.Set(0, 0, color.NRGBA{R: 10, G: 20, B: 30, A: 255})
	img.Set(1, 0, color.NRGBA{R: 40, G: 50, B: 60, A: 255})
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, img))
	for name, data := range map[string][]byte{"x.png": b.Bytes(),
		"x.ppm": []byte("P6\n# two pixels\n2 1 255\n\x0a\x14\x1e\x28\x32\x3c")} {
		dir := t.TempDir()
		code, _, errs := anynpu("run", model, "-i", writeFile(t, name, data), "-o", dir)
		require.Equal(t, 0, code, errs)
		got, err := tensor.ReadFloat32s(readNPY(t, filepath.Join(dir, "y.npy")).Data, 6)
		require.NoError(t, err)
		assert.Equal(t, []float32{14.5, 29.5, 9, 24, 3.5, 18.5}, got, name)
	}
	code, _, errs := anynpu("run", model, "-i", writeFile(t, "cut.ppm", []byte("P6 2 1 255 12")))
	assert.Equal(t, 2, code)
	assert.Contains(t, errs, "image: 2 x 1")
}

// TestRun_decodesImages gives the digits network bytes, which nodes in front of it normalize, and a part of a larger
// image: a row of zeros around it is cut off, and the same size is a copy.
func TestRun_decodesImages(t *testing.T) {
	data, err := os.ReadFile(digits + "digits.onnx")
	require.NoError(t, err)
	images, err := filepath.Glob(digits + "images/*label7*")
	require.NoError(t, err)
	require.NotEmpty(t, images)
	_, want, _ := anynpu("run", digits+"digits.onnx", "-i", "image="+images[0], "--json")
	model := writeFile(t, "net.onnx", data)
	code, _, errs := anynpu("metadata", model, "input.image.pixel=gray", "input.image.source=ddr",
		"input.image.scale=0.0625", "dim.N=1")
	require.Equal(t, 0, code, errs)
	code, got, errs := anynpu("run", model, "-i", "image="+images[0], "--json")
	require.Equal(t, 0, code, errs)
	assert.Equal(t, outputsOf(t, want), outputsOf(t, got))

	code, _, errs = anynpu("metadata", model, "input.image.source=resizer")
	require.Equal(t, 0, code, errs)
	regions := tensor.New(tensor.Int32, 1, 4)
	copy(regions.Data, tensor.Int32s(0, 0, 7, 7))
	file := writeNPY(t, regions)
	code, got, errs = anynpu("run", model, "-i", "image="+images[0], "-i", "image.regions="+file, "--json")
	require.Equal(t, 0, code, errs)
	assert.Equal(t, outputsOf(t, want), outputsOf(t, got))
	copy(regions.Data, tensor.Int32s(9, 0, 12, 7))
	file = writeNPY(t, regions)
	code, _, errs = anynpu("run", model, "-i", "image="+images[0], "-i", "image.regions="+file)
	assert.NotEqual(t, 0, code)
	assert.Contains(t, errs, "lies outside the image of 8 rows and 8 columns")

	code, _, errs = anynpu("metadata", model, "input.image.std=16")
	assert.Equal(t, 2, code)
	assert.Contains(t, errs, "std and scale")
}

func TestInspect_describes(t *testing.T) {
	code, out, _ := anynpu("inspect", digits+"digits.onnx")
	require.Equal(t, 0, code)
	for _, want := range []string{"float32[N,1,8,8]", "float32[N,10]", "Conv                     2", "ai.onnx 17",
		"9930"} {
		assert.Contains(t, out, want)
	}
	code, out, _ = anynpu("inspect", "--json", digits+"digits.onnx")
	require.Equal(t, 0, code)
	var i inspection
	require.NoError(t, json.Unmarshal([]byte(out), &i))
	assert.Equal(t, "anynpu.inspect/1", i.Schema)
	assert.Equal(t, []portInfo{{"image", "float32", []string{"N", "1", "8", "8"}}}, i.Inputs)
	assert.Equal(t, 2, i.Operators["Relu"])
	code, out, _ = anynpu("inspect", writeFile(t, "m.onnx", vectorModel("Frobnicate")))
	assert.Equal(t, 0, code, "a model that cannot be computed can be described")
	assert.Contains(t, out, "Frobnicate")
}

func TestCheck_tellsWhatRunsWhere(t *testing.T) {
	code, out, _ := anynpu("check", digits+"digits.onnx")
	require.Equal(t, 0, code)
	assert.Contains(t, out, "9 of 9 nodes run")
	code, out, _ = anynpu("check", "--json", digits+"digits.onnx")
	require.Equal(t, 0, code)
	var r checkReport
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	assert.Equal(t, "anynpu.check/1", r.Schema)
	assert.True(t, r.Usable)
	assert.Equal(t, nodeReport{Operator: 0, Op: "Conv", Core: "conv", Name: "conv1", Device: "cpu"}, r.Nodes[0])

	code, out, errs := anynpu("check", "--json", writeFile(t, "m.onnx", vectorModel("example.Frob")))
	assert.Equal(t, 3, code, errs)
	r = checkReport{}
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	assert.False(t, r.Usable)
	require.Len(t, r.Nodes, 1, r.Error)
	assert.Contains(t, r.Nodes[0].Reason, "no kernel")
}

func TestHelp_everyVerb(t *testing.T) {
	code, out, _ := anynpu("--help")
	require.Equal(t, 0, code)
	for _, verb := range []string{"run", "inspect", "check", "bench", "profile", "metadata", "export"} {
		assert.Contains(t, out, verb)
		code, help, _ := anynpu(verb, "--help")
		require.Equal(t, 0, code)
		assert.Contains(t, help, "Usage:\n  anynpu "+verb+" MODEL")
		assert.Contains(t, help, "Examples:")
	}
	code, out, _ = anynpu()
	assert.Equal(t, 0, code)
	assert.Contains(t, out, "Usage:")
}

func TestRun_warnsOfUnknownMetadata(t *testing.T) {
	model := writeFile(t, "m.onnx", vectorModel("Add"))
	require.NoError(t, os.WriteFile(model+".anynpu.json", []byte(`{"anynpu.frob": 1}`), 0o600))
	x := writeNPY(t, tensor.New(tensor.Float32, 2))
	code, _, errs := anynpu("run", model, "-i", x)
	assert.Equal(t, 0, code)
	assert.Contains(t, errs, "warning: "+model+".anynpu.json: unknown key anynpu.frob")
	require.NoError(t, os.WriteFile(model+".anynpu.json", []byte(`{"anynpu.schema": 9}`), 0o600))
	code, _, errs = anynpu("run", model, "-i", x)
	assert.Equal(t, 3, code)
	assert.Contains(t, errs, "schema 9")
}
