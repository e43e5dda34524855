package hbdnn

import (
	"encoding/binary"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
)

// fenced is memory that ends where a page begins that cannot be touched.
type fenced []byte

func newFenced(t *testing.T, pages int) fenced {
	page := unix.Getpagesize()
	m, err := unix.Mmap(-1, 0, (pages+1)*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, unix.Munmap(m)) })
	require.NoError(t, unix.Mprotect(m[pages*page:], unix.PROT_NONE))
	return m[:pages*page]
}

// last is the memory's last n bytes, as a program hands them over.
func (g fenced) last(n uint32) SysMem {
	return SysMem{virt: uintptr(unsafe.Pointer(unsafe.SliceData(g))) + uintptr(len(g)) - uintptr(n), size: n}
}

// tensorModels are models whose tensors differ in kind, layout, gaps and batch.
var tensorModels = []func() *onnxtest.Model{
	func() *onnxtest.Model { return relu(2, 3, 4, 5) },
	func() *onnxtest.Model { return relu(1, 10) },
	func() *onnxtest.Model { return relu(1, 3, 4, 5).Meta("anynpu.input.x.layout", "nhwc") },
	func() *onnxtest.Model { return relu(1, 1, 5, 7).Meta("anynpu.input.x.pixel", "gray") },
	func() *onnxtest.Model { return camera(2, 3, 5, 7) },
	func() *onnxtest.Model { return relu(1, 3, 5, 7).Meta("anynpu.input.x.pixel", "rgb") },
	func() *onnxtest.Model {
		return relu(1, 3, 5, 7).Meta("anynpu.input.x.pixel", "yuv444").Meta("anynpu.input.x.layout", "nchw")
	},
	func() *onnxtest.Model { return channels([]float32{0.5, 0.25, 2}, make([]byte, 3)) },
	func() *onnxtest.Model { return received([]float32{0.5, 0.25, 2}, make([]byte, 3)) },
	func() *onnxtest.Model { return resizing(1, 3, 4, 6) },
}

// spoil changes a tensor as a program may have got it wrong: a field of its properties, its memory, or nothing.
func spoil(f *full, at, value byte) {
	words := unsafe.Slice((*int32)(unsafe.Pointer(&f.properties)), int(unsafe.Sizeof(f.properties)/4))
	small := int32(value) - 8
	switch i := int(at) % (len(words) + 12); {
	case i < len(words):
		words[i] = small
	case i == len(words):
		words[int(value)%len(words)] = -1 << 31
	case i == len(words)+1:
		f.mem[0].size -= min(f.mem[0].size, uint32(value)) // the memory ends earlier, as the program says
	case i == len(words)+2:
		f.mem[0].virt += uintptr(value)
		f.mem[0].size -= min(f.mem[0].size, uint32(value))
	case i == len(words)+3:
		f.properties.aligned = f.properties.valid
	case i == len(words)+4 && f.properties.aligned.rank == 4:
		f.properties.aligned.dims[3] += int32(value)
	case i == len(words)+5:
		f.properties.kind = typeNV12Separate
	}
}

// FuzzTensors hands over tensors that are wrong in some way. A call that is accepted ends with success: it touches
// nothing behind the memory that the program has given, which a page guards.
func FuzzTensors(f *testing.F) {
	for n := range byte(len(tensorModels)) {
		f.Add(n, byte(0), []byte{})
		for at := range byte(64) {
			f.Add(n, byte(1), []byte{at, at * 37, at + 1, 9})
		}
	}
	f.Fuzz(func(t *testing.T, which, regions byte, changes []byte) {
		m := open(t, tensorModels[int(which)%len(tensorModels)]())
		memory := []fenced{newFenced(t, 4), newFenced(t, 4), newFenced(t, 4)}
		tensors := [2][]full{}
		for k, list := range [][]*port{m.in, m.out} {
			for _, p := range list {
				var one full
				served().store(one.properties.own(), &p.description)
				one.mem[0] = memory[k].last(uint32(p.bytes))
				one.mem[1] = memory[2].last(uint32(binary.LittleEndian.Uint16(append(changes, 0, 0)) % 4096))
				tensors[k] = append(tensors[k], one)
			}
		}
		for len(changes) >= 2 {
			spoil(&tensors[changes[0]%2][0], changes[0]/2, changes[1])
			changes = changes[2:]
		}
		var err error
		if m.in[0].resizer() && regions%2 == 1 {
			err = infers(t, m, tensors[0], tensors[1], Roi{left: int32(regions % 7), top: 1, right: 5, bottom: int32(regions)})
		} else {
			err = infer(t, m, tensors[0], tensors[1])
		}
		if err != nil {
			require.NotEqual(t, errRun, status(err), "an accepted task fails: %v", err)
		}
	})
}
