package rules

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/nnapi"
)

// names are those of all devices, in their order.
func (t *T) names() (out []string) {
	n := new(uint32)
	t.OK("_getDeviceCount", n)
	for i := range *n {
		d, name := new(uintptr), new(uintptr)
		t.OK("_getDevice", i, d)
		t.OK("Device_getName", *d, name)
		out = append(out, text(*name))
	}
	return out
}

// another is the first device of type CPU that is not called nnapi-reference.
func (t *T) another() uintptr {
	for i, name := range t.names() {
		d, kind := new(uintptr), new(int32)
		t.OK("_getDevice", i, d)
		t.OK("Device_getType", *d, kind)
		if *kind == 2 && name != "nnapi-reference" {
			return *d
		}
	}
	t.Check(false, "want a device of type CPU beside nnapi-reference, got %v", t.names())
	return 0
}

// on is a compilation of a finished model for one device.
func (t *T) on(device, model uintptr) uintptr {
	c := new(uintptr)
	t.OK("Compilation_createForDevices", model, []uintptr{device}, 1, c)
	return t.Owned("Compilation_free", *c)
}

var devices = []*Rule{
	rule("11.h_not_the_reference", "a processor that is not called nnapi-reference computes, and refuses, as that one").
		OK("computes", func(t *T) {
			c := t.on(t.another(), t.Sum(2).Finish())
			t.OK("Compilation_finish", c)
			r := t.Bound(c, 2)
			t.OK("Execution_setMeasureTiming", r.Handle, true)
			t.OK("Execution_compute", r.Handle)
			t.Right(r)
		}).
		OK("supports", func(t *T) {
			got := []byte{7, 7}
			t.OK("Model_getSupportedOperationsForDevices", t.Sum(2).Finish(), []uintptr{t.another()}, 1, got)
			t.Check(got[0] == 1 && got[1] == 7, "got %v, want true and what was there", got)
		}).
		OK("both", func(t *T) {
			out := new(uintptr)
			t.OK("Compilation_createForDevices", t.Sum(2).Finish(), []uintptr{t.another(), t.Device()}, 2, out)
			c := t.Owned("Compilation_free", *out)
			t.OK("Compilation_finish", c)
			r := t.Bound(c, 2)
			t.OK("Execution_compute", r.Handle)
			t.Right(r)
		}).
		No("twice", func(t *T) {
			d := t.another()
			t.Bad("Compilation_createForDevices", t.Sum(2).Finish(), []uintptr{d, d}, 2, new(uintptr))
		}),
	rule("1.a_exports", "the 75 functions of the headers are exported").
		OK("functions", func(t *T) {
			for _, f := range nnapi.API.Functions {
				t.Check(t.Has(f), "%s is missing", f)
			}
			t.OK("_getDeviceCount", new(uint32))
		}).
		No("others", func(t *T) {
			t.NoEffect(t.Exports("ANeuralNetworksDevice_create"), "a function that no header has")
		}),
	rule("1.b_count", "there is at least one device, and the processor is the last").
		OK("last", func(t *T) {
			names := t.names()
			t.Check(len(names) >= 1 && names[len(names)-1] == "nnapi-reference", "devices %v", names)
		}).
		No("null", func(t *T) { t.NullPointer("_getDeviceCount", nil) }),
	rule("1.c_index", "a device has an index below the count").
		OK("all", func(t *T) { t.names() }).
		No("count", func(t *T) {
			n, d := new(uint32), &[]uintptr{1}[0]
			t.OK("_getDeviceCount", n)
			for _, index := range []uint32{*n, 1 << 31, 1<<32 - 1} {
				t.Bad("_getDevice", index, d)
			}
			t.NullPointer("_getDevice", 0, nil)
		}),
	rule("1.d_identity", "a device has one address and one name, which stay, and which no other device has").
		OK("same", func(t *T) {
			a, b := device(t), device(t)
			t.Check(a == b, "%#x and %#x", a, b)
			x, y := new(uintptr), new(uintptr)
			t.OK("Device_getName", a, x)
			t.OK("Device_getName", b, y)
			t.Check(*x == *y && text(*x) != "", "%q and %q", text(*x), text(*y))
		}).
		No("distinct", func(t *T) {
			names := t.names()
			slices.Sort(names)
			t.NoEffect(len(slices.Compact(names)) != len(t.names()), "two devices of one name: %v", names)
		}),
	rule("1.e_type", "the type is OTHER, CPU, GPU or ACCELERATOR; that of the processor is CPU").
		OK("processor", func(t *T) {
			kind := new(int32)
			t.OK("Device_getType", device(t), kind)
			t.Check(*kind == 2, "type %d", *kind)
		}).
		No("unknown", func(t *T) {
			n, d, kind := new(uint32), new(uintptr), new(int32)
			t.OK("_getDeviceCount", n)
			for i := range *n {
				t.OK("_getDevice", i, d)
				t.OK("Device_getType", *d, kind)
				t.Check(*kind >= 1 && *kind <= 4, "device %d has the type %d", i, *kind)
			}
			t.NullPointer("Device_getType", *d, nil)
		}),
	rule("1.f_level", "no device has a higher feature level than the runtime").
		OK("processor", func(t *T) {
			level := new(int64)
			runtime := int64(t.Call("_getRuntimeFeatureLevel"))
			t.OK("Device_getFeatureLevel", device(t), level)
			t.Check(*level >= 27 && *level <= runtime, "level %d of %d", *level, runtime)
		}).
		No("gap", func(t *T) {
			runtime := int64(t.Call("_getRuntimeFeatureLevel"))
			t.NoEffect(runtime < 27 || runtime > 31 && runtime < 1000006, "feature level %d is none", runtime)
		}),
	rule("1.h_version", "a version is a text that stays").
		OK("text", func(t *T) {
			a, b := new(uintptr), new(uintptr)
			t.OK("Device_getVersion", device(t), a)
			t.OK("Device_getVersion", device(t), b)
			t.Check(*a == *b && text(*a) != "", "%q and %q", text(*a), text(*b))
		}).
		No("null", func(t *T) { t.NullPointer("Device_getVersion", device(t), nil) }),
	rule("1.i_supported", "support is told for each operation, in the order in which operations were added").
		OK("order", func(t *T) {
			m := t.Model()
			x, mid, y := m.Operand(nnapi.TensorFloat32, 2), m.Operand(nnapi.TensorFloat32, 2), m.Operand(nnapi.TensorFloat32, 2)
			m.Operation("TANH", []uint32{mid}, []uint32{y})
			m.Operation("RELU", []uint32{x}, []uint32{mid})
			m.Identify(0, []uint32{x}, []uint32{y})
			got := []byte{7, 7, 7}
			t.OK("Model_getSupportedOperationsForDevices", m.Finish(), t.Processor(), 1, got)
			t.Check(slices.Equal(got, []byte{1, 1, 7}), "got %v, want true, true and what was there", got)
		}).
		No("devices", func(t *T) {
			h, d := finished(t), device(t)
			t.Bad("Model_getSupportedOperationsForDevices", h, []uintptr{d}, 0, []byte{0})
			t.Bad("Model_getSupportedOperationsForDevices", h, []uintptr{d, d}, 2, []byte{0})
			t.NullPointer("Model_getSupportedOperationsForDevices", h, []uintptr{0}, 1, []byte{0})
		}),
}

