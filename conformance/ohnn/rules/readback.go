package rules

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// told is all that a descriptor tells.
type told struct {
	name             string
	dataType, format int32
	dims             []int32
}

// set sets all of a descriptor.
func (t *T) set(d uintptr, v told) {
	t.OK("TensorDesc_SetName", d, v.name)
	t.OK("TensorDesc_SetDataType", d, v.dataType)
	t.OK("TensorDesc_SetFormat", d, v.format)
	t.OK("TensorDesc_SetShape", d, v.dims, len(v.dims))
}

// typeSizes are those of the data types from UNKNOWN on.
var typeSizes = []uint64{0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8}

// tells demands all that a descriptor of a fixed shape tells, in an order that differs from that of set.
func (t *T) tells(d uintptr, want told) {
	n := uint64(1)
	for _, size := range want.dims {
		n *= uint64(size)
	}
	got := t.size("TensorDesc_GetByteSize", d)
	t.Check(got == n*typeSizes[want.dataType], "byte size %d, want %d x %d", got, n, typeSizes[want.dataType])
	t.Check(t.enum("TensorDesc_GetFormat", d) == want.format, "format %d, want %d", t.enum("TensorDesc_GetFormat", d),
		want.format)
	t.wantShape(d, want.dims...)
	t.Check(t.name(d) == want.name, "name %q, want %q", t.name(d), want.name)
	t.Check(t.size("TensorDesc_GetElementCount", d) == n, "%d elements, want %d", t.size("TensorDesc_GetElementCount", d),
		n)
	t.Check(t.enum("TensorDesc_GetDataType", d) == want.dataType, "data type %d, want %d",
		t.enum("TensorDesc_GetDataType", d), want.dataType)
}

// descriptions are unlike in every field, with shapes that grow and shrink.
var descriptions = []told{
	{"first", float32T, 1, []int32{2, 3, 5}},
	{"", int8T, 2, []int32{7}},
	{strings.Repeat("long/", 400), int64T, 3, []int32{1, 2, 3, 4, 5, 1, 2, 1, 3, 1}},
	{"Größe", uint16T, 0, []int32{11, 2}},
	{"f", float64T, 3, []int32{1}},
	{"Tensor: 9", boolean, 1, []int32{3, 2, 2}},
}

// each makes a tensor of a descriptor in each of the three ways; memory has size bytes from offset.
func (t *T) each(d uintptr) (of []uintptr, fd int) {
	fd = t.sharedMemory(int64(4 * page))
	return []uintptr{t.newTensor("Create", 0, d), t.newTensor("CreateWithSize", 0, d, 2*page+40),
		t.newTensor("CreateWithFd", 0, d, fd, 3*page, page)}, fd
}

