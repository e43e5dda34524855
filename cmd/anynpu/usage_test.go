package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/tensor"
)

// writePack writes models and a pack list that names them; a nil model is not written.
func writePack(t *testing.T, models map[string][]byte, order ...string) string {
	dir := t.TempDir()
	for name, data := range models {
		if data != nil {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
		}
	}
	text, err := json.Marshal(map[string][]string{"anynpu.models": order})
	require.NoError(t, err)
	path := filepath.Join(dir, "pack.json")
	require.NoError(t, os.WriteFile(path, append([]byte("\n "), text...), 0o600))
	return path
}

func TestPack_everyModelIsInspectedAndChecked(t *testing.T) {
	add, sub := vectorModel("Add"), vectorModel("Sub")
	pack := writePack(t, map[string][]byte{"a.onnx": add, "b.onnx": sub}, "a.onnx", "b.onnx")
	a, b := filepath.Join(filepath.Dir(pack), "a.onnx"), filepath.Join(filepath.Dir(pack), "b.onnx")

	code, out, errs := anynpu("inspect", pack)
	require.Equal(t, 0, code, errs)
	for _, want := range []string{"file        " + a, "Add                      1", "file        " + b,
		"Sub                      1"} {
		assert.Contains(t, out, want)
	}
	code, out, errs = anynpu("inspect", "--json", pack)
	require.Equal(t, 0, code, errs)
	var i inspectionPack
	require.NoError(t, json.Unmarshal([]byte(out), &i))
	assert.Equal(t, "anynpu.inspect-pack/1 "+pack, i.Schema+" "+i.File)
	require.Len(t, i.Models, 2)
	assert.Equal(t, []string{a, b}, []string{i.Models[0].File, i.Models[1].File})
	assert.Equal(t, "anynpu.inspect/1", i.Models[0].Schema)
	assert.Equal(t, map[string]int{"Sub": 1}, i.Models[1].Operators)

	code, out, errs = anynpu("check", pack)
	require.Equal(t, 0, code, errs)
	assert.Equal(t, 2, strings.Count(out, "1 of 1 nodes run"))
	assert.Contains(t, out, a+"\n")
	code, out, _ = anynpu("check", "--engine", "--shape", "x=5", pack)
	assert.Equal(t, 0, code)
	assert.Equal(t, 2, strings.Count(out, "fast kernels compute 1 of 1 nodes"))
	code, out, errs = anynpu("check", "--json", pack)
	require.Equal(t, 0, code, errs)
	var c checkPack
	require.NoError(t, json.Unmarshal([]byte(out), &c))
	assert.Equal(t, "anynpu.check-pack/1", c.Schema)
	assert.True(t, c.Usable)
	require.Len(t, c.Models, 2)
	assert.Equal(t, "Sub", c.Models[1].Nodes[0].Op)
}

func TestPack_tellsWhatIsWrongWithWhichModel(t *testing.T) {
	pack := writePack(t, map[string][]byte{"good.onnx": vectorModel("Add"), "strange.onnx": vectorModel("Frobnicate"),
		"text.onnx": []byte("text")},
		"good.onnx", "strange.onnx", "text.onnx", "missing.onnx")
	code, out, errs := anynpu("check", "--json", pack)
	assert.Equal(t, 3, code)
	assert.Contains(t, errs, "3 of 4 models are not as expected")
	var c checkPack
	require.NoError(t, json.Unmarshal([]byte(out), &c))
	assert.False(t, c.Usable)
	require.Len(t, c.Models, 4)
	assert.True(t, c.Models[0].Usable)
	for k, says := range []string{"", "Frobnicate x 1", "not an ONNX model", "no such file"} {
		assert.Contains(t, c.Models[k].Error, says)
		assert.Contains(t, errs, says)
	}
	code, out, errs = anynpu("inspect", "--json", pack)
	assert.Equal(t, 3, code)
	assert.Contains(t, errs, "2 of 4 models", "an operator that is not known can be described")
	var i inspectionPack
	require.NoError(t, json.Unmarshal([]byte(out), &i))
	require.Len(t, i.Models, 4)
	assert.Contains(t, i.Models[3].Error, "missing.onnx: no such file")
	_, out, _ = anynpu("inspect", pack)
	assert.Contains(t, out, "error       model "+i.Models[2].File+": not an ONNX model\n")
	_, out, _ = anynpu("check", pack)
	assert.Contains(t, out, i.Models[3].File+"\n  error: model ")

	slow := writePack(t, map[string][]byte{"a.onnx": vectorModel("Mod"), "b.onnx": vectorModel("Add")}, "a.onnx", "b.onnx")
	code, _, _ = anynpu("check", "--engine", "--shape", "x=5", slow)
	assert.Equal(t, 1, code)
	for _, text := range []string{`{"anynpu.models": ["../a.onnx"]}`, `{"anynpu.models": []}`, `{`, `{"a": 1}`} {
		code, out, errs = anynpu("inspect", writeFile(t, "list.json", []byte(text)))
		assert.Equal(t, 3, code, text)
		assert.Empty(t, out, text)
		assert.Contains(t, errs, "pack list", text)
	}
	code, _, errs = anynpu("run", pack)
	assert.Equal(t, 3, code)
	assert.Contains(t, errs, "JSON; inspect and check take pack lists")
}

