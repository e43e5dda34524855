package rules

import (
	"math"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/conformance/nnapi"
)

var constants = []*Rule{
	rule("3.h_lengths", "a constant has exactly the bytes of its operand").
		OK("exact", func(t *T) { t.OK("Model_setOperandValue", rich(t), spare, value, 8) }).
		No("others", func(t *T) {
			h := rich(t)
			for _, n := range []int{0, 1, 7, 9, 1 << 40} {
				t.Bad("Model_setOperandValue", h, spare, value, n)
			}
		}).
		No("null", func(t *T) { t.NullPointer("Model_setOperandValue", rich(t), spare, nil, 8) }),
	rule("3.i_open_constant", "a constant has all its dimensions").
		OK("all", func(t *T) {
			m := t.Model()
			nnapi.Value(m, m.Operand(nnapi.TensorFloat32, 2), value...)
		}).
		No("open", func(t *T) {
			m := t.Model()
			for _, sizes := range [][]uint32{nil, {0}, {2, 0}} {
				t.Bad("Model_setOperandValue", m.Handle, m.Operand(nnapi.TensorFloat32, sizes...), value, 8)
			}
		}),
	rule("3.j_small_values", "values of up to 128 bytes are copied at once").
		OK("changed", func(t *T) {
			m, v := t.Model(), make([]float32, 32)
			for i := range v {
				v[i] = float32(i)
			}
			k := nnapi.Value(m, m.Operand(nnapi.TensorFloat32, 32), v...)
			clear(v)
			t.addsConstant(m, k, 32, func(i int) float32 { return float32(i) })
		}).
		No("length", func(t *T) {
			m := t.Model()
			t.Bad("Model_setOperandValue", m.Handle, m.Operand(nnapi.TensorFloat32, 32), make([]float32, 33), 132)
		}),
	rule("3.k_large_values", "larger values may change when the model is finished").
		OK("changed", func(t *T) {
			m, v := t.Model(), make([]float32, 33)
			for i := range v {
				v[i] = float32(i)
			}
			k := nnapi.Value(m, m.Operand(nnapi.TensorFloat32, 33), v...)
			t.plus(m, k, 33)
			h := m.Finish()
			clear(v)
			t.computes(h, 33, func(i int) float32 { return float32(i) })
		}).
		No("length", func(t *T) {
			m := t.Model()
			t.Bad("Model_setOperandValue", m.Handle, m.Operand(nnapi.TensorFloat32, 33), make([]float32, 32), 128)
		}),
	rule("3.l_value_again", "a value may be set again before the finish: the last one counts").
		OK("again", func(t *T) {
			m := t.Model()
			k := nnapi.Value[float32](m, m.Operand(nnapi.TensorFloat32, 2), 1, 2)
			nnapi.Value[float32](m, k, 5, 6)
			t.addsConstant(m, k, 2, func(i int) float32 { return float32(5 + i) })
		}).
		No("wrong_again", func(t *T) {
			m := t.Model()
			k := nnapi.Value[float32](m, m.Operand(nnapi.TensorFloat32, 2), 3, 4)
			t.Bad("Model_setOperandValue", m.Handle, k, value, 4)
			t.addsConstant(m, k, 2, func(i int) float32 { return float32(3 + i) })
		}),
	rule("3.m_memory", "constants may lie in memory of a file").
		OK("offset", func(t *T) {
			m := t.Model()
			k := m.Operand(nnapi.TensorFloat32, 2)
			memory, data := t.file(16)
			copy(data[4:], bytesOf[float32](7, 8))
			t.OK("Model_setOperandValueFromMemory", m.Handle, k, memory, 4, 8)
			t.addsConstant(m, k, 2, func(i int) float32 { return float32(7 + i) })
		}).
		No("outside", func(t *T) {
			h, memory := rich(t), pool(t)
			for _, at := range [][2]uint64{{1, 8}, {8, 8}, {math.MaxUint64, 8}, {0, 4}, {0, 16}, {0, 0}} {
				t.Bad("Model_setOperandValueFromMemory", h, spare, memory, at[0], at[1])
			}
		}).
		No("cut_short", func(t *T) {
			t.Outside("a file that is cut short")
			m := t.Model()
			k := m.Operand(nnapi.TensorFloat32, 2)
			fd := t.descriptor(16)
			memory := t.New(memoryKind.free, "Memory_createFromFd", 16, unix.PROT_READ, fd, 0)
			t.OK("Model_setOperandValueFromMemory", m.Handle, k, memory, 4, 8)
			t.plus(m, k, 2)
			t.Check(unix.Ftruncate(fd, 0) == nil, "ftruncate")
			if t.Code("Model_finish", m.Handle) != nnapi.NoError {
				t.Judged(false)
				return
			}
			_ = t.Code("Model_getSupportedOperationsForDevices", m.Handle, t.Processor(), 1, make([]byte, 1))
			c := t.Compilation(m.Handle)
			if t.Code("Compilation_finish", c) != nnapi.NoError {
				t.Judged(false)
				return
			}
			e, x, y := t.Execution(c), make([]float32, 2), make([]float32, 2)
			t.OK("Execution_setInput", e, 0, nil, x, 8)
			t.OK("Execution_setOutput", e, 0, nil, y, 8)
			t.Is(nnapi.OpFailed, "Execution_compute", e)
		}).
		No("managed", func(t *T) {
			t.Bad("Model_setOperandValueFromMemory", rich(t), spare, t.Managed(roles(t)), 0, 8)
		}),
	rule("3.n_channels", "scales per channel are for their type, one above 0 for each channel").
		OK("scales", func(t *T) {
			t.OK("Model_setOperandSymmPerChannelQuantParams", rich(t), scaled, t.Scales(1, 0.5, 2))
		}).
		No("type", func(t *T) { t.Bad("Model_setOperandSymmPerChannelQuantParams", rich(t), spare, t.Scales(0, 1, 1)) }).
		No("dimension", func(t *T) {
			t.Bad("Model_setOperandSymmPerChannelQuantParams", rich(t), scaled, t.Scales(2, 1, 1))
		}).
		No("count", func(t *T) {
			h := rich(t)
			t.Bad("Model_setOperandSymmPerChannelQuantParams", h, scaled, t.Scales(0, 1))
			t.Bad("Model_setOperandSymmPerChannelQuantParams", h, scaled, t.Scales(0, 1, 1, 1))
			t.Bad("Model_setOperandSymmPerChannelQuantParams", h, scaled, t.Scales(0))
			t.Bad("Model_setOperandSymmPerChannelQuantParams", h, scaled, &nnapi.ChannelScales{Count: 2})
		}).
		No("values", func(t *T) {
			h := rich(t)
			for _, s := range []float32{0, -1, float32(math.NaN())} {
				t.Bad("Model_setOperandSymmPerChannelQuantParams", h, scaled, t.Scales(0, 1, s))
			}
		}).
		No("open", func(t *T) {
			m := t.Model()
			k := m.Operand(nnapi.TensorQuant8SymmPerChannel, 0, 2)
			t.Bad("Model_setOperandSymmPerChannelQuantParams", m.Handle, k, t.Scales(0, 1, 1))
		}),
}