// readBack are the rules that everything which was set is told again, and nothing else.
var readBack = []*Rule{
	rule("s3_read_back", "a descriptor tells what was set last, field by field; fields and descriptors do not touch each "+
		"other").
		OK("all_again", func(t *T) {
			d := t.object("TensorDesc_Destroy", t.Ptr("TensorDesc_Create"))
			for range 2 {
				for _, v := range descriptions {
					t.set(d, v)
					t.tells(d, v)
				}
			}
		}).
		OK("one_field_at_a_time", func(t *T) {
			d, now := t.object("TensorDesc_Destroy", t.Ptr("TensorDesc_Create")), descriptions[0]
			t.set(d, now)
			for _, v := range descriptions {
				now.dims = v.dims
				t.OK("TensorDesc_SetShape", d, v.dims, len(v.dims))
				t.tells(d, now)
				now.dataType = v.dataType
				t.OK("TensorDesc_SetDataType", d, v.dataType)
				t.tells(d, now)
				now.name = v.name
				t.OK("TensorDesc_SetName", d, v.name)
				t.tells(d, now)
				now.format = v.format
				t.OK("TensorDesc_SetFormat", d, v.format)
				t.tells(d, now)
			}
		}).
		OK("many_descriptors", func(t *T) {
			ds := make([]uintptr, len(descriptions))
			for i, v := range descriptions {
				ds[i] = t.object("TensorDesc_Destroy", t.Ptr("TensorDesc_Create"))
				t.set(ds[i], v)
			}
			for i, v := range descriptions {
				t.tells(ds[i], v)
			}
			gone := t.Ptr("TensorDesc_Create")
			t.set(gone, descriptions[1])
			t.OK("TensorDesc_Destroy", &gone)
			for i, v := range descriptions {
				t.tells(ds[i], v)
			}
		}).
		OK("pointers_stay", func(t *T) {
			d := t.object("TensorDesc_Destroy", t.Ptr("TensorDesc_Create"))
			t.set(d, descriptions[0])
			var name, dims uintptr
			var n uint64
			t.OK("TensorDesc_GetName", d, &name)
			t.OK("TensorDesc_GetShape", d, &dims, &n)
			t.OK("TensorDesc_SetDataType", d, int8T)
			t.OK("TensorDesc_SetFormat", d, 3)
			t.set(t.object("TensorDesc_Destroy", t.Ptr("TensorDesc_Create")), descriptions[2])
			t.Check(cmem.Text(name) == "first" && slices.Equal(cmem.Copy[int32](dims, 3), []int32{2, 3, 5}),
				"the pointers lead to %q and %v", cmem.Text(name), cmem.Copy[int32](dims, 3))
		}).
		No("refused_changes_nothing", func(t *T) {
			for _, v := range descriptions {
				d := t.object("TensorDesc_Destroy", t.Ptr("TensorDesc_Create"))
				t.set(d, v)
				t.Bad("TensorDesc_SetShape", d, make([]int32, 11), 11)
				t.Bad("TensorDesc_SetShape", d, []int32{9}, 0)
				t.Bad("TensorDesc_SetShape", d, nil, 2)
				t.Bad("TensorDesc_SetDataType", d, 13)
				t.Bad("TensorDesc_SetDataType", d, int32(-1))
				t.Bad("TensorDesc_SetFormat", d, 4)
				t.Bad("TensorDesc_SetFormat", d, int32(-1))
				t.Bad("TensorDesc_SetName", d, nil)
				t.tells(d, v)
			}
		}).
		No("open_and_fixed_again", func(t *T) {
			d := t.desc(float32T)
			for _, dims := range [][]int32{{2, 3}, {4}, {1, 1, 5}} {
				t.OK("TensorDesc_SetShape", d, dims, len(dims))
				t.tells(d, told{"", float32T, 0, dims})
				t.OK("TensorDesc_SetShape", d, []int32{6, -1}, 2)
				n := uint64(9)
				t.Is(dynamic, "TensorDesc_GetElementCount", d, &n)
				t.Check(n == 0, "%d elements of an open shape", n)
			}
		}),
	rule("s4_read_back_descriptor", "a tensor's own descriptor tells all that the one it was made of told then, however "+
		"the tensor was made").
		OK("each_way", func(t *T) {
			for _, v := range descriptions {
				d := t.object("TensorDesc_Destroy", t.Ptr("TensorDesc_Create"))
				t.set(d, v)
				of, _ := t.each(d)
				t.set(d, told{"later", uint32T, 2, []int32{13, 1}})
				for _, x := range of {
					t.tells(t.Ptr("Tensor_GetTensorDesc", x), v)
				}
				t.tells(d, told{"later", uint32T, 2, []int32{13, 1}})
			}
		}).
		OK("own_is_set", func(t *T) {
			d := t.object("TensorDesc_Destroy", t.Ptr("TensorDesc_Create"))
			t.set(d, descriptions[0])
			of, _ := t.each(d)
			for i, x := range of {
				t.set(t.Ptr("Tensor_GetTensorDesc", x), descriptions[i+1])
			}
			for i, x := range of {
				t.tells(t.Ptr("Tensor_GetTensorDesc", x), descriptions[i+1])
			}
			t.tells(d, descriptions[0])
		}).
		OK("made_of_own", func(t *T) {
			d := t.object("TensorDesc_Destroy", t.Ptr("TensorDesc_Create"))
			t.set(d, descriptions[3])
			x := t.Ptr("Tensor_Create", 0, d)
			y := t.newTensor("Create", 0, t.Ptr("Tensor_GetTensorDesc", x))
			t.OK("Tensor_Destroy", &x)
			t.tells(t.Ptr("Tensor_GetTensorDesc", y), descriptions[3])
		}).
		OK("open_shape", func(t *T) {
			d := t.object("TensorDesc_Destroy", t.Ptr("TensorDesc_Create"))
			t.set(d, told{"open", float32T, 1, []int32{3, -1, 2}})
			own := t.Ptr("Tensor_GetTensorDesc", t.newTensor("CreateWithSize", 0, d, 100))
			t.wantShape(own, 3, -1, 2)
			t.Check(t.name(own) == "open" && t.enum("TensorDesc_GetFormat", own) == 1, "name %q, format %d", t.name(own),
				t.enum("TensorDesc_GetFormat", own))
		}).
		No("refused_on_own", func(t *T) {
			d := t.object("TensorDesc_Destroy", t.Ptr("TensorDesc_Create"))
			t.set(d, descriptions[0])
			of, _ := t.each(d)
			for _, x := range of {
				own := t.Ptr("Tensor_GetTensorDesc", x)
				t.Bad("TensorDesc_SetShape", own, []int32{1}, 0)
				t.Bad("TensorDesc_SetDataType", own, 13)
				t.Bad("TensorDesc_SetFormat", own, 4)
				t.Bad("TensorDesc_Destroy", &own)
				t.tells(t.Ptr("Tensor_GetTensorDesc", x), descriptions[0])
			}
		}),
	rule("s4_read_back_memory", "size, offset, descriptor of the file and address are each tensor's own, and the whole "+
		"size can be used").
		OK("each_way", func(t *T) {
			of, given := t.each(floatDesc(t))
			sizes, offsets := []uint64{24, uint64(2*page + 40), uint64(3 * page)}, []uint64{0, 0, uint64(page)}
			seen := map[int32]bool{}
			for range 2 {
				for i, x := range of {
					fd, again := int32(-1), int32(-1)
					t.OK("Tensor_GetFd", x, &fd)
					t.OK("Tensor_GetFd", x, &again)
					t.Check(fd >= 0 && fd == again, "tensor %d: fd %d, then %d", i, fd, again)
					t.Check((int(fd) == given) == (i == 2), "tensor %d: fd %d, that of the program is %d", i, fd, given)
					seen[fd] = true
					n, offset := t.size("Tensor_GetSize", x), t.size("Tensor_GetOffset", x)
					t.Check(n == sizes[i] && offset == offsets[i], "tensor %d: size %d, offset %d, want %d and %d", i, n, offset,
						sizes[i], offsets[i])
				}
			}
			t.Check(len(seen) == 3, "%d files for three tensors", len(seen))
		}).
		OK("whole_size", func(t *T) {
			d := floatDesc(t)
			a, b := t.newTensor("CreateWithSize", 0, d, 2*page+40), t.newTensor("CreateWithSize", 0, d, 3*page+1)
			of := []uintptr{a, t.newTensor("Create", 0, d), b, t.newTensor("Create", 0, d)}
			for i, x := range of {
				bytes := cmem.Span[byte](t.Ptr("Tensor_GetDataBuffer", x), int(t.size("Tensor_GetSize", x)))
				for k := range bytes {
					bytes[k] = byte(1 + i)
				}
			}
			for i, x := range of {
				bytes := cmem.Span[byte](t.Ptr("Tensor_GetDataBuffer", x), int(t.size("Tensor_GetSize", x)))
				t.Check(slices.Min(bytes) == byte(1+i) && slices.Max(bytes) == byte(1+i), "tensor %d holds another one's bytes", i)
			}
		}).
		OK("not_the_descriptor_s", func(t *T) {
			of, _ := t.each(floatDesc(t))
			for i, x := range of {
				p := t.Ptr("Tensor_GetDataBuffer", x)
				t.OK("TensorDesc_SetShape", t.Ptr("Tensor_GetTensorDesc", x), []int32{1}, 1)
				t.Check(t.size("Tensor_GetSize", x) == []uint64{24, uint64(2*page + 40), uint64(3 * page)}[i], "tensor %d: size "+
					"%d after a change of its descriptor", i, t.size("Tensor_GetSize", x))
				t.Check(t.Ptr("Tensor_GetDataBuffer", x) == p, "tensor %d: the address has changed", i)
			}
		}).
		OK("the_file_is_the_memory", func(t *T) {
			x := t.newTensor("CreateWithSize", 0, floatDesc(t), page+40)
			bytes := cmem.Span[byte](t.Ptr("Tensor_GetDataBuffer", x), page+40)
			for i := range bytes {
				bytes[i] = byte(i % 251)
			}
			fd := int32(-1)
			t.OK("Tensor_GetFd", x, &fd)
			file := make([]byte, page+40)
			n, err := unix.Pread(int(fd), file, 0)
			t.Check(err == nil && n == len(file) && slices.Equal(file, bytes), "%d bytes of the file, %v", n, err)
			_, err = unix.Pwrite(int(fd), []byte{253}, 39)
			t.Check(err == nil && bytes[39] == 253, "what is written to the file is not in the memory: %v", err)
		}).
		No("NULL_writes_nothing", func(t *T) {
			of, _ := t.each(floatDesc(t))
			fd, n, offset := int32(-5), uint64(55), uint64(66)
			t.Bad("Tensor_GetFd", nil, &fd)
			t.Bad("Tensor_GetSize", nil, &n)
			t.Bad("Tensor_GetOffset", nil, &offset)
			t.Check(fd == -5 && n == 55 && offset == 66, "%d, %d, %d: a variable was written", fd, n, offset)
			for _, x := range of {
				t.Bad("Tensor_GetFd", x, nil)
				t.Bad("Tensor_GetSize", x, nil)
				t.Bad("Tensor_GetOffset", x, nil)
			}
		}),
	rule("s4_read_back_run", "a run changes of an output tensor's descriptor the shape alone, and of its memory neither "+
		"size nor address").
		OK("each_way", func(t *T) {
			for i := range 3 {
				d := t.object("TensorDesc_Destroy", t.Ptr("TensorDesc_Create"))
				t.set(d, told{"result", float32T, 3, []int32{4, 2}})
				of, fd := t.each(d)
				x := of[i]
				p, n := t.Ptr("Tensor_GetDataBuffer", x), t.size("Tensor_GetSize", x)
				e := t.turning()
				in := []uintptr{t.tensor(pattern(6, 1), 2, 3), t.tensor(pattern(3, 2), 3)}
				t.OK("Executor_RunSync", e, in, 2, []uintptr{x}, 1)
				t.tells(t.Ptr("Tensor_GetTensorDesc", x), told{"result", float32T, 3, []int32{3, 2}})
				t.Check(t.Ptr("Tensor_GetDataBuffer", x) == p && t.size("Tensor_GetSize", x) == n,
					"address or size have changed")
				want := turn(pattern(6, 1), pattern(3, 2), 2, 3)
				t.Check(slices.Equal(t.floats(x, 6), want), "got %v, want %v", t.floats(x, 6), want)
				t.tells(d, told{"result", float32T, 3, []int32{4, 2}})
				if i == 2 {
					t.Check(t.size("Tensor_GetOffset", x) == uint64(page), "offset %d", t.size("Tensor_GetOffset", x))
					file := make([]byte, 24)
					_, err := unix.Pread(fd, file, int64(page))
					t.Check(err == nil && slices.Equal(cmem.As[float32](file), want), "the file has %v, want %v",
						cmem.As[float32](file), want)
				}
			}
		}).
		No("refused", func(t *T) {
			d := t.object("TensorDesc_Destroy", t.Ptr("TensorDesc_Create"))
			t.set(d, told{"result", float32T, 3, []int32{4, 2}})
			of, _ := t.each(d)
			e := t.turning()
			for _, x := range of {
				t.mismatched(e, x)
				t.tells(t.Ptr("Tensor_GetTensorDesc", x), told{"result", float32T, 3, []int32{4, 2}})
			}
		}),
	rule("s2_read_back", "every device has one name and one type, however often and in whichever order it is asked").
		OK("each", func(t *T) {
			ids := t.deviceIDs()
			names, kinds := map[uint64]string{}, map[uint64]int32{}
			for _, id := range ids {
				names[id] = t.deviceName(id)
				kinds[id] = t.enum("Device_GetType", uintptr(id))
			}
			slices.Reverse(ids)
			seen := map[string]bool{}
			for _, id := range ids {
				same := t.deviceName(id) == names[id] && t.enum("Device_GetType", uintptr(id)) == kinds[id]
				t.Check(same, "device %d is told in two ways", id)
				t.Check(!seen[names[id]], "two devices are named %s", names[id])
				seen[names[id]] = true
			}
			t.Check(t.enum("Device_GetType", 0) == kinds[t.deviceIDs()[0]], "device 0 has another type than the first")
			slices.Reverse(ids)
			t.Check(slices.Equal(t.deviceIDs(), ids), "the list has changed")
		}).
		No("refused_between", func(t *T) {
			ids := t.deviceIDs()
			for _, id := range ids {
				before, kind := t.deviceName(id), t.enum("Device_GetType", uintptr(id))
				t.Is(failed, "Device_GetName", t.unknownDevice(), new(uintptr))
				t.Bad("Device_GetType", t.unknownDevice(), new(int32))
				t.Check(t.deviceName(id) == before && t.enum("Device_GetType", uintptr(id)) == kind, "device %d has changed", id)
			}
		}),
}