func TestInspect_showsTheMetadataBesideTheModel(t *testing.T) {
	model := writeFile(t, "m.onnx", vectorModel("Add"))
	side := func(text string) { require.NoError(t, os.WriteFile(model+".anynpu.json", []byte(text), 0o600)) }
	side(`{"anynpu.name": "twice", "anynpu.input.x.mean": [1, 2], "anynpu.input.xs.std": [2]}`)
	code, out, errs := anynpu("inspect", model)
	require.Equal(t, 0, code, errs)
	assert.Contains(t, out, "anynpu.name = twice\n")
	assert.Contains(t, out, "anynpu.input.x.mean = [1, 2]\n")
	assert.Contains(t, errs, "warning: model "+model+`: metadata for an input "xs", which it does not have; there is: x`)
	x := writeNPY(t, tensor.New(tensor.Float32, 2))
	code, _, errs = anynpu("run", model, "-i", x)
	assert.Equal(t, 0, code)
	assert.Contains(t, errs, `: metadata for an input "xs"`)
	side(`{"anynpu.input.x.std": [0]}`)
	code, out, errs = anynpu("inspect", model)
	assert.Equal(t, 0, code, "the model can still be described")
	assert.Contains(t, out, "anynpu.input.x.std = [0]\n")
	assert.Contains(t, errs, "warning: ")
	assert.Contains(t, errs, "a divisor of 0")
	side(`{`)
	code, _, errs = anynpu("inspect", model)
	assert.Equal(t, 0, code)
	assert.Contains(t, errs, "m.onnx.anynpu.json")
}

// TestErrors_helpANewUser: each message leads on.
func TestErrors_helpANewUser(t *testing.T) {
	model := writeFile(t, "m.onnx", vectorModel("Add"))
	x := writeNPY(t, tensor.New(tensor.Float32, 2))
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, unix.Mkfifo(fifo, 0o600))
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"inspct", model}, 2, `unknown command "inspct"; did you mean inspect?`},
		{[]string{"run", model, x}, 2, "inputs are given with -i NAME=FILE"},
		{[]string{"run", model, "-i", "x="}, 2, "no file; want x=FILE"},
		{[]string{"run", model, "-i", "nowhere.npy"}, 2, "nowhere.npy: no such file or directory"},
		{[]string{"run", model, "-i", writeNPY(t, tensor.New(tensor.Float64, 2))}, 2,
			`holds float64; in NumPy, x.astype("float32") converts it`},
		{[]string{"run", "nowhere.onnx"}, 3, "model nowhere.onnx: no such file or directory"},
		{[]string{"run", writeFile(t, "empty.onnx", nil)}, 3, "empty.onnx: not an ONNX model: the file is empty"},
		{[]string{"check", t.TempDir()}, 3, "it is a folder, want a regular file"},
		{[]string{"run", digits + "digits.onnx", "-i", t.TempDir()}, 2, "it is a folder, want a file"},
		{[]string{"run", digits + "digits.onnx", "--seed", "x"}, 2,
			`invalid argument "x" for "--seed" flag; see 'anynpu run --help'`},
		{[]string{"info", "x", "y"}, 2, "info takes one PROGRAM at most"},
		{[]string{"info", "nowhere"}, 2, "no program that can be read: open nowhere: no such file or directory"},
		{[]string{"drivers", "x"}, 2, `drivers: takes no arguments, got "x"`},
		{[]string{"exec"}, 2, "exec: want the program to run"},
		{[]string{"man", "nowhere"}, 2, "man: nowhere: want a folder that exists"},
		{[]string{"inspect", fifo}, 3, "it is a pipe, want a regular file"},
		{[]string{"run", model, "-i", x, "-o", "/proc/nowhere"}, 5, "output: mkdir /proc/nowhere"},
		{[]string{"run", model, "-i", x, "-o", "/proc"}, 5, "output: no file can be made in /proc"},
	} {
		code, out, errs := anynpu(c.args...)
		assert.Equal(t, c.code, code, "%v: %s", c.args, errs)
		assert.Contains(t, errs, c.says, "%v", c.args)
		assert.Empty(t, strings.ReplaceAll(out, "\n", ""), "%v", c.args)
		assert.Equal(t, 1, strings.Count(errs, c.says), "%v: said once: %s", c.args, errs)
	}
}

