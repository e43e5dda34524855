package rules

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
)

// outside is y = x + w for x and w of four numbers, with w in another file. entries are pairs of external_data.
func outside(entries ...string) []byte {
	m := (&model{}).Node("Add", "y", "x", "w").External("w", onnxFloat, entries, 4)
	return m.Input("x", onnxFloat, 1, 4).Output("y", onnxFloat, 1, 4).Bytes()
}

// weights are n floats from 10 on, after so many bytes.
func weights(n, before int) []byte {
	b := make([]byte, before)
	for i := range n {
		b = binary.LittleEndian.AppendUint32(b, 0x41200000+uint32(i)*0x100000) // 10, 11, 12, ...
	}
	return b
}

// reads demands that a model with its weights elsewhere computes x + [10, 11, 12, 13].
func (t *T) reads(path string) {
	ctx := new(uintptr)
	t.OK("init", ctx, path, 0, 0, nil)
	t.Owned(*ctx)
	t.Set(*ctx, float32T, undefined, []float32{1, 2, 3, 4})
	t.Computes(*ctx, 11, 13, 15, 17)
}

// elsewhere are the rules of weights in other files.
var elsewhere = []*Rule{
	rule("2.ea_external_data", "weights may be in other files below the model's folder, at an offset, of a length; a "+
		"file "+
		"that is missing or too short, or elsewhere, is MODEL_INVALID").Ours("weights of an ONNX model in other files").
		OK("whole_file", func(t *T) {
			t.file("w.bin", weights(4, 0))
			t.reads(t.file("net.onnx", outside("location", "w.bin")))
		}).
		OK("offset_and_length", func(t *T) {
			t.file("w.bin", append(weights(4, 4096), make([]byte, 100)...))
			t.reads(t.file("net.onnx", outside("location", "w.bin", "offset", "4096", "length", "16")))
			t.reads(t.file("length_only.onnx", outside("location", "w2.bin", "length", fmt.Sprint(len(t.moved("w2.bin"))))))
		}).
		OK("sub_folder", func(t *T) {
			t.Check(os.MkdirAll(filepath.Join(t.Dir, "a", "b"), 0o700) == nil, "mkdir")
			t.file("a/b/w.bin", weights(4, 0))
			t.reads(t.file("net.onnx", outside("location", "a/b/w.bin")))
			t.reads(t.file("dotted.onnx", outside("location", "./a/b/w.bin")))
		}).
		OK("order_of_entries", func(t *T) {
			t.file("w.bin", weights(4, 64))
			t.reads(t.file("net.onnx", outside("length", "16", "checksum", "none", "offset", "64", "location", "w.bin")))
		}).
		No("missing", func(t *T) {
			t.Is(badModel, "init", new(uintptr), t.file("net.onnx", outside("location", "w.bin")), 0, 0, nil)
		}).
		No("short", func(t *T) {
			t.file("w.bin", weights(4, 0)[:15])
			for i, entries := range [][]string{{"location", "w.bin"}, {"location", "w.bin", "length", "16"},
				{"location", "w.bin", "offset", "1", "length", "15"}, {"location", "w.bin", "offset", "16", "length", "16"},
				{"location", "w.bin", "offset", "-1"}, {"location", "w.bin", "length", "-16"},
				{"location", "w.bin", "offset", "x"}, {"location", ""}, {"offset", "0"}, {}} {
				t.Is(badModel, "init", new(uintptr), t.file(fmt.Sprint(i), outside(entries...)), 0, 0, nil)
			}
		}).
		No("short_files_are_closed", func(t *T) {
			t.file("w.bin", weights(4, 0)[:15])
			path, open := t.file("net.onnx", outside("location", "w.bin")), 0
			for i := range 24 {
				t.Is(badModel, "init", new(uintptr), path, 0, 0, nil)
				list, err := os.ReadDir("/proc/self/fd")
				t.Check(err == nil, "%v", err)
				if i == 3 { // what the library opens once is open
					open = len(list)
				}
				t.Check(i <= 3 || len(list) < open+10, "%d descriptors after %d refusals, %d after four", len(list), i+1, open)
			}
		}).
		No("another_length", func(t *T) {
			t.file("w.bin", weights(8, 0))
			t.Is(badModel, "init", new(uintptr), t.file("net.onnx", outside("location", "w.bin", "length", "20")), 0, 0, nil)
		}).
		No("elsewhere", func(t *T) {
			t.Check(os.MkdirAll(filepath.Join(t.Dir, "sub", "a"), 0o700) == nil, "mkdir")
			path := t.file("w.bin", weights(4, 0))
			t.file("sub/v.bin", weights(4, 0))
			t.reads(t.file("sub/net.onnx", outside("location", "v.bin")))
			for i, location := range []string{"../w.bin", path, "a/../../w.bin", "../sub/v.bin", "a/../v.bin"} {
				t.Is(badModel, "init", new(uintptr), t.file(fmt.Sprintf("sub/%d", i), outside("location", location)), 0, 0, nil)
			}
		}).
		No("a_buffer_has_no_folder", func(t *T) {
			t.file("w.bin", weights(4, 0))
			b := outside("location", "w.bin")
			t.Is(badModel, "init", new(uintptr), b, len(b), 0, nil)
		}),
}

// moved writes weights alone into a file and returns them.
func (t *T) moved(name string) []byte {
	b := weights(4, 0)
	t.file(name, b)
	return b
}
