package hbucp

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/capi/hb"
	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
)

// models are those whose tensors differ in kind, strides, order and batch.
var models = []func() *onnxtest.Model{
	func() *onnxtest.Model { return relu(2, 3, 4, 5) },
	func() *onnxtest.Model { return relu() },
	func() *onnxtest.Model { return relu(1, 3, 4, 5).Meta("anynpu.output.y.layout", "nhwc") },
	func() *onnxtest.Model { return relu(2, 3, 4, 6).Meta("anynpu.input.x.pixel", "nv12") },
	func() *onnxtest.Model { return relu(1, 1, 5, 7).Meta("anynpu.input.x.pixel", "gray") },
	func() *onnxtest.Model { return relu(1, 3, 5, 7).Meta("anynpu.input.x.pixel", "rgb") },
	func() *onnxtest.Model { return relu(1, 2, 3).Meta("anynpu.outputs.codes", "int32") },
}

// edge returns the last n bytes before a page that cannot be touched.
func edge(t *testing.T, n int64) SysMem {
	page := int64(unix.Getpagesize())
	size := roundUp(n, page)
	m, err := unix.Mmap(-1, 0, int(size+page), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, unix.Munmap(m)) })
	require.NoError(t, unix.Mprotect(m[size:], unix.PROT_NONE))
	return SysMem{virt: hb.AddressOf(m) + uintptr(size-n), size: uint64(n)}
}

// FuzzTensors hands over tensors that are wrong in some way. A call that is accepted ends with success: it touches
// nothing behind the memory that the program has given, which a page guards.
func FuzzTensors(f *testing.F) {
	for n := range byte(len(models)) {
		f.Add(n, byte(32), []byte{})
		for at := range byte(48) {
			f.Add(n, byte(1), []byte{at, at * 37, at + 1, 9})
		}
		for i := range byte(4) { // strides
			f.Add(n, byte(64), []byte{2 * (22 + i), 200 - 40*i})
		}
	}
	f.Fuzz(func(t *testing.T, which, alignment byte, changes []byte) {
		m := load1(t, models[int(which)%len(models)]())
		var tensors [2][]Tensor
		for k, list := range [][]*port{m.in, m.out} {
			for _, p := range list {
				var x Tensor
				p.store(&x.properties, nil)
				s := x.properties.stride[:len(p.shape)]
				for i := len(s) - 1; i >= 0; i-- {
					if s[i] == open {
						s[i] = roundUp(s[i+1]*p.shape[i+1], max(1, int64(alignment)))
					}
				}
				need, err := p.span(p.shape, s, argument{"tensor", k})
				require.NoError(t, err)
				x.mem = edge(t, need)
				tensors[k] = append(tensors[k], x)
			}
		}
		for ; len(changes) >= 2; changes = changes[2:] {
			x := &tensors[changes[0]%2][0]
			words := unsafe.Slice((*int64)(unsafe.Pointer(x)), int(unsafe.Sizeof(*x)/8))
			switch i := int(changes[0] / 2); {
			case i == 1: // the address stays in the memory
				x.mem.virt += uintptr(min(uint64(changes[1]), x.mem.size))
				x.mem.size -= min(uint64(changes[1]), x.mem.size)
			case i == 2:
				x.mem.size -= min(uint64(changes[1]), x.mem.size)
			case i < len(words):
				words[i] = int64(changes[1]) - 8
			}
		}
		if err := dnnInferV2(nil, &tensors[1][0], &tensors[0][0], m); err != nil {
			require.NotEqual(t, int32(-200003), int32(status(err)), "an accepted task fails: %v", err)
		}
	})
}