var extensions = []*Rule{
	rule("7.a_support", "no device says that it has an extension with an unknown name").
		OK("unknown", func(t *T) {
			got := []byte{1}
			t.OK("Device_getExtensionSupport", device(t), "org.example.none", got)
			t.Check(got[0] == 0, "the processor has the extension")
		}).
		No("types", func(t *T) {
			m := sum(t)
			t.Bad("Model_getExtensionOperandType", m, "org.example.none", 0, new(int32))
			t.Bad("Model_getExtensionOperationType", m, "org.example.none", 0, new(int32))
			t.Says("org.example.none")
		}),
	rule("7.b_unregistered", "operands and operations of extensions that nothing has registered are refused").
		OK("base", func(t *T) { t.Model().Operand(nnapi.TensorFloat32, 1) }).
		No("prefix", func(t *T) {
			m := t.Sum(2)
			t.Bad("Model_addOperand", m.Handle, t.Type(1<<16|1, 2))
			t.Bad("Model_addOperation", m.Handle, 1<<16|1, 1, []uint32{0}, 1, []uint32{2})
		}),
	rule("7.c_data", "data is for operands of an extension's type").
		OK("value", func(t *T) { t.OK("Model_setOperandValue", rich(t), spare, value, 8) }).
		No("base", func(t *T) {
			t.Bad("Model_setOperandExtensionData", rich(t), spare, []byte{1}, 1)
			t.Bad("Model_setOperandExtensionData", rich(t), spare, []byte{1}, 0)
		}),
	rule("7.d_attributes", "attributes are for compilations for one device, which knows them").
		OK("supported", func(t *T) { t.OK("Device_getExtensionSupport", device(t), "org.example.none", new(bool)) }).
		No("unknown", func(t *T) {
			t.Bad("Compilation_addExtensionAttribute", open(t), "org.example.none", 0, []byte{1}, 1)
			t.Bad("Execution_addExtensionAttribute", unbound(t), "org.example.none", 0, []byte{1}, 1)
		}).
		No("all_devices", func(t *T) {
			c := t.Compilation(finished(t))
			t.Bad("Compilation_addExtensionAttribute", c, "org.example.none", 0, []byte{1}, 1)
			t.OK("Compilation_finish", c)
			e := t.Execution(c)
			t.Bad("Execution_addExtensionAttribute", e, "org.example.none", 0, []byte{1}, 1)
		}),
}

