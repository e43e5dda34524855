package rules

import (
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// The steps of sequences: each reads what it needs from the data, makes its call, and compares.

// tensor makes a tensor of a descriptor, and fills it.
func (q *sequence) tensor() {
	v, d := of[specDesc](q, aDesc)
	size, value := []int{0, 1, 8, 64}[q.next(4)], float32(q.next(100))
	need, ok := 0, false
	spec := &specTensor{}
	if d != nil {
		need, ok = d.bytes()
		ok = ok && d.dataType != 0
		spec.specDesc = specDesc{d.dataType, d.shape}
	}
	before := q.vars[aTensor]
	if size == 0 {
		spec.size = need
		q.create(aTensor, ok && need > 0, spec, "Tensor_Create", 0, v)
	} else {
		spec.size = size
		q.create(aTensor, ok && size >= need, spec, "Tensor_CreateWithSize", 0, v, size)
	}
	for i, x := range q.vars[aTensor] {
		if x == before[i] {
			continue
		}
		p := q.Call("Tensor_GetDataBuffer", x.v)
		spec.data = slices.Repeat([]float32{value}, spec.size/4)
		for k := range spec.data {
			*cmem.At[float32](p + uintptr(4*k)) = value
		}
	}
}

// model makes one call on a model, in any order.
func (q *sequence) model() {
	v, m := of[specModel](q, aModel)
	switch q.next(5) {
	case 0, 1:
		t := newT(&suite.T{Library: q.Library})
		dim := int32(2)
		if m != nil {
			dim = m.dim
		}
		d := t.Ptr("TensorDesc_Create")
		t.OK("TensorDesc_SetDataType", d, float32T)
		t.OK("TensorDesc_SetShape", d, []int32{dim}, 1)
		q.code(judge(m, func() int { return m.addTensor() }), "Model_AddTensorToModel", v, d)
		t.OK("TensorDesc_Destroy", &d)
	case 2:
		q.code(judge(m, func() int { return m.addOperation() }), "Model_AddOperation", v, opAdd, &ohnn.Array{}, ohnn.List(0,
			1),
			ohnn.List(2))
	case 3:
		q.code(judge(m, func() int { return m.specify() }), "Model_SpecifyInputsAndOutputs", v, ohnn.List(0, 1), ohnn.List(2))
	case 4:
		q.code(judge(m, func() int { return m.finish() }), "Model_Finish", v)
	}
}

// standard brings a model to its end, sometimes with a second operation.
func (q *sequence) standard() {
	x := q.vars[aModel][q.next(4)]
	m, ok := x.spec.(*specModel)
	again := q.next(4) == 3
	if !ok || m.done || m.ops > 1 {
		return
	}
	for m.tensors < 3 {
		q.code(m.addTensor(), "Model_AddTensor", x.v, legacy(float32T, m.dim))
	}
	for m.ops == 0 || m.ops == 1 && again {
		q.code(m.addOperation(), "Model_AddOperation", x.v, opAdd, &ohnn.Array{}, ohnn.List(0, 1), ohnn.List(2))
	}
	if !m.specified {
		q.code(m.specify(), "Model_SpecifyInputsAndOutputs", x.v, ohnn.List(0, 1), ohnn.List(2))
	}
	q.code(m.finish(), "Model_Finish", x.v)
}

func (q *sequence) setting() {
	v, c := of[specCompilation](q, aCompilation)
	set := func(change func()) int {
		return judge(c, func() int {
			code := c.set()
			if code == success {
				change()
			}
			return code
		})
	}
	switch q.next(6) {
	case 0:
		n := q.next(6)
		q.code(set(func() { c.performance = n }), "Compilation_SetPerformanceMode", v, n)
	case 1:
		n := q.next(5)
		q.code(set(func() { c.priority = n }), "Compilation_SetPriority", v, n)
	case 2:
		q.code(set(func() {}), "Compilation_EnableFloat16", v, false)
	case 3:
		unknown := q.next(2) == 1
		id := uint64(0)
		if unknown {
			id = 12345
		}
		q.code(set(func() { c.unknownDevice = unknown }), "Compilation_SetDevice", v, id)
	case 4:
		missing := q.next(2) == 1
		path := ""
		if missing {
			path = "/nonexistent/cache"
		}
		q.code(set(func() { c.missingCache = missing }), "Compilation_SetCache", v, path, 1)
	case 5:
		q.code(set(func() {}), "Compilation_AddExtensionConfig", v, "name", []byte("value"), 5)
	}
}

func (q *sequence) build() {
	v, c := of[specCompilation](q, aCompilation)
	q.code(judge(c, func() int { return c.build() }), "Compilation_Build", v)
}

// run runs with tensors, waiting or not.
func (q *sequence) run() {
	v, e := of[specExecutor](q, anExecutor)
	var handles [3]uintptr
	var specs [3]*specTensor
	stale := false
	for i := range handles {
		handles[i], specs[i] = of[specTensor](q, aTensor)
		stale = stale || handles[i] != 0 && specs[i] == nil
	}
	in, out := handles[:2], handles[2:]
	want := invalid
	if e != nil && !stale {
		want = e.check(specs[:2], specs[2])
	}
	if q.next(4) == 0 {
		q.runAsync(v, e, in, out, specs, want)
		return
	}
	if want == success {
		want = e.run(specs[:2], specs[2])
	}
	q.code(want, "Executor_RunSync", v, in, 2, out, 1)
	q.compare(want, out[0], specs[2])
}

func (q *sequence) compare(code int, v uintptr, spec *specTensor) {
	if code != success {
		return
	}
	q.ran++
	if got := cmem.Copy[float32](q.Call("Tensor_GetDataBuffer", v), len(spec.data)); !slices.Equal(got, spec.data) {
		q.fail("the tensor holds %v, want %v", got, spec.data)
	}
}

func (q *sequence) runAsync(v uintptr, e *specExecutor, in, out []uintptr, specs [3]*specTensor, want int) {
	if e != nil && !e.onDone && q.next(2) == 0 {
		q.code(success, "Executor_SetOnRunDone", v, runDone())
		e.onDone = true
	}
	if want == success && !e.onDone {
		want = forbid
	}
	user := nextUser.Add(1)
	ends[user] = make(chan end, 1)
	defer delete(ends, user)
	q.code(want, "Executor_RunAsync", v, in, 2, out, 1, 60000, user)
	if want != success {
		return
	}
	want = e.run(specs[:2], specs[2])
	if got := <-ends[user]; got.code != want {
		q.fail("the callback was told %s, want %s", ohnn.API.CodeName(got.code), ohnn.API.CodeName(want))
	}
	q.compare(want, out[0], specs[2])
}

func (q *sequence) legacyInput() {
	v, e := of[specExecutor](q, anExecutor)
	index, n, value := q.next(3), 1+q.next(3), float32(q.next(100))
	length := []int{4 * n, 4 * n, 48, 0, 4*n - 1}[q.next(5)]
	want := judge(e, func() int { return e.setInput(index, n, length) })
	q.code(want, "Executor_SetInput", v, index, legacy(float32T, int32(n)), slices.Repeat([]float32{value}, 12), length)
	if want == success {
		e.in[index] = specInput{n: n, value: value}
	}
}

func (q *sequence) legacyOutput() {
	v, e := of[specExecutor](q, anExecutor)
	index, length := q.next(8)/7, []int{8, 12, 4, 0, 7}[q.next(5)]
	out := make([]float32, 3)
	want := judge(e, func() int { return e.setOutput(index, length) })
	q.code(want, "Executor_SetOutput", v, index, out, length)
	if want == success {
		e.out = specOutput{data: make([]float32, 3), length: length}
		outputs[e] = out
	}
}

// outputs are what executors write to; the program keeps them.
var outputs = map[*specExecutor][]float32{}

func (q *sequence) runLegacy() {
	v, e := of[specExecutor](q, anExecutor)
	if e != nil && e.dangling() {
		return
	}
	want := judge(e, func() int { return e.runLegacy() })
	q.code(want, "Executor_Run", v)
	if want != success {
		return
	}
	q.ran++
	got := outputs[e]
	if m := e.out.memory; m != nil {
		for _, x := range q.memories {
			if x.spec == m {
				got = cmem.Copy[float32](cmem.At[memory](x.p).data, len(m.data))
			}
		}
	}
	if !slices.Equal(got[:e.shape], e.out.data[:e.shape]) {
		q.fail("the output holds %v, want %v", got, e.out.data)
	}
}

func (q *sequence) allocate() {
	slot := &q.memories[q.next(4)]
	v, e := of[specExecutor](q, anExecutor)
	input, index, length, value := q.next(2) == 0, q.next(3), []int{8, 12, 4, 0}[q.next(4)], float32(q.next(100))
	function, count := "Executor_AllocateOutputMemory", 1
	if input {
		function, count = "Executor_AllocateInputMemory", 2
	}
	if slot.spec != nil {
		return
	}
	p := q.Call(function, v, index, length)
	q.log = append(q.log, fmt.Sprintf("%s(%#x, %d, %d) = %#x", function, v, index, length, p))
	want := e != nil && index < count && length > 0
	q.refusal(!want, function)
	if want != (p != 0) {
		q.fail("want memory: %v", want)
	}
	if p == 0 {
		return
	}
	e.memories++
	m := &specMemory{owner: e, input: input, index: index, length: length, data: slices.Repeat([]float32{value}, length/4)}
	for i, x := range m.data {
		*cmem.At[float32](cmem.At[memory](p).data + uintptr(4*i)) = x
	}
	*slot = memoryVariable{p, m}
}

func (q *sequence) free() {
	slot := &q.memories[q.next(4)]
	v, e := of[specExecutor](q, anExecutor)
	input, index := q.next(2) == 0, q.next(3)
	function := "Executor_DestroyOutputMemory"
	if input {
		function = "Executor_DestroyInputMemory"
	}
	if m := slot.spec; m != nil && !m.owner.ended && q.next(2) == 0 { // as it should be
		e, input, index = m.owner, m.input, m.index
		for _, x := range q.vars[anExecutor] {
			if x.spec == any(e) {
				v = x.v
			}
		}
		function = map[bool]string{true: "Executor_DestroyInputMemory", false: "Executor_DestroyOutputMemory"}[input]
	}
	p := slot.p
	q.Call(function, v, index, &p)
	q.log = append(q.log, fmt.Sprintf("%s(%#x, %d, %#x)", function, v, index, slot.p))
	m := slot.spec
	want := m != nil && e == m.owner && input == m.input && index == m.index
	if freed := p == 0 && slot.p != 0; freed != want {
		q.fail("freed: %v, want %v", freed, want)
	}
	q.refusal(!want, function)
	if want {
		m.freed = true
		m.owner.memories--
		*slot = memoryVariable{}
	}
}

// withMemory sets memory of any executor as input or output.
func (q *sequence) withMemory() {
	slot := q.memories[q.next(4)]
	v, e := of[specExecutor](q, anExecutor)
	index, n := q.next(3), 1+q.next(3)
	if slot.spec == nil {
		q.code(invalid, "Executor_SetOutputWithMemory", v, index, nil)
		return
	}
	if slot.spec.input {
		want := judge(e, func() int { return e.setInput(index, n, slot.spec.length) })
		q.code(want, "Executor_SetInputWithMemory", v, index, legacy(float32T, int32(n)), slot.p)
		if want == success {
			e.in[index] = specInput{n: n, memory: slot.spec}
		}
		return
	}
	want := judge(e, func() int { return e.setOutput(index, slot.spec.length) })
	q.code(want, "Executor_SetOutputWithMemory", v, index, slot.p)
	if want == success {
		e.out = specOutput{data: slot.spec.data, length: slot.spec.length, memory: slot.spec}
	}
}

// tell asks an executor and a tensor what they know.
func (q *sequence) tell() {
	v, e := of[specExecutor](q, anExecutor)
	var p uintptr
	var n uint32
	q.code(judge(e, func() int { return success }), "Executor_GetOutputShape", v, 0, &p, &n)
	if e != nil && !slices.Equal(cmem.Copy[int32](p, int(n)), []int32{int32(e.shape)}) {
		q.fail("output shape %v, want [%d]", cmem.Copy[int32](p, int(n)), e.shape)
	}
	v, t := of[specTensor](q, aTensor)
	if t == nil {
		q.code(invalid, "Tensor_GetSize", v, new(uint64))
	} else {
		q.tensorCounts(v, t)
	}
	q.checkMemories()
	q.countFiles()
}
