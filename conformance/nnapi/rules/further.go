package rules

import (
	"math"
	"slices"
	"time"

	"github.com/anynpu/anynpu/conformance/nnapi"
)

// refusedRun is an execution whose computation was refused, as nothing is bound to it.
func refusedRun(t *T) uintptr {
	h := unbound(t)
	t.Bad("Execution_compute", h)
	return h
}

// coded is a compilation of RELU of a quantized type.
func (t *T) coded(scale float32, zero int32) uintptr {
	m := t.Model()
	x, y := m.Add(t.Quantized(nnapi.TensorQuant8Asymm, scale, zero, 2)), m.Add(t.Quantized(nnapi.TensorQuant8Asymm, scale,
		zero, 2))
	m.Operation("RELU", []uint32{x}, []uint32{y})
	m.Identify(nnapi.NoError, []uint32{x}, []uint32{y})
	return t.Compiled(m.Finish())
}

// filling is a compilation of FILL of two floats with a number that is the model's input.
func (t *T) filling() uintptr {
	m := t.Model()
	sizes, v, y := m.Operand(nnapi.TensorInt32, 1), m.Operand(nnapi.Float32), m.Operand(nnapi.TensorFloat32, 2)
	t.OK("Model_setOperandValue", m.Handle, sizes, []int32{2}, 4)
	m.Operation("FILL", []uint32{sizes, v}, []uint32{y})
	m.Identify(nnapi.NoError, []uint32{v}, []uint32{y})
	return t.Compiled(m.Finish())
}

// shuffled is a finished model of CHANNEL_SHUFFLE of four channels in groups.
func (t *T) shuffled(groups int32) uintptr {
	m := t.Model()
	x, y := m.Operand(nnapi.TensorFloat32, 1, 4), m.Operand(nnapi.TensorFloat32, 1, 4)
	m.Operation("CHANNEL_SHUFFLE", []uint32{x, m.Scalar(groups), m.Scalar(1)}, []uint32{y})
	m.Identify(nnapi.NoError, []uint32{x}, []uint32{y})
	return m.Finish()
}

// choosing is a finished model IF c then a else b.
func (t *T) choosing(a, b uintptr) uintptr {
	m := t.Model()
	o := []uint32{m.Operand(nnapi.TensorBool8, 1), m.Sub(a), m.Sub(b), m.Operand(nnapi.TensorFloat32, 1, 4)}
	y := []uint32{m.Operand(nnapi.TensorFloat32, 1, 4)}
	m.Operation("IF", o, y)
	m.Identify(nnapi.NoError, []uint32{o[0], o[3]}, y)
	return m.Finish()
}

// cannot demands that a model that cannot be computed is refused when it is compiled.
func (t *T) cannot(model uintptr) {
	c := t.Alone(model)
	code := t.Code("Compilation_finish", c)
	t.Check(code == nnapi.BadData || code == nnapi.OpFailed,
		"ANeuralNetworksCompilation_finish returns %d, want BAD_DATA or "+
			"OP_FAILED", code)
	t.Judged(false)
}

// misfit demands that a model of choosing, one of whose bodies has dimensions that do not fit, fails when it is
// computed.
func (t *T) misfit(model uintptr, choice byte) {
	e, y := t.Execution(t.Compiled(model)), make([]float32, 4)
	t.Keep(y)
	t.OK("Execution_setInput", e, 0, nil, []byte{choice}, 1)
	t.OK("Execution_setInput", e, 1, nil, make([]float32, 4), 16)
	t.OK("Execution_setOutput", e, 0, nil, y, 16)
	t.Is(nnapi.OpFailed, "Execution_compute", e)
}

