package rules

import (
	"regexp"
	"slices"

	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

var deviceName = regexp.MustCompile(`^.+_.+_v[0-9]+_[0-9]+$`)

// deviceIDs reads the list of devices.
func (t *T) deviceIDs() []uint64 {
	var ids uintptr
	var n uint32
	t.OK("Device_GetAllDevicesID", &ids, &n)
	return cmem.Copy[uint64](ids, int(n))
}

func (t *T) deviceName(id any) string {
	var name uintptr
	t.OK("Device_GetName", id, &name)
	return cmem.Text(name)
}

var devices = []*Rule{
	rule("s2_GetAllDevicesID", "gives an array of ids and their number; NULL arguments and an array pointer that is not "+
		"NULL are INVALID").
		OK("lists", func(t *T) { t.Check(len(t.deviceIDs()) > 0, "no device") }).
		No("NULL_array", func(t *T) { t.Bad("Device_GetAllDevicesID", nil, new(uint32)) }).
		No("array_not_NULL", func(t *T) { t.Bad("Device_GetAllDevicesID", &[]uintptr{1}[0], new(uint32)) }).
		No("NULL_count", func(t *T) { t.Bad("Device_GetAllDevicesID", new(uintptr), nil) }),
	rule("s2_GetAllDevicesID_lifetime", "the array is the library's and stays valid").
		OK("second_call", func(t *T) {
			var first, second uintptr
			var n uint32
			t.OK("Device_GetAllDevicesID", &first, &n)
			before := cmem.Copy[uint64](first, int(n))
			t.OK("Device_GetAllDevicesID", &second, &n)
			after := cmem.Copy[uint64](first, int(n))
			for i := range before {
				t.Check(before[i] == after[i], "id %d changed from %d to %d", i, before[i], after[i])
			}
		}).
		No("after_a_refused_call", func(t *T) {
			ids, n := uintptr(0), uint32(0)
			t.OK("Device_GetAllDevicesID", &ids, &n)
			array, count := ids, n
			before := cmem.Copy[uint64](ids, int(n))
			t.Bad("Device_GetAllDevicesID", &ids, &n)
			t.Check(ids == array && n == count, "the refused call has changed its variables")
			t.Check(slices.Equal(cmem.Copy[uint64](ids, int(n)), before), "the refused call has changed the array")
		}),
	rule("s2_device_id", "ids are never 0 and no two devices have the same").
		OK("unique", func(t *T) {
			seen := map[uint64]bool{0: true}
			for _, id := range t.deviceIDs() {
				t.Check(!seen[id], "id %d is 0 or given twice", id)
				seen[id] = true
			}
		}).
		No("neighbours", func(t *T) {
			ids := t.deviceIDs()
			for _, id := range ids {
				for _, other := range []uint64{id + 1, id - 1, id ^ 1<<63} {
					if other != 0 && !slices.Contains(ids, other) {
						t.Bad("Device_GetType", other, new(int32))
					}
				}
			}
		}),
	rule("s2_GetName", "gives the name; a NULL variable and one that holds no NULL are INVALID").
		OK("every_device", func(t *T) {
			for _, id := range t.deviceIDs() {
				t.Check(t.deviceName(id) != "", "device %d has no name", id)
			}
		}).
		No("NULL", func(t *T) { t.Bad("Device_GetName", 0, nil) }).
		No("name_not_NULL", func(t *T) { t.Bad("Device_GetName", 0, &[]uintptr{1}[0]) }),
	rule("s2_GetName_unknown_id", "an unknown id is FAILED, with NULL as the name").
		OK("known_id", func(t *T) { t.deviceName(t.deviceIDs()[0]) }).
		No("unknown_id", func(t *T) {
			var name uintptr
			t.Is(failed, "Device_GetName", t.unknownDevice(), &name)
			t.Check(name == 0, "the name is not NULL")
		}),
	rule("s2_GetName_id_0", "id 0 is the first device").
		OK("first", func(t *T) {
			zero, first := t.deviceName(0), t.deviceName(t.deviceIDs()[0])
			t.Check(zero == first, "id 0 is %q, the first device is %q", zero, first)
		}).
		No("no_first", func(t *T) {
			name := uintptr(0)
			t.Is(failed, "Device_GetName", 0, &name)
			t.Check(name == 0, "the name is not NULL")
		}).With(noDevice),
	rule("s2_device_name", "a name has the form <device>_<vendor>_v<major>_<minor>").
		OK("form", func(t *T) {
			for _, id := range t.deviceIDs() {
				name := t.deviceName(id)
				t.Check(deviceName.MatchString(name), "%q", name)
			}
		}).
		OK("as_registered", func(t *T) { t.named(fullDevice) }).
		No("part_of_an_id", func(t *T) {
			for _, id := range t.deviceIDs() {
				if half := id & 0xffffffff; half != 0 && half != id {
					name := uintptr(0)
					t.Is(failed, "Device_GetName", half, &name)
					t.Check(name == 0, "the name is not NULL")
				}
			}
		}),
	rule("s2_device_name_lifetime", "a name is the library's and valid as long as the process").
		OK("second_call", func(t *T) {
			var name uintptr
			t.OK("Device_GetName", 0, &name)
			before := cmem.Text(name)
			t.deviceName(0)
			t.Check(cmem.Text(name) == before, "the name changed from %q to %q", before, cmem.Text(name))
		}).
		No("after_a_refused_call", func(t *T) {
			name := uintptr(0)
			t.OK("Device_GetName", 0, &name)
			p, before := name, cmem.Text(name)
			t.Bad("Device_GetName", 0, &name)
			t.Check(name == p && cmem.Text(p) == before, "the refused call has changed the name")
		}),
	rule("s2_no_device", "without a device the list is OK with NULL and 0, and nothing can be made").
		OK("empty_list", func(t *T) {
			ids, n := uintptr(0), uint32(9)
			t.OK("Device_GetAllDevicesID", &ids, &n)
			t.Check(ids == 0 && n == 0, "array %#x, count %d", ids, n)
		}).With(noDevice).
		No("build", func(t *T) {
			t.Is(failed, "Compilation_Build", t.unbuilt())
			t.Null("Tensor_Create", 0, floatDesc(t))
			t.Is(failed, "Model_GetAvailableOperations", t.model(2), 0, new(uintptr), new(uint32))
		}).With(noDevice),
	rule("s2_registration", "a device is listed when it is available or busy, and once").
		OK("available", func(t *T) {
			t.named(fullDevice)
			t.named(plainDevice)
		}).
		No("twice", func(t *T) {
			n := 0
			for _, id := range t.deviceIDs() {
				if t.deviceName(id) == fullDevice {
					n++
				}
			}
			t.NoEffect(n != 1, "%s is listed %d times", fullDevice, n)
		}).
		No("offline", func(t *T) {
			for _, id := range t.deviceIDs() {
				t.NoEffect(t.deviceName(id) == offlineDevice, "%s is listed", offlineDevice)
			}
		}),
	rule("s2_GetType_mapping", "CPU, GPU and ACCELERATOR are told as such, anything else as OTHERS").
		OK("each", func(t *T) {
			for name, want := range map[string]int32{fullDevice: 1, gpuDevice: 2, acceleratorDevice: 3, otherDevice: 0} {
				kind := int32(-1)
				t.OK("Device_GetType", t.named(name), &kind)
				t.Check(kind == want, "%s has type %d, want %d", name, kind, want)
			}
		}).
		No("unknown_untouched", func(t *T) {
			kind := int32(-1)
			t.Bad("Device_GetType", t.unknownDevice(), &kind)
			t.Check(kind == -1, "an unknown device has type %d", kind)
		}),
	rule("s2_GetType", "gives one of OTHERS, CPU, GPU, ACCELERATOR; NULL is INVALID").
		OK("every_device", func(t *T) {
			for _, id := range append(t.deviceIDs(), 0) {
				kind := int32(-1)
				t.OK("Device_GetType", id, &kind)
				t.Check(kind >= 0 && kind <= 3, "device %d has type %d", id, kind)
			}
		}).
		No("NULL", func(t *T) { t.Bad("Device_GetType", 0, nil) }),
	rule("s2_GetType_unknown_id", "an unknown id is INVALID here, not FAILED").
		OK("known_id", func(t *T) { t.OK("Device_GetType", t.deviceIDs()[0], new(int32)) }).
		No("unknown_id", func(t *T) { t.Bad("Device_GetType", t.unknownDevice(), new(int32)) }).
		No("unknown_id_and_NULL", func(t *T) { t.Bad("Device_GetType", t.unknownDevice(), nil) }),
}