func TestCommand_resultsThatCannotBeWritten(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	x := writeNPY(t, tensor.New(tensor.Float32, 2))
	model := writeFile(t, "m.onnx", vectorModel("Add"))
	for _, args := range [][]string{{"run", model, "-i", x}, {"run", model, "-i", x, "--json"}, {"inspect", model},
		{"check", model}, {"--help"}} {
		var errs bytes.Buffer
		assert.Equal(t, 5, command(args, full, &errs), "%v", args)
		assert.Contains(t, errs.String(), "the results could not be written: write /dev/full: no space left on device", "%v",
			args)
	}
}

func TestVersion_isTheLibrarys(t *testing.T) {
	header, err := os.ReadFile("../../include/anynpu.h")
	require.NoError(t, err)
	var number [3]int
	for i, part := range []string{"MAJOR", "MINOR", "PATCH"} {
		_, rest, ok := strings.Cut(string(header), "#define ANYNPU_VERSION_"+part+" ")
		require.True(t, ok, part)
		_, err := fmt.Sscan(rest, &number[i])
		require.NoError(t, err, part)
	}
	code, out, _ := anynpu("--version")
	assert.Equal(t, 0, code)
	assert.Equal(t, fmt.Sprintf("anynpu version %d.%d.%d\n", number[0], number[1], number[2]), out)
}

func TestCompletion_verbsDevicesAndFiles(t *testing.T) {
	code, out, _ := anynpu("completion", "bash")
	require.Equal(t, 0, code)
	assert.Contains(t, out, "complete -o default")
	_, out, _ = anynpu("__complete", "ins")
	assert.Contains(t, out, "inspect\t")
	_, out, _ = anynpu("__complete", "run", "--device", "")
	assert.Equal(t, "cpu\nrknn\nhbdnn\nhbucp\nohnn\nnnapi\nonnxruntime\n:4\n", out)
	_, out, _ = anynpu("__complete", "run", "")
	assert.Equal(t, ":0\n", out, "a file")
	_, out, _ = anynpu("__complete", "run", "m.onnx", "")
	assert.Equal(t, ":4\n", out, "there is one model")
	_, out, _ = anynpu("__complete", "run", "m.onnx", "-o", "")
	assert.Equal(t, ":16\n", out, "folders")
}

// TestProgress_onlyOnATerminal: the bar is drawn on a pseudo-terminal, removed at the end, and never appears in a pipe.
func TestProgress_onlyOnATerminal(t *testing.T) {
	x := writeNPY(t, tensor.New(tensor.Float32, 2))
	args := []string{"run", writeFile(t, "m.onnx", vectorModel("Add")), "-i", x, "--repeat", "4"}
	terminal, shownOn := pseudoTerminal(t)
	require.Equal(t, 0, command(args, io.Discard, terminal))
	shown := shownOn()
	assert.Contains(t, shown, "[##############################] 4 of 4 runs")
	assert.True(t, strings.HasSuffix(shown, "\r\x1b[K"), "%q", shown)

	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	require.Equal(t, 0, command(args, io.Discard, w))
	require.NoError(t, w.Close())
	piped, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Empty(t, piped)
}

func TestCheck_passes(t *testing.T) {
	model := writeFile(t, "m.onnx", vectorModel("Add"))
	code, out, errs := anynpu("check", model, "--passes", "--shape", "x=5")
	require.Equal(t, 0, code, errs)
	for _, want := range []string{"load\n  n0 add(v0, v0) -> v1 float32[5]\n",
		"match\n  n0 function of two values {Add}(v0, v0) -> v1\n", "memory\n  n0 function of two values(b0, b0) -> b1\n"} {
		assert.Contains(t, out, want)
	}
	code, out, errs = anynpu("check", model, "--passes", "--json", "--shape", "x=5")
	require.Equal(t, 0, code, errs)
	var r checkReport
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	assert.Nil(t, r.Engine)
	require.NotEmpty(t, r.Passes)
	assert.Equal(t, "load", r.Passes[0].Pass)
	assert.Len(t, r.Passes[0].Lines, 1)
}