// prescribed are operations on codes, whose result has a scale and a zero point that follow from the operation.
var prescribed = []struct {
	name  string
	build func(t *T, m *nnapi.Model, good bool) (in []uint32, out uint32)
}{
	{"LOGISTIC", fixed("LOGISTIC", 1./256, 0)},
	{"TANH", fixed("TANH", 1./128, 128)},
	{"SLICE", func(t *T, m *nnapi.Model, good bool) ([]uint32, uint32) {
		x, y := m.Add(t.Quantized(nnapi.TensorQuant8Asymm, 0.5, 7, 4)), m.Add(t.Quantized(nnapi.TensorQuant8Asymm,
			either(good, 0.5, 0.25), 7, 2))
		begin, size := nnapi.Value[int32](m, one(m), 1), nnapi.Value[int32](m, one(m), 2)
		m.Operation("SLICE", []uint32{x, begin, size}, []uint32{y})
		return []uint32{x}, y
	}},
	{"FULLY_CONNECTED", func(t *T, m *nnapi.Model, good bool) ([]uint32, uint32) {
		x, y := m.Add(t.Quantized(nnapi.TensorQuant8Asymm, 0.5, 7, 2, 3)), m.Add(t.Quantized(nnapi.TensorQuant8Asymm, 4, 7,
			2, 4))
		w := nnapi.Value(m, m.Add(t.Quantized(nnapi.TensorQuant8Asymm, 0.25, 3, 4, 3)), make([]uint8, 12)...)
		bias := nnapi.Value(m, m.Add(t.Quantized(nnapi.TensorInt32, either(good, 0.125, 0.25), 0, 4)), make([]int32, 4)...)
		m.Operation("FULLY_CONNECTED", []uint32{x, w, bias, m.Scalar(0)}, []uint32{y})
		return []uint32{x}, y
	}},
}

func either(first bool, a, b float32) float32 {
	if first {
		return a
	}
	return b
}

// fixed is an operation of one operand whose result has this scale and zero point.
func fixed(name string, scale float32, zero int32) func(t *T, m *nnapi.Model, good bool) ([]uint32, uint32) {
	return func(t *T, m *nnapi.Model, good bool) ([]uint32, uint32) {
		x, y := m.Add(t.Quantized(nnapi.TensorQuant8Asymm, 0.5, 7, 4)), m.Add(t.Quantized(nnapi.TensorQuant8Asymm,
			either(good, scale, 0.5), zero, 4))
		m.Operation(name, []uint32{x}, []uint32{y})
		return []uint32{x}, y
	}
}

// prescribes: the compilation of a model with a scale that does not follow is refused.
func prescribes() *Rule {
	r := rule("4.ga_prescribed_scales", "scales that follow from an operation, or from its other operands, are demanded")
	made := func(t *T, build func(t *T, m *nnapi.Model, good bool) ([]uint32, uint32), good bool) uintptr {
		m := t.Model()
		in, out := build(t, m, good)
		m.Identify(nnapi.NoError, in, []uint32{out})
		return m.Finish()
	}
	for _, p := range prescribed {
		r.OK(p.name, func(t *T) { t.Compiled(made(t, p.build, true)) })
		r.No(p.name+"_other", func(t *T) { t.cannot(made(t, p.build, false)) })
	}
	return r
}