var events = []*Rule{
	rule("6.a_wait", "waiting gives the code of the execution, each time and to each thread").
		OK("again", func(t *T) {
			r := t.Ready()
			ev := t.Start(r)
			for range 3 {
				t.OK("Event_wait", ev)
			}
			t.Right(r)
		}).
		OK("threads", func(t *T) {
			r := t.Ready()
			ev := t.Start(r)
			t.Parallel(4, func(own *suiteT, _ int) { own.OK("Event_wait", ev) })
			t.OK("Event_wait", ev)
			t.Right(r)
		}).
		No("null", func(t *T) { t.NullPointer("Event_wait", nil) }),
	rule("6.b_free_waits", "freeing an event waits for the computation").
		OK("result", func(t *T) {
			r := t.Ready()
			t.Free(event.free, t.Start(r))
			t.Right(r)
			t.OK("Execution_getOutputOperandRank", r.Handle, 0, new(uint32))
		}).
		No("again", func(t *T) {
			r := t.Ready()
			t.Free(event.free, t.Start(r))
			t.WrongState("Execution_compute", r.Handle)
		}),
	rule("6.c_fence", "a fence is a descriptor above 0").
		OK("pipe", func(t *T) { t.OK("Event_wait", fenced(t)) }).
		No("none", func(t *T) {
			t.None(nnapi.BadData, "Event_createFromSyncFenceFd", 0)
			t.None(nnapi.BadData, "Event_createFromSyncFenceFd", int32(-1))
			t.NullPointer("Event_createFromSyncFenceFd", 1, nil)
		}),
	rule("6.d_duplicate", "the program gets a descriptor of its own from a fence, and none from a computation").
		OK("own", func(t *T) {
			fd, signal := t.pipe()
			ev := t.New(event.free, "Event_createFromSyncFenceFd", fd)
			own := &[]int32{-1}[0]
			t.OK("Event_getSyncFenceFd", ev, own)
			t.Check(*own > 0 && int(*own) != fd, "descriptor %d of %d", *own, fd)
			t.closed(int(*own))
			signal()
			t.OK("Event_wait", ev)
		}).
		OK("given_back", func(t *T) {
			fd, signal := t.pipe()
			signal()
			before := t.descriptors()
			for range 20 {
				ev := t.New(event.free, "Event_createFromSyncFenceFd", fd)
				t.OK("Event_wait", ev)
				t.Free(event.free, ev)
			}
			t.Check(t.descriptors() < before+20, "%d descriptors, %d before 20 fences", t.descriptors(), before)
		}).
		No("computation", func(t *T) {
			fd := &[]int32{7}[0]
			t.Bad("Event_getSyncFenceFd", ended(t), fd)
			t.Check(*fd == -1, "descriptor %d, want -1", *fd)
		}).
		No("no_event", func(t *T) {
			fd := &[]int32{7}[0]
			t.NullPointer("Event_getSyncFenceFd", nil, fd)
			t.Check(*fd == -1, "descriptor %d, want -1", *fd)
		}),
	rule("6.e_dependencies", "a computation begins when its dependencies have ended").
		OK("fence", func(t *T) {
			fd, signal := t.pipe()
			fence := t.New(event.free, "Event_createFromSyncFenceFd", fd)
			r := t.Ready()
			ev := t.out(event.free)
			t.OK("Execution_startComputeWithDependencies", r.Handle, []uintptr{fence}, 1, 0, ev)
			t.Check(r.Y[0] == 0, "it was computed before the fence was signalled")
			signal()
			t.OK("Event_wait", *ev)
			t.Right(r)
		}).
		OK("events", func(t *T) {
			r, ev := t.Ready(), t.out(event.free)
			t.OK("Execution_startComputeWithDependencies", r.Handle, []uintptr{ended(t), ended(t)}, 2, 0, ev)
			t.OK("Event_wait", *ev)
			t.Right(r)
		}).
		No("null", func(t *T) {
			r := t.Ready()
			t.NullPointer("Execution_startComputeWithDependencies", r.Handle, []uintptr{0}, 1, 0, new(uintptr))
			t.NullPointer("Execution_startComputeWithDependencies", r.Handle, nil, 1, 0, new(uintptr))
		}),
}
