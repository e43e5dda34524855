package main

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	"github.com/anynpu/anynpu/core/tensor"
)

// npyBytes is a .npy file as NumPy's description of the format has it.
func npyBytes(descr, shape string, data []byte) []byte {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	header += strings.Repeat(" ", 117-len(header)) + "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), 0)
	return append(append(b, header...), data...)
}

// npz is a zip file of named entries, as numpy.savez_compressed writes.
func npz(t *testing.T, entries ...any) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(entries); i += 2 {
		w, err := z.Create(entries[i].(string))
		require.NoError(t, err)
		_, err = w.Write(entries[i+1].([]byte))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

// difference is y = a - b of float32[n].
func differenceModel(t *testing.T) string {
	return writeFile(t, "sub.onnx", new(onnxtest.Model).Input("a", onnxtest.Float, -1).Input("b", onnxtest.Float, -1).
		Node("Sub", "y", "a", "b").Output("y", onnxtest.Float, -1).Bytes())
}

// fromStdin is the content of standard input for a test.
func fromStdin(t *testing.T, r io.Reader) {
	before := stdin
	stdin = r
	t.Cleanup(func() { stdin = before })
}

func TestRun_inputsOfNPZ(t *testing.T) {
	model := differenceModel(t)
	a, b := npyBytes("<f4", "(2,)", tensor.Float32s(5, 7)), npyBytes("<f4", "(2,)", tensor.Float32s(1, 10))
	want := tensor.Float32s(4, -3)
	y := npyBytes("<f4", "(2,)", want)
	both := writeFile(t, "both.npz", npz(t, "a.npy", a, "b.npy", b, "more/c.npy", a, "notes.txt", []byte("text"), "y.npy",
		y))
	assert.Equal(t, want, run(t, model, "-i", both))
	assert.Equal(t, want, run(t, model, "-i", "a="+both, "-i", "b="+both), "the array of the input's name")
	one := writeFile(t, "one.npz", npz(t, "arr_0.npy", b))
	assert.Equal(t, want, run(t, model, "-i", "a="+both, "-i", "b="+one), "the only array")
	code, out, errs := anynpu("run", model, "-i", both, "--expect", both)
	assert.Equal(t, 0, code, errs)
	assert.Contains(t, out, "as expected")
	double := writeFile(t, "m.onnx", vectorModel("Add"))
	assert.Equal(t, tensor.Float32s(2, 20), run(t, double, "-i", one))
	fromStdin(t, bytes.NewReader(npz(t, "b.npy", b)))
	assert.Equal(t, want, run(t, model, "-i", "a="+both, "-i", "b=-"))
}

func TestRun_inputsOfStandardInput(t *testing.T) {
	model := writeFile(t, "m.onnx", vectorModel("Add"))
	two := tensor.Float32s(1, -4)
	fromStdin(t, bytes.NewReader(npyBytes("<f4", "(2,)", two)))
	assert.Equal(t, tensor.Float32s(2, -8), run(t, model, "-i", "-"))
	stdin = bytes.NewReader(two)
	assert.Equal(t, tensor.Float32s(2, -8), run(t, model, "-i", "x=-", "--raw", "--shape", "x=2"))
	stdin = bytes.NewReader(npyBytes("<f4", "(2,)", tensor.Float32s(2, -8)))
	code, _, errs := anynpu("run", model, "-i", writeNPY(t, tensor.Tensor{DType: tensor.Float32, Dims: []int64{2},
		Data: two}),
		"--expect", "-")
	assert.Equal(t, 0, code, errs)
	image, err := os.ReadFile(digits + "images/000_label4.pgm")
	require.NoError(t, err)
	stdin = bytes.NewReader(image)
	code, out, errs := anynpu("run", digits+"digits.onnx", "-i", "-", "--top-k", "1")
	require.Equal(t, 0, code, errs)
	assert.Contains(t, out, "\n       4  ")
	fifo := filepath.Join(t.TempDir(), "pipe") // as the shell's <(...) gives
	require.NoError(t, unix.Mkfifo(fifo, 0o600))
	go func() { _ = os.WriteFile(fifo, npyBytes("<f4", "(2,)", two), 0) }()
	assert.Equal(t, tensor.Float32s(2, -8), run(t, model, "-i", fifo))
}

func TestRun_rawInputs(t *testing.T) {
	model := differenceModel(t)
	a, b := writeFile(t, "a.bin", tensor.Float32s(5, 7, 1)), writeFile(t, "b", tensor.Float32s(1, 10, 1))
	want := tensor.Float32s(4, -3, 0)
	assert.Equal(t, want, run(t, model, "--raw", "-i", "a="+a, "-i", "b="+b, "--shape", "a=3"), "n of a is that of b")
	array := writeFile(t, "b.npy", npyBytes("<f4", "(3,)", tensor.Float32s(1, 10, 1)))
	assert.Equal(t, want, run(t, model, "--raw", "-i", "a="+a, "-i", "b="+array), "the array tells n")
	fixed := writeFile(t, "fixed.onnx", new(onnxtest.Model).Input("x", onnxtest.Int8, 2, 2).Node("Identity", "y", "x").
		Output("y", onnxtest.Int8, 2, 2).Bytes())
	assert.Equal(t, []byte("\x01\xff\x80\x7f"), run(t, fixed, "--raw", "-i",
		writeFile(t, "x.png", []byte("\x01\xff\x80\x7f"))))
	// in the order in which programs hand images over
	image := writeFile(t, "image.onnx", new(onnxtest.Model).Input("x", onnxtest.Uint8, 1, 3, 1, 2).Node("Identity", "y",
		"x").
		Output("y", onnxtest.Uint8, 1, 3, 1, 2).Meta("anynpu.input.x.layout", "nhwc").Bytes())
	assert.Equal(t, []byte("adbecf"), run(t, image, "--raw", "-i", writeFile(t, "x", []byte("abcdef"))))
}

// TestRun_madeUpInputs: the numbers equal splitmix64's, computed by another program.
func TestRun_madeUpInputs(t *testing.T) {
	identity := func(elem int64) string {
		return writeFile(t, "m.onnx", new(onnxtest.Model).Input("a", elem, 2, 2).Input("b", elem, 2, 2).Node("Identity", "y",
			"b").
			Output("y", elem, 2, 2).Output("a2", elem, 2, 2).Node("Identity", "a2", "a").Bytes())
	}
	floats := identity(onnxtest.Float)
	b := tensor.Float32s(0.9199380874633789, -0.44567835330963135, 0.538970947265625, 0.4726111888885498)
	assert.Equal(t, b, run(t, floats, "--random", "--seed", "7"))
	assert.Equal(t, b, run(t, floats, "--random", "--seed", "7", "-i", "a="+writeFile(t, "a.npy",
		npyBytes("<f4", "(2, 2)", make([]byte, 16)))), "an input that is given changes no other")
	assert.NotEqual(t, b, run(t, floats, "--random", "--seed", "8"))
	dir := t.TempDir()
	code, _, errs := anynpu("run", floats, "--random", "-o", dir)
	require.Equal(t, 0, code, errs)
	assert.Equal(t, tensor.Float32s(0.7666215896606445, -0.13694405555725098, -0.9471324682235718, 0.9417638778686523),
		readNPY(t, filepath.Join(dir, "a2.npy")).Data, "the seed is 0")
	assert.Equal(t, []byte{93, 81, 256 - 107, 256 - 86}, run(t, identity(onnxtest.Int8), "--random", "--seed", "7"))
	assert.Equal(t, tensor.Int64s(1, 0, 1, 1), run(t, identity(onnxtest.Int64), "--random", "--seed", "7"))
	assert.Equal(t, []byte{1, 0, 1, 1}, run(t, identity(onnxtest.Bool), "--random", "--seed", "7"))

	half := run(t, identity(onnxtest.Half), "--random", "--seed", "7")
	for i, want := range []float64{0.9199380874633789, -0.44567835330963135, 0.538970947265625, 0.4726111888885498} {
		got := float64(tensor.Float16To32(binary.LittleEndian.Uint16(half[2*i:])))
		assert.InDelta(t, want, got, math.Abs(want)/2048, i)
	}

	open := differenceModel(t)
	assert.Len(t, run(t, open, "--random", "--shape", "b=6"), 24, "n of b is that of a")
	for _, args := range [][]string{{"bench", "--time", "0s", "--warmup", "0s", "--spread", "1e9"},
		{"profile", "--runs", "1"}, {"check", "--engine"}} {
		code, _, errs := anynpu(append(args, open, "--random", "--seed", "3", "--shape", "a=6")...)
		assert.Equal(t, 0, code, "%s: %s", args[0], errs)
	}
}

// TestInputs_refused: each is one line and exit code 2.
func TestInputs_refused(t *testing.T) {
	model, double := differenceModel(t), writeFile(t, "m.onnx", vectorModel("Add"))
	good := npyBytes("<f4", "(2,)", tensor.Float32s(5, 7))
	whole := npz(t, "x.npy", good, "z.npy", good)
	pack := func(entries ...any) string { return writeFile(t, "x.npz", npz(t, entries...)) }
	bent := bytes.Clone(whole)
	at := bytes.Index(bent, []byte("x.npy")) + len("x.npy")
	bent[at+9] ^= 0xff // within the compressed data
	a := writeFile(t, "a.npy", good)
	short, long := writeFile(t, "short.bin", make([]byte, 7)), writeFile(t, "long.bin", make([]byte, 9))
	for _, c := range []struct {
		says string
		args []string
	}{
		{"no such file", []string{double, "-i", "x=nowhere.npz"}},
		{"no such file", []string{double, "-i", "nowhere.npz"}},
		{"not a .npz file", []string{double, "-i", writeFile(t, "x.npz", good)}},
		{"a .npz that cannot be read", []string{double, "-i", writeFile(t, "cut.npz", whole[:len(whole)-30])}},
		{"a .npz that cannot be read", []string{double, "-i", "x=" + writeFile(t, "cut.npz", whole[:40])}},
		{`array "x": `, []string{double, "-i", writeFile(t, "bent.npz", bent)}},
		{"has no array \"x\"; there is: b, c", []string{double, "-i", "x=" + pack("b.npy", good, "c.npy", good)}},
		{"its arrays are b, c, and the model has x", []string{double, "-i", pack("b.npy", good, "c.npy", good)}},
		{"its arrays are none", []string{double, "-i", pack()}},
		{"two arrays \"x\"", []string{double, "-i", pack("x.npy", good, "x.npy", good)}},
		{"bytes after its end", []string{double, "-i", pack("x.npy", append(bytes.Clone(good), 1))}},
		{"needs 8 bytes, the file holds 4", []string{double, "-i", pack("x.npy", good[:len(good)-4])}},
		{"not a .npy file", []string{double, "-i", pack("x.npy", []byte("x"))}},
		{`holds float64; in NumPy, x.astype("float32") converts it`,
			[]string{double, "-i", pack("x.npy", npyBytes("<f8", "(1,)", make([]byte, 8)))}},
		{`element type "|O" is not read`, []string{double, "-i", pack("x.npy", npyBytes("|O", "(1,)", nil))}},
		{"holds sizes [1 2]", []string{double, "-i", pack("x.npy", npyBytes("<f4", "(1, 2)", make([]byte, 8)))}},
		{`"x" is given twice`, []string{double, "-i", "x=" + a, "-i", pack("x.npy", good)}},
		{`"x" is given twice`, []string{double, "-i", pack("x.npy", good), "-i", a}},
		{"--input a=- and --input b=-: standard input can be read once only", []string{model, "-i", "a=-", "-i", "b=-"}},
		{"--expect - and --input a=-: standard input", []string{model, "-i", "a=-", "-i", "b=" + a, "--expect", "-"}},
		{"not a .npy file", []string{double, "-i", "-"}},
		{"short.bin: holds 7 bytes, and float32[2] needs 8", []string{double, "--raw", "-i", short, "--shape", "2"}},
		{"long.bin: holds 9 bytes, and float32[2] needs 8", []string{double, "--raw", "-i", long, "--shape", "2"}},
		{"x is float32[n]; give the sizes of the raw file with --shape x=SIZES", []string{double, "--raw", "-i", long}},
		{"no such file", []string{double, "--raw", "-i", "nowhere.bin", "--shape", "2"}},
		{"it is a folder, want a file", []string{double, "--raw", "-i", t.TempDir(), "--shape", "2"}},
		{"--shape says [3], but n is 2 already", []string{model, "--random", "-i", "a=" + a, "--shape", "b=3"}},
		{"the input is given as a file", []string{double, "-i", a, "--shape", "2"}},
		{"--seed 3: it goes with --random", []string{double, "-i", a, "--seed", "3"}},
		{"give its sizes with --shape x=SIZES", []string{double, "--random"}},
		{"or --random to make it up", []string{double}},
		{"too large to make up", []string{double, "--random", "--shape", "9223372036854775807"}},
		{"is too large", []string{double, "--raw", "-i", long, "--shape", "9223372036854775807"}},
	} {
		fromStdin(t, strings.NewReader("no array"))
		says := strings.Replace(c.says, "x is float32", `input "x" is float32`, 1)
		code, out, errs := anynpu(append([]string{"run"}, c.args...)...)
		assert.Equal(t, 2, code, "%v: %s", c.args, errs)
		assert.Contains(t, errs, says, "%v", c.args)
		assert.Equal(t, 1, strings.Count(errs, "\n"), "%v: %s", c.args, errs)
		assert.Empty(t, out)
	}
	for given, says := range map[string]string{"1234567": "holds 7 bytes, and float32[2] needs 8",
		"123456789": "holds more than 8 bytes, which is what float32[2] needs"} {
		fromStdin(t, strings.NewReader(given))
		code, _, errs := anynpu("run", double, "--raw", "-i", "-", "--shape", "2")
		assert.Equal(t, 2, code)
		assert.Contains(t, errs, says)
	}
	stdin = iotest{}
	code, _, errs := anynpu("run", double, "--raw", "-i", "-", "--shape", "2")
	assert.Equal(t, 2, code)
	assert.Contains(t, errs, "the pipe is broken")
}

// iotest is a reader that fails.
type iotest struct{}

func (iotest) Read([]byte) (int, error) { return 0, errors.New("the pipe is broken") }

// TestRun_zipBomb: an array of 8 GiB of zeros takes 8 MiB of a zip file, and is refused before it is unpacked: for an
// open size because it is too large for a .npz, for a fixed one because it has other sizes.
func TestRun_zipBomb(t *testing.T) {
	var packed bytes.Buffer
	bomb := func(shape string) string {
		packed.Reset()
		z := zip.NewWriter(&packed)
		// 1 MiB of zeros after a header that promises more; the entry claims 8 GiB
		data := append(npyBytes("<f4", shape, nil), make([]byte, 1<<20)...)
		var deflated bytes.Buffer
		w := zip.NewWriter(&deflated)
		e, err := w.Create("x.npy")
		require.NoError(t, err)
		_, err = e.Write(data)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		r, err := zip.NewReader(bytes.NewReader(deflated.Bytes()), int64(deflated.Len()))
		require.NoError(t, err)
		raw, err := r.File[0].OpenRaw()
		require.NoError(t, err)
		h := zip.FileHeader{Name: "x.npy", Method: zip.Deflate, CRC32: crc32.ChecksumIEEE(data),
			CompressedSize64: r.File[0].CompressedSize64, UncompressedSize64: 8 << 30}
		to, err := z.CreateRaw(&h)
		require.NoError(t, err)
		_, err = io.Copy(to, raw)
		require.NoError(t, err)
		require.NoError(t, z.Close())
		return writeFile(t, "bomb.npz", packed.Bytes())
	}
	double := writeFile(t, "m.onnx", vectorModel("Add"))
	code, _, errs := anynpu("run", double, "-i", bomb("(2147483648,)"))
	assert.Equal(t, 2, code)
	assert.Contains(t, errs, "is too large for an array of a .npz: want at most 2147483648 bytes")
	fixed := writeFile(t, "f.onnx", new(onnxtest.Model).Input("x", onnxtest.Float, 2).Node("Identity", "y", "x").
		Output("y", onnxtest.Float, 2).Bytes())
	code, _, errs = anynpu("run", fixed, "-i", bomb("(536870911,)"))
	assert.Equal(t, 2, code)
	assert.Contains(t, errs, "holds sizes [536870911]")
	code, _, errs = anynpu("run", fixed, "-i", bomb("(2,)"))
	assert.Equal(t, 2, code, "more than its array: not unpacked to the end")
	assert.Contains(t, errs, "bytes after its end")
	code, _, errs = anynpu("run", double, "-i", bomb("(9223372036854775807, 9223372036854775807)"))
	assert.Equal(t, 2, code)
	assert.Contains(t, errs, "is too large")
}