// limited are operations with a number that has limits; the number given to build is within them or not.
var limited = []struct {
	name      string
	good      float32
	bad       []float32
	operation func(t *T, m *nnapi.Model, v float32) (in, out []uint32)
}{
	{"ROI_ALIGN", 2, []float32{0, -1, infinite, notANumber}, func(t *T, m *nnapi.Model, v float32) ([]uint32, []uint32) {
		x, rois, y := m.Operand(nnapi.TensorFloat32, 1, 4, 4, 1), m.Operand(nnapi.TensorFloat32, 1, 4),
			m.Operand(nnapi.TensorFloat32, 1, 2, 2, 1)
		ratio := func() uint32 { return nnapi.Value(m, m.Operand(nnapi.Float32), v) }
		m.Operation("ROI_ALIGN", []uint32{x, rois, nnapi.Value(m, one(m), int32(0)), m.Scalar(2), m.Scalar(2), ratio(),
			ratio(), m.Scalar(1), m.Scalar(1),
			nnapi.Value(m, m.Operand(nnapi.Bool), uint8(0))}, []uint32{y})
		return []uint32{x, rois}, []uint32{y}
	}},
	{"RNN_activation", 1, []float32{-1, 4, 7, 1 << 20}, func(t *T, m *nnapi.Model, v float32) ([]uint32, []uint32) {
		f := func(dims ...uint32) uint32 { return m.Operand(nnapi.TensorFloat32, dims...) }
		in, out := []uint32{f(1, 2), f(3, 2), f(3, 3), f(3), f(1, 3)}, []uint32{f(1, 3), f(1, 3)}
		m.Operation("RNN", append(slices.Clone(in), m.Scalar(int32(v))), out)
		return in, out
	}},
	{"LSTM_cell_clip", 1, clips, func(t *T, m *nnapi.Model, v float32) ([]uint32, []uint32) { return t.lstm(m, v, 0) }},
	{"LSTM_projection_clip", 1, clips, func(t *T, m *nnapi.Model, v float32) ([]uint32, []uint32) {
		return t.lstm(m, 0,
			v)
	}},
}

var (
	infinite, notANumber = float32(math.Inf(1)), float32(math.NaN())
	clips                = []float32{-1, infinite, notANumber}
)

// lstm adds an LSTM of two inputs and three units without peepholes and projection.
func (t *T) lstm(m *nnapi.Model, cell, projection float32) (in, out []uint32) {
	f := func(dims ...uint32) uint32 { return m.Operand(nnapi.TensorFloat32, dims...) }
	none := func(dims ...uint32) uint32 {
		index := f(dims...)
		t.OK("Model_setOperandValue", m.Handle, index, nil, 0)
		return index
	}
	ins := []uint32{f(1, 2)}
	for range 4 {
		ins = append(ins, f(3, 2))
	}
	for range 4 {
		ins = append(ins, f(3, 3))
	}
	for range 3 {
		ins = append(ins, none(3))
	}
	for range 4 {
		ins = append(ins, f(3))
	}
	ins = append(ins, none(3, 3), none(3), f(1, 3), f(1, 3))
	in = slices.Concat(ins[:9], ins[12:16], ins[18:])
	clip := func(v float32) uint32 { return nnapi.Value(m, m.Operand(nnapi.Float32), v) }
	out = []uint32{f(1, 12), f(1, 3), f(1, 3), f(1, 3)}
	m.Operation("LSTM", append(ins, m.Scalar(4), clip(cell), clip(projection)), out)
	return in, out
}

// limits: the compilation of a model with a number beyond its limits is refused.
func limits() *Rule {
	r := rule("4.gb_limited_numbers", "numbers of operations that have limits are within them")
	made := func(t *T, build func(t *T, m *nnapi.Model, v float32) (in, out []uint32), v float32) uintptr {
		m := t.Model()
		in, out := build(t, m, v)
		m.Identify(nnapi.NoError, in, out)
		return m.Finish()
	}
	for _, l := range limited {
		r.OK(l.name, func(t *T) { t.Compiled(made(t, l.operation, l.good)) })
		r.No(l.name+"_beyond", func(t *T) {
			for _, v := range l.bad {
				t.cannot(made(t, l.operation, v))
			}
		})
	}
	return r
}

// fencedRuns computes with a fence several times, whose signal comes before or after the start.
func (t *T) fencedRuns(n int) {
	for i := range n {
		fd, signal := t.pipe()
		e := t.New(event.free, "Event_createFromSyncFenceFd", fd)
		if i%2 == 0 {
			signal()
		}
		r, done := t.Ready(), new(uintptr)
		t.OK("Execution_startComputeWithDependencies", r.Handle, []uintptr{e}, 1, 0, done)
		own := t.Owned(event.free, *done)
		if i%2 == 1 {
			signal()
		}
		t.OK("Event_wait", own)
		t.Check(r.Y[0] == 101, "1+100: got %v", r.Y[0])
	}
}

