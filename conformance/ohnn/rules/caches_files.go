package rules

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// cached builds with a cache of a version in the case's directory, and runs.
func (t *T) cached(version uint32) {
	t.builds(t.withCache(t.unbuilt(), t.Dir, version))
}

func (t *T) withCache(c uintptr, dir string, version uint32) uintptr {
	t.OK("Compilation_SetCache", c, dir, version)
	return c
}

// exists demands files in the case's directory.
func (t *T) exists(names ...string) {
	for _, n := range names {
		_, err := os.Stat(filepath.Join(t.Dir, n))
		t.Check(err == nil, "%v", err)
	}
}

func (t *T) read(name string) []byte {
	b, err := os.ReadFile(filepath.Join(t.Dir, name))
	t.Check(err == nil, "%v", err)
	return b
}

func (t *T) write(name string, b []byte) {
	err := os.WriteFile(filepath.Join(t.Dir, name), b, 0o644)
	t.Check(err == nil, "%v", err)
}

const infoFile = "cache_info.nncache"

// info reads the info file's data object.
func (t *T) info() map[string]any {
	var file struct {
		CheckSum json.Number    `json:"CheckSum"`
		Data     map[string]any `json:"data"`
	}
	d := json.NewDecoder(bytes.NewReader(t.read(infoFile)))
	d.UseNumber()
	err := d.Decode(&file)
	t.Check(err == nil && file.Data != nil, "the info file is no JSON object with data: %v", err)
	return file.Data
}

func compact(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// rewrite changes the data object of the info file and makes its checksum right again.
func (t *T) rewrite(change func(data map[string]any)) {
	data := t.info()
	change(data)
	text := compact(data)
	t.write(infoFile, append(compact(map[string]any{"CheckSum": wordSum(text), "data": json.RawMessage(text)}), '\n'))
}

// wordSum is the checksum of cache files: the sum of little-endian 16-bit words and an odd last byte, kept in 32 bits,
// folded to 16, inverted.
func wordSum(b []byte) uint16 {
	var sum uint32
	for i, x := range b {
		if i%2 == 1 {
			sum += uint32(x) << 8
		} else {
			sum += uint32(x)
		}
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}

// sampledSum takes one word of every 2 x step bytes, where step is how often 2 MiB fit into the file, while more than
// that and a byte are left; then the last byte.
func sampledSum(b []byte) uint16 {
	step := len(b) / (2 << 20)
	var sum uint32
	for at := 0; len(b)-at > 2*step+1; at += 2 * step {
		sum += uint32(b[at]) + uint32(b[at+1])<<8
	}
	sum += uint32(b[len(b)-1])
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}

func number(v any) string {
	n, _ := v.(json.Number)
	return n.String()
}

// largeModel is a finished model with n floats of constant data.
func (t *T) largeModel(n int) uintptr {
	m := t.emptyModel()
	for range 3 {
		t.OK("Model_AddTensorToModel", m, t.desc(float32T, int32(n)))
	}
	data := make([]float32, n)
	for i := range data {
		data[i] = float32(i%1000) + 0.25
	}
	t.OK("Model_SetTensorData", m, 1, data, 4*n)
	t.OK("Model_AddOperation", m, opAdd, &ohnn.Array{}, ohnn.List(0, 1), ohnn.List(2))
	t.OK("Model_SpecifyInputsAndOutputs", m, ohnn.List(0), ohnn.List(2))
	t.OK("Model_Finish", m)
	return m
}

// replace changes a data file and makes its checksum right again.
func (t *T) replace(i int, change func([]byte) []byte) {
	name := string(compact(i)) + ".nncache"
	b := change(t.read(name))
	t.write(name, b)
	t.rewrite(func(data map[string]any) {
		sums, _ := data["modelCheckSum"].([]any)
		t.Check(len(sums) > i, "%d checksums", len(sums))
		sums[i] = wordSum(b)
	})
}

// damaged demands that a cache is rebuilt after a change: Build is OK and leaves a good cache; a compilation of the
// cache alone is INVALID.
func damaged(r *Rule, name string, change func(*T)) *Rule {
	return r.No(name, func(t *T) {
		t.cached(5)
		change(t)
		t.Bad("Compilation_Build", t.withCache(t.forCache(), t.Dir, 5))
		t.builds(t.withCache(t.unbuilt(), t.Dir, 5))
		t.builds(t.withCache(t.forCache(), t.Dir, 5))
	})
}

// with sets a key of the info file.
func with(key string, value any) func(*T) {
	return func(t *T) { t.rewrite(func(data map[string]any) { data[key] = value }) }
}

func without(key string) func(*T) {
	return func(t *T) { t.rewrite(func(data map[string]any) { delete(data, key) }) }
}

// each runs several damages one after the other.
func each(r *Rule, changes map[string]func(*T)) *Rule {
	var names []string
	for name := range changes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		damaged(r, name, changes[name])
	}
	return r
}

func restored(t *T) {
	t.cached(5)
	t.builds(t.withCache(t.forCache(), t.Dir, 5))
}

// descriptorBlob reads a file of tensor descriptors.
func (t *T) descriptorBlob(name string) (shapes [][]int32, names []string) {
	b := t.read(name)
	for len(b) > 0 {
		t.Check(len(b) >= 20, "%s: %d bytes left, a descriptor has 20 and more", name, len(b))
		head := cmem.Copy[int32](cmem.First(b), 3)
		t.Check(head[0] == float32T && head[1] == 2 && head[2] == 0, "%s: type, format, tensor type are %v, want [11 2 0]",
			name, head)
		rank := int(cmem.Copy[uint64](cmem.First(b)+12, 1)[0])
		t.Check(rank <= 10 && len(b) > 20+4*rank, "%s: rank %d in %d bytes", name, rank, len(b))
		shapes = append(shapes, cmem.Copy[int32](cmem.First(b)+20, rank))
		b = b[20+4*rank:]
		end := bytes.IndexByte(b, 0)
		t.Check(end >= 0, "%s: a name without its end", name)
		names = append(names, string(b[:end]))
		b = b[end+1:]
	}
	return shapes, names
}
