package rules

import (
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/conformance/nnapi"
)

// A kind of object: how programs end one.
type kind struct{ name, free string }

var (
	model       = &kind{"model", "Model_free"}
	compilation = &kind{"compilation", "Compilation_free"}
	execution   = &kind{"execution", "Execution_free"}
	burst       = &kind{"burst", "Burst_free"}
	event       = &kind{"event", "Event_free"}
	desc        = &kind{"description of memory", "MemoryDesc_free"}
	memoryKind  = &kind{"memory", "Memory_free"}
	deviceKind  = &kind{"device", ""} // lives as long as the process
)

// A function whose first argument is an object.
type function struct {
	name  string
	kind  *kind
	make  func(t *T) uintptr            // an object with which the call succeeds
	args  func(t *T, h uintptr) []any   // the arguments with the object
	null  []int                         // arguments besides the first that must not be NULL
	index int                           // argument that is an index, 0 for none
	wrong map[string]func(t *T) uintptr // objects in a state in which the call is refused
	never bool                          // no library has what the call would succeed with
}

// Indices of the operands that rich adds to Sum.
const (
	spare  = nnapi.Spare + iota // a tensor of two elements
	nested                      // a MODEL
	scaled                      // a tensor with scales per channel
)

func sum(t *T) uintptr { return t.Sum(2).Handle }

// rich is an open model with operands of several kinds, which no operation uses.
func rich(t *T) uintptr {
	m := t.Sum(2)
	m.Operand(nnapi.TensorFloat32, 2)
	m.Operand(nnapi.ModelOperand)
	m.Operand(nnapi.TensorQuant8SymmPerChannel, 2, 2)
	return m.Handle
}

// unidentified is an open model without inputs and outputs.
func unidentified(t *T) uintptr {
	m := t.Model()
	for range 3 {
		m.Operand(nnapi.TensorFloat32, 2)
	}
	m.Scalar(0)
	m.Operation("ADD", []uint32{nnapi.A, nnapi.B, nnapi.None}, []uint32{nnapi.Y})
	return m.Handle
}

func finished(t *T) uintptr { return t.Sum(2).Finish() }

// invalid is a model that was refused as a whole.
func invalid(t *T) uintptr {
	h := rich(t)
	t.Bad("Model_finish", h)
	return h
}

func open(t *T) uintptr     { return t.Alone(finished(t)) }
func compiled(t *T) uintptr { return t.Compiled(finished(t)) }

// unbound is an execution to which nothing is bound.
func unbound(t *T) uintptr { return t.execution(compiled(t)) }

// ready is an execution to which everything is bound.
func ready(t *T) uintptr {
	c := compiled(t)
	h := t.Bound(c, 2).Handle
	t.compilations[h] = c
	return h
}

// computed is an execution that was computed, with its time.
func computed(t *T) uintptr {
	h := ready(t)
	t.OK("Execution_setMeasureTiming", h, true)
	t.OK("Execution_compute", h)
	return h
}

func ended(t *T) uintptr {
	e := t.Start(t.Ready())
	t.OK("Event_wait", e)
	return e
}

func fenced(t *T) uintptr {
	fd, signal := t.pipe()
	signal()
	return t.New(event.free, "Event_createFromSyncFenceFd", fd)
}

func empty(t *T) uintptr { return t.New(desc.free, "MemoryDesc_create") }

func withRole(t *T) uintptr {
	d := empty(t)
	t.OK("MemoryDesc_addInputRole", d, compiled(t), 0, float32(1))
	return d
}

func roles(t *T) uintptr { return t.Roles(compiled(t), false) }

func pool(t *T) uintptr { return t.pool(8) }

func device(t *T) uintptr { return t.Device() }

type situations = map[string]func(t *T) uintptr

var (
	closed        = situations{"finished": finished, "invalid": invalid} // models that cannot be changed
	unusable      = situations{"open": sum, "invalid": invalid}          // models of which nothing can be made
	settled       = situations{"finished": compiled}
	uncompiled    = situations{"open": open}
	begun         = situations{"computed": computed, "refused": refusedRun}
	notComputed   = situations{"prepared": ready}
	finishedRoles = situations{"finished": roles}
)

// value is an operand's of two elements, token that of a cache.
var (
	value = []float32{1, 2}
	token = make([]byte, 32)
)