// further are rules beside those of the families: properties that roles agree in, bodies that cannot be computed,
// fences that several wait for.
var further = []*Rule{
	prescribes(),
	limits(),
	rule("2.ja_agreement_of_codes", "roles agree in scale and zero point").
		OK("same", func(t *T) {
			d := empty(t)
			for range 2 {
				t.OK("MemoryDesc_addInputRole", d, t.coded(0.5, 7), 0, float32(1))
				t.OK("MemoryDesc_addOutputRole", d, t.coded(0.5, 7), 0, float32(1))
			}
		}).
		No("zero_point", func(t *T) {
			for _, function := range []string{"MemoryDesc_addInputRole", "MemoryDesc_addOutputRole"} {
				d := empty(t)
				t.OK("MemoryDesc_addInputRole", d, t.coded(0.5, 7), 0, float32(1))
				t.Bad(function, d, t.coded(0.5, 8), 0, float32(1))
			}
		}).
		No("scale", func(t *T) {
			d := empty(t)
			t.OK("MemoryDesc_addInputRole", d, t.coded(0.5, 7), 0, float32(1))
			t.Bad("MemoryDesc_addInputRole", d, t.coded(0.25, 7), 0, float32(1))
		}),
	rule("5.ka_scalars", "a scalar input is bound as any other, with its type or without").
		OK("with_and_without", func(t *T) {
			for _, given := range []*nnapi.OperandType{nil, t.Type(nnapi.Float32)} {
				e, out := t.Execution(t.filling()), make([]float32, 2)
				t.Keep(out)
				t.OK("Execution_setInput", e, 0, given, []float32{2.5}, 4)
				t.OK("Execution_setOutput", e, 0, nil, out, 8)
				t.OK("Execution_compute", e)
				t.Check(out[0] == 2.5 && out[1] == 2.5, "got %v", out)
			}
		}).
		OK("in_memory", func(t *T) {
			for _, given := range []*nnapi.OperandType{nil, t.Type(nnapi.Float32)} {
				pool, data := t.file(8)
				copy(data[4:], bytesOf(float32(-1.5)))
				e, out := t.Execution(t.filling()), make([]float32, 2)
				t.Keep(out)
				t.OK("Execution_setInputFromMemory", e, 0, given, pool, 4, 4)
				t.OK("Execution_setOutput", e, 0, nil, out, 8)
				t.OK("Execution_compute", e)
				t.Check(out[0] == -1.5 && out[1] == -1.5, "got %v", out)
			}
		}).
		No("as_a_tensor", func(t *T) {
			t.Bad("Execution_setInput", t.Execution(t.filling()), 0, t.Type(nnapi.Float32, 1), []float32{2.5}, 4)
		}),
	rule("8.j_bodies", "a body whose dimensions do not fit fails the computation, whichever body it is").
		OK("computed", func(t *T) { t.Compiled(t.choosing(t.shuffled(2), t.shuffled(4))) }).
		No("then", func(t *T) { t.misfit(t.choosing(t.shuffled(3), t.shuffled(2)), 1) }).
		No("else", func(t *T) { t.misfit(t.choosing(t.shuffled(2), t.shuffled(3)), 0) }),
	rule("4.fa_cached_models", "what is cached is not taken for a model that differs in what operations read").
		OK("operands_swapped", func(t *T) {
			for _, from := range []uint32{nnapi.A, nnapi.B, nnapi.A} {
				m := t.Model()
				for range 3 {
					m.Operand(nnapi.TensorFloat32, 2)
				}
				m.Scalar(0)
				m.Operation("SUB", []uint32{from, nnapi.A + nnapi.B - from, nnapi.None}, []uint32{nnapi.Y})
				m.Identify(nnapi.NoError, []uint32{nnapi.A, nnapi.B}, []uint32{nnapi.Y})
				c := t.Alone(m.Finish())
				t.OK("Compilation_setCaching", c, t.Dir, token)
				t.OK("Compilation_finish", c)
				r := t.Bound(c, 2)
				t.OK("Execution_compute", r.Handle)
				want := r.A[0] - r.B[0]
				if from == nnapi.B {
					want = -want
				}
				t.Check(r.Y[0] == want, "got %v, want %v", r.Y[0], want)
			}
		}).
		No("no_token", func(t *T) { t.NullPointer("Compilation_setCaching", open(t), t.Dir, nil) }),
	rule("6.kb_inputs_after_fences", "what a fence stands for may write the inputs: they are read when it is signalled").
		OK("reals_and_truths", func(t *T) {
			m := t.Model()
			cond, a, b, y := m.Operand(nnapi.TensorBool8, 2), m.Operand(nnapi.TensorFloat32, 2),
				m.Operand(nnapi.TensorFloat32, 2), m.Operand(nnapi.TensorFloat32, 2)
			m.Operation("SELECT", []uint32{cond, a, b}, []uint32{y})
			m.Identify(nnapi.NoError, []uint32{cond, a, b}, []uint32{y})
			e := t.Execution(t.Compiled(m.Finish()))
			fd, signal := t.pipe()
			truths, x, z, out := []uint8{7, 200}, []float32{1, 2}, []float32{10, 20}, make([]float32, 2)
			for i, in := range []any{truths, x, z} {
				t.Keep(in)
				t.OK("Execution_setInput", e, i, nil, in, map[bool]int{true: 2, false: 8}[i == 0])
			}
			t.Keep(out)
			t.OK("Execution_setOutput", e, 0, nil, out, 8)
			done := new(uintptr)
			fence := t.New(event.free, "Event_createFromSyncFenceFd", fd)
			t.OK("Execution_startComputeWithDependencies", e, []uintptr{fence}, 1, 0, done)
			time.Sleep(20 * time.Millisecond)
			truths[0], x[1], z[0] = 0, 3, 30
			signal()
			t.OK("Event_wait", t.Owned(event.free, *done))
			t.Check(out[0] == 30 && out[1] == 3, "got %v, want 30 and 3", out)
		}).
		No("no_fence", func(t *T) { t.Bad("Event_createFromSyncFenceFd", -5, new(uintptr)) }),
	rule("6.ka_shared_fences", "several computations wait for one fence").
		OK("two", func(t *T) {
			fd, signal := t.pipe()
			e := t.New(event.free, "Event_createFromSyncFenceFd", fd)
			var waits []uintptr
			var runs []*nnapi.Run
			for range 3 {
				r, done := t.Ready(), new(uintptr)
				t.OK("Execution_startComputeWithDependencies", r.Handle, []uintptr{e}, 1, 0, done)
				waits, runs = append(waits, t.Owned(event.free, *done)), append(runs, r)
			}
			time.Sleep(20 * time.Millisecond)
			for _, r := range runs {
				t.Check(r.Y[0] == 0, "computed before the fence: %v", r.Y)
			}
			signal()
			for i, w := range waits {
				t.OK("Event_wait", w)
				t.Check(runs[i].Y[0] == 101, "1+100: got %v", runs[i].Y[0])
			}
		}).
		OK("descriptors_go", func(t *T) {
			t.fencedRuns(4)
			before := 0
			for end := time.Now().
				Add(2 * time.Second); ; time.Sleep(10 * time.Millisecond) { // watching ends in the background
				n := t.descriptors()
				if before == 0 {
					before = n
					t.fencedRuns(12)
					continue
				}
				// each run of the case holds two ends of a pipe and a copy in the event until it ends
				if n <= before+3*12+1 {
					return
				}
				t.Check(time.Now().Before(end), "%d descriptors after 12 more runs, %d before", n, before)
			}
		}).
		No("no_fence", func(t *T) { t.Bad("Event_createFromSyncFenceFd", -1, new(uintptr)) }),
}
