package rules

import "regexp"

var deviceName = regexp.MustCompile(`^.+_.+_v[0-9]+_[0-9]+$`)

// deviceIDs reads the list of devices.
func (t *T) deviceIDs() []uint64 {
	var ids uintptr
	var n uint32
	t.ok("Device_GetAllDevicesID", &ids, &n)
	return load[uint64](ids, int(n))
}

func (t *T) deviceName(id any) string {
	var name uintptr
	t.ok("Device_GetName", id, &name)
	return text(name)
}

var devices = []*Rule{
	rule("s2_GetAllDevicesID", "gives an array of ids and their number; NULL arguments and an array pointer that is not NULL are INVALID").
		ok("lists", func(t *T) { t.check(len(t.deviceIDs()) > 0, "no device") }).
		no("NULL_array", func(t *T) { t.bad("Device_GetAllDevicesID", nil, new(uint32)) }).
		no("array_not_NULL", func(t *T) { t.bad("Device_GetAllDevicesID", &[]uintptr{1}[0], new(uint32)) }).
		no("NULL_count", func(t *T) { t.bad("Device_GetAllDevicesID", new(uintptr), nil) }),
	rule("s2_GetAllDevicesID_lifetime", "the array is the library's and stays valid").
		ok("second_call", func(t *T) {
			var first, second uintptr
			var n uint32
			t.ok("Device_GetAllDevicesID", &first, &n)
			before := load[uint64](first, int(n))
			t.ok("Device_GetAllDevicesID", &second, &n)
			after := load[uint64](first, int(n))
			for i := range before {
				t.check(before[i] == after[i], "id %d changed from %d to %d", i, before[i], after[i])
			}
		}).only("a statement about memory that the library keeps"),
	rule("s2_device_id", "ids are never 0 and no two devices have the same").
		ok("unique", func(t *T) {
			seen := map[uint64]bool{0: true}
			for _, id := range t.deviceIDs() {
				t.check(!seen[id], "id %d is 0 or given twice", id)
				seen[id] = true
			}
		}).only("a statement about what the library gives"),
	rule("s2_GetName", "gives the name; a NULL variable and one that holds no NULL are INVALID").
		ok("every_device", func(t *T) {
			for _, id := range t.deviceIDs() {
				t.check(t.deviceName(id) != "", "device %d has no name", id)
			}
		}).
		no("NULL", func(t *T) { t.bad("Device_GetName", 0, nil) }).
		no("name_not_NULL", func(t *T) { t.bad("Device_GetName", 0, &[]uintptr{1}[0]) }),
	rule("s2_GetName_unknown_id", "an unknown id is FAILED, with NULL as the name").
		ok("known_id", func(t *T) { t.deviceName(t.deviceIDs()[0]) }).
		no("unknown_id", func(t *T) {
			var name uintptr
			t.is(failed, "Device_GetName", t.unknownDevice(), &name)
			t.check(name == 0, "the name is not NULL")
		}),
	rule("s2_GetName_id_0", "id 0 is the first device").
		ok("first", func(t *T) {
			zero, first := t.deviceName(0), t.deviceName(t.deviceIDs()[0])
			t.check(zero == first, "id 0 is %q, the first device is %q", zero, first)
		}).only("0 is always a device where there is one"),
	rule("s2_device_name", "a name has the form <device>_<vendor>_v<major>_<minor>").
		ok("form", func(t *T) {
			for _, id := range t.deviceIDs() {
				name := t.deviceName(id)
				t.check(deviceName.MatchString(name), "%q", name)
			}
		}).only("a statement about what the library gives"),
	rule("s2_device_name_lifetime", "a name is the library's and valid as long as the process").
		ok("second_call", func(t *T) {
			var name uintptr
			t.ok("Device_GetName", 0, &name)
			before := text(name)
			t.deviceName(0)
			t.check(text(name) == before, "the name changed from %q to %q", before, text(name))
		}).only("a statement about memory that the library keeps"),
	rule("s2_GetType", "gives one of OTHERS, CPU, GPU, ACCELERATOR; NULL is INVALID").
		ok("every_device", func(t *T) {
			for _, id := range append(t.deviceIDs(), 0) {
				kind := int32(-1)
				t.ok("Device_GetType", id, &kind)
				t.check(kind >= 0 && kind <= 3, "device %d has type %d", id, kind)
			}
		}).
		no("NULL", func(t *T) { t.bad("Device_GetType", 0, nil) }),
	rule("s2_GetType_unknown_id", "an unknown id is INVALID here, not FAILED").
		ok("known_id", func(t *T) { t.ok("Device_GetType", t.deviceIDs()[0], new(int32)) }).
		no("unknown_id", func(t *T) { t.bad("Device_GetType", t.unknownDevice(), new(int32)) }).
		no("unknown_id_and_NULL", func(t *T) { t.bad("Device_GetType", t.unknownDevice(), nil) }),
}