// functions are those with an object as the first argument.
func functions() []function {
	just := func(_ *T, h uintptr) []any { return []any{h} }
	with := func(more ...any) func(*T, uintptr) []any {
		return func(_ *T, h uintptr) []any { return append([]any{h}, more...) }
	}
	creating := func(free string) func(*T, uintptr) []any {
		return func(t *T, h uintptr) []any { return []any{h, t.out(free)} }
	}
	number := func(_ *T, h uintptr) []any { return []any{h, 0, new(uint32)} }
	role := func(t *T, h uintptr) []any { return []any{h, compiled(t), 0, float32(1)} }
	setOfFile := func(t *T, h uintptr) []any { return []any{h, 0, nil, pool(t), 0, 8} }
	attribute := with("org.example", 0, []byte{1}, 1)
	return []function{
		{name: "Device_getName", kind: deviceKind, make: device, args: address, null: []int{1}},
		{name: "Device_getType", kind: deviceKind, make: device, args: address, null: []int{1}},
		{name: "Device_getVersion", kind: deviceKind, make: device, args: address, null: []int{1}},
		{name: "Device_getFeatureLevel", kind: deviceKind, make: device, args: address, null: []int{1}},
		{name: "Device_wait", kind: deviceKind, make: device, args: just},
		{name: "Device_getExtensionSupport", kind: deviceKind, make: device,
			args: func(_ *T, h uintptr) []any { return []any{h, "org.example", new(bool)} }, null: []int{1, 2}},
		{name: "Model_getSupportedOperationsForDevices", kind: model, make: finished, wrong: unusable, null: []int{1, 3},
			args: func(t *T, h uintptr) []any { return []any{h, t.Processor(), 1, make([]bool, 1)} }},
		{name: "Model_addOperand", kind: model, make: sum, wrong: closed, null: []int{1},
			args: func(t *T, h uintptr) []any { return []any{h, t.Type(nnapi.TensorFloat32, 2)} }},
		{name: "Model_setOperandValue", kind: model, make: rich, wrong: closed, null: []int{2}, index: 1,
			args: with(spare, value, 8)},
		{name: "Model_setOperandValueFromMemory", kind: model, make: rich, wrong: closed, null: []int{2}, index: 1,
			args: func(t *T, h uintptr) []any { return []any{h, spare, pool(t), 0, 8} }},
		{name: "Model_setOperandValueFromModel", kind: model, make: rich, wrong: closed, null: []int{2}, index: 1,
			args: func(t *T, h uintptr) []any { return []any{h, nested, finished(t)} }},
		{name: "Model_setOperandSymmPerChannelQuantParams", kind: model, make: rich, wrong: closed, null: []int{2}, index: 1,
			args: func(t *T, h uintptr) []any { return []any{h, scaled, t.Scales(0, 1, 1)} }},
		{name: "Model_addOperation", kind: model, make: sum, wrong: closed, null: []int{3, 5},
			args: with(nnapi.Operations["ADD"], 3, []uint32{0, 1, 3}, 1, []uint32{2})},
		{name: "Model_identifyInputsAndOutputs", kind: model, make: unidentified, wrong: closed, null: []int{2, 4},
			args: with(2, []uint32{0, 1}, 1, []uint32{2})},
		{name: "Model_relaxComputationFloat32toFloat16", kind: model, make: sum, wrong: closed, args: with(true)},
		{name: "Model_finish", kind: model, make: sum, wrong: closed, args: just},
		{name: "Model_getExtensionOperandType", kind: model, make: sum, args: with("org.example", 0, new(int32)),
			null: []int{1, 3}, never: true},
		{name: "Model_getExtensionOperationType", kind: model, make: sum, args: with("org.example", 0, new(int32)),
			null: []int{1, 3}, never: true},
		{name: "Model_setOperandExtensionData", kind: model, make: rich, wrong: closed, args: with(spare, []byte{1}, 1),
			null: []int{2}, index: 1, never: true},
		{name: "Compilation_create", kind: model, make: finished, wrong: unusable, args: creating(compilation.free),
			null: []int{1}},
		{name: "Compilation_createForDevices", kind: model, make: finished, wrong: unusable, null: []int{1, 3},
			args: func(t *T, h uintptr) []any { return []any{h, t.Processor(), 1, t.out(compilation.free)} }},
		{name: "Compilation_setPreference", kind: compilation, make: open, wrong: settled, args: with(2)},
		{name: "Compilation_setCaching", kind: compilation, make: open, wrong: settled, null: []int{1, 2},
			args: func(t *T, h uintptr) []any { return []any{h, t.Dir, token} }},
		{name: "Compilation_setPriority", kind: compilation, make: open, wrong: settled, args: with(110)},
		{name: "Compilation_setTimeout", kind: compilation, make: open, wrong: settled, args: with(0)},
		{name: "Compilation_addExtensionAttribute", kind: compilation, make: open, wrong: settled, args: attribute,
			null: []int{1, 3}, never: true},
		{name: "Compilation_finish", kind: compilation, make: open, wrong: settled, args: just},
		{name: "Compilation_getPreferredMemoryAlignmentForInput", kind: compilation, make: compiled, wrong: uncompiled,
			args: number, null: []int{2}, index: 1},
		{name: "Compilation_getPreferredMemoryAlignmentForOutput", kind: compilation, make: compiled, wrong: uncompiled,
			args: number, null: []int{2}, index: 1},
		{name: "Compilation_getPreferredMemoryPaddingForInput", kind: compilation, make: compiled, wrong: uncompiled,
			args: number, null: []int{2}, index: 1},
		{name: "Compilation_getPreferredMemoryPaddingForOutput", kind: compilation, make: compiled, wrong: uncompiled,
			args: number, null: []int{2}, index: 1},
		{name: "Execution_create", kind: compilation, make: compiled, wrong: uncompiled, args: creating(execution.free),
			null: []int{1}},
		{name: "Burst_create", kind: compilation, make: compiled, wrong: uncompiled, args: creating(burst.free),
			null: []int{1}},
		{name: "Execution_setInput", kind: execution, make: unbound, wrong: begun, args: with(0, nil, value, 8),
			null: []int{3}, index: 1},
		{name: "Execution_setInputFromMemory", kind: execution, make: unbound, wrong: begun, args: setOfFile, null: []int{3},
			index: 1},
		{name: "Execution_setOutput", kind: execution, make: unbound, wrong: begun, null: []int{3}, index: 1,
			args: func(t *T, h uintptr) []any {
				y := make([]float32, 2)
				t.Keep(y)
				return []any{h, 0, nil, y, 8}
			}},
		{name: "Execution_setOutputFromMemory", kind: execution, make: unbound, wrong: begun, args: setOfFile,
			null: []int{3}, index: 1},
		{name: "Execution_enableInputAndOutputPadding", kind: execution, make: unbound, wrong: begun, args: with(true)},
		{name: "Execution_setReusable", kind: execution, make: ready, wrong: begun, args: with(true)},
		{name: "Execution_setMeasureTiming", kind: execution, make: ready, wrong: begun, args: with(true)},
		{name: "Execution_setTimeout", kind: execution, make: ready, wrong: begun, args: with(0)},
		{name: "Execution_setLoopTimeout", kind: execution, make: ready, wrong: begun, args: with(0)},
		{name: "Execution_addExtensionAttribute", kind: execution, make: ready, wrong: begun, args: attribute,
			null: []int{1, 3}, never: true},
		{name: "Execution_compute", kind: execution, make: ready, wrong: begun, args: just},
		{name: "Execution_startCompute", kind: execution, make: ready, wrong: begun, args: creating(event.free),
			null: []int{1}},
		{name: "Execution_startComputeWithDependencies", kind: execution, make: ready, wrong: begun, null: []int{1, 4},
			args: func(t *T, h uintptr) []any { return []any{h, []uintptr{ended(t)}, 1, 0, t.out(event.free)} }},
		{name: "Execution_burstCompute", kind: execution, make: ready, wrong: begun, null: []int{1},
			args: func(t *T, h uintptr) []any {
				c := t.compilations[h]
				if c == 0 {
					c = compiled(t)
				}
				return []any{h, t.New(burst.free, "Burst_create", c)}
			}},
		{name: "Execution_getOutputOperandRank", kind: execution, make: computed, wrong: notComputed, args: number,
			null: []int{2}, index: 1},
		{name: "Execution_getOutputOperandDimensions", kind: execution, make: computed, wrong: notComputed, args: number,
			null: []int{2}, index: 1},
		{name: "Execution_getDuration", kind: execution, make: computed, wrong: notComputed, null: []int{2},
			args: func(_ *T, h uintptr) []any { return []any{h, 0, new(uint64)} }},
		{name: "Event_wait", kind: event, make: ended, args: just},
		{name: "Event_getSyncFenceFd", kind: event, make: fenced, null: []int{1},
			args: func(t *T, h uintptr) []any {
				fd := &[]int32{-1}[0]
				t.Later(func() {
					if *fd >= 0 {
						unix.Close(int(*fd))
					}
				})
				return []any{h, fd}
			}},
		{name: "MemoryDesc_addInputRole", kind: desc, make: empty, wrong: finishedRoles, args: role, null: []int{1},
			index: 2},
		{name: "MemoryDesc_addOutputRole", kind: desc, make: empty, wrong: finishedRoles, args: role, null: []int{1},
			index: 2},
		{name: "MemoryDesc_setDimensions", kind: desc, make: empty, wrong: finishedRoles, args: with(1, []uint32{2}),
			null: []int{2}},
		{name: "MemoryDesc_finish", kind: desc, make: withRole, wrong: finishedRoles, args: just},
		{name: "Memory_createFromDesc", kind: desc, make: roles, wrong: situations{"open": withRole},
			args: creating(memoryKind.free), null: []int{1}},
		{name: "Memory_copy", kind: memoryKind, make: pool, null: []int{1},
			args: func(t *T, h uintptr) []any { return []any{h, pool(t)} }},
	}
}

// address has the variable of a result of up to eight bytes.
func address(_ *T, h uintptr) []any { return []any{h, new(uint64)} }
