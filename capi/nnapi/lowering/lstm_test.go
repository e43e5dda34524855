package lowering

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// memory is one direction of an LSTM with all that it may have; gates are in the order input, forget, cell, output.
type memory struct {
	in, units, outs int
	w, r            [4][]float64
	peep            [3][]float64 // input, forget, output
	bias, norm      [4][]float64
	project         []float64
	projectBias     []float64
	h, c            []float64
	coupled         bool
	act             func(float64) float64
	clipC, clipP    float64
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// options of a test cell.
type options struct{ coupled, peephole, projected, projectBias, norm bool }

// newMemory makes a cell with numbers that follow from the seed, for f.
func newMemory(seed int64, f form, in, units, batch int, o options) *memory {
	m := &memory{in: in, units: units, outs: units, coupled: o.coupled, act: math.Tanh}
	next := func(n int, lo, hi float64) []float64 {
		seed++
		return f.put(noise(seed, n, lo, hi), uint32(n)).values
	}
	if o.projected {
		m.outs = units + 1
		m.project = next(m.outs*units, -1, 1)
		if o.projectBias {
			m.projectBias = next(m.outs, -1, 1)
		}
	}
	for g := range 4 {
		m.bias[g] = next(units, -0.5, 0.5)
		m.w[g], m.r[g] = next(units*in, -1, 1), next(units*m.outs, -1, 1)
		if o.norm {
			m.norm[g] = next(units, 0.5, 1.5)
		}
	}
	if o.peephole {
		for g := range 3 {
			m.peep[g] = next(units, -1, 1)
		}
	}
	m.h, m.c = next(batch*m.outs, -1, 1), next(batch*units, -1, 1)
	return m
}

// step returns the next output and state of one batch.
func (m *memory) step(x, h, c []float64) (y, state []float64) {
	gate := func(g int, peep, of []float64) []float64 {
		v := make([]float64, m.units)
		for u := range v {
			v[u] = dot(x, m.w[g][u*m.in:]) + dot(h, m.r[g][u*m.outs:])
			if peep != nil {
				v[u] += peep[u] * of[u]
			}
		}
		if m.norm[g] != nil {
			mean, variance := 0., 0.
			for _, a := range v {
				mean += a / float64(len(v))
			}
			for _, a := range v {
				variance += (a - mean) * (a - mean) / float64(len(v))
			}
			for u := range v {
				v[u] = (v[u] - mean) / math.Sqrt(variance+1e-8) * m.norm[g][u]
			}
		}
		for u := range v {
			v[u] += m.bias[g][u]
		}
		return v
	}
	limit := func(x, to float64) float64 {
		if to > 0 {
			return clip(-to, to)(x)
		}
		return x
	}
	forget := mapped(gate(1, m.peep[1], c), sigmoid)
	input := mapped(forget, func(x float64) float64 { return 1 - x })
	if !m.coupled {
		input = mapped(gate(0, m.peep[0], c), sigmoid)
	}
	candidate := mapped(gate(2, nil, nil), m.act)
	state = make([]float64, m.units)
	for u := range state {
		state[u] = limit(forget[u]*c[u]+input[u]*candidate[u], m.clipC)
	}
	out := mapped(gate(3, m.peep[2], state), sigmoid)
	for u := range out {
		out[u] *= m.act(state[u])
	}
	if m.project == nil {
		return out, state
	}
	y = make([]float64, m.outs)
	for o := range y {
		y[o] = dot(out, m.project[o*m.units:])
		if m.projectBias != nil {
			y[o] += m.projectBias[o]
		}
		y[o] = limit(y[o], m.clipP)
	}
	return y, state
}

// run walks over [steps,batch,in] and returns the results, which stand where their steps do, and the last states.
func (m *memory) run(x []float64, steps, batch int, reverse bool) (ys, h, c []float64) {
	h, c = slices.Clone(m.h), slices.Clone(m.c)
	ys = make([]float64, steps*batch*m.outs)
	for k := range steps {
		t := k
		if reverse {
			t = steps - 1 - k
		}
		for b := range batch {
			y, state := m.step(x[(t*batch+b)*m.in:][:m.in], h[b*m.outs:][:m.outs], c[b*m.units:][:m.units])
			copy(h[b*m.outs:], y)
			copy(c[b*m.units:], state)
			copy(ys[(t*batch+b)*m.outs:], y)
		}
	}
	return ys, h, c
}

// operands are the 17 arguments of weights to the projection's bias; states, norms those behind.
func (m *memory) operands(f form) []arg {
	opt := func(v []float64, dims ...uint32) arg {
		if v == nil {
			return none(f.code)
		}
		return f.put(v, dims...)
	}
	u, i, o := uint32(m.units), uint32(m.in), uint32(m.outs)
	var out []arg
	for g := range 4 {
		out = append(out, f.put(m.w[g], u, i))
	}
	for g := range 4 {
		out = append(out, f.put(m.r[g], u, o))
	}
	for g := range 3 {
		out = append(out, opt(m.peep[g], u))
	}
	for g := range 4 {
		out = append(out, f.put(m.bias[g], u))
	}
	out = append(out, opt(m.project, o, u), opt(m.projectBias, o))
	if m.coupled {
		for _, k := range []int{0, 4, 8, 11} {
			out[k] = none(f.code)
		}
	}
	return out
}

func (m *memory) states(f form, batch int) []arg {
	return []arg{f.put(m.h, uint32(batch), uint32(m.outs)), f.put(m.c, uint32(batch), uint32(m.units))}
}

func (m *memory) norms(f form) []arg {
	var out []arg
	for g := range 4 {
		if m.norm[g] == nil || g == 0 && m.coupled {
			out = append(out, none(f.code))
		} else {
			out = append(out, f.put(m.norm[g], uint32(m.units)))
		}
	}
	return out
}

var cells = []options{{}, {coupled: true}, {peephole: true}, {peephole: true, coupled: true}, {projected: true},
	{projected: true, projectBias: true, norm: true}, {norm: true}, {norm: true, coupled: true, peephole: true,
		projected: true}}

var lstmFunctions = map[float64]func(float64) float64{0: activations[0], 1: activations[1], 3: activations[3],
	4: math.Tanh,
	6: sigmoid}

// batchMajor turns [steps,batch,n] to [batch,steps,n].
func batchMajor(v []float64, steps, batch int) []float64 {
	n := len(v) / steps / batch
	var out []float64
	for b := range batch {
		for t := range steps {
			out = append(out, v[(t*batch+b)*n:][:n]...)
		}
	}
	return out
}

func TestLSTM(t *testing.T) {
	const batch, in, units = 2, 3, 4
	for _, f := range forms[:2] {
		x := f.put(noise(51, batch*in, -1, 1), batch, in)
		for k, o := range cells {
			for act, g := range lstmFunctions {
				m := newMemory(int64(100*k), f, in, units, batch, o)
				m.act, m.clipC, m.clipP = g, float64(k%3)*0.4, float64(k%2)*0.3
				_, h, c := m.run(x.values, 1, batch, false)
				gates := uint32(4)
				if o.coupled {
					gates = 3
				}
				out := f.want(h, batch, uint32(m.outs))
				args := args([]arg{x}, m.operands(f), m.states(f, batch), []arg{num(act), f.scalar(m.clipC), f.scalar(m.clipP)})
				if o.norm {
					args = append(args, m.norms(f)...)
				}
				check{fmt.Sprintf("%s %+v %v", f.name, o, act), nnapi.LSTM, args,
					[]arg{f.put(make([]float64, batch*units*gates), batch,
						units*gates), out, f.want(c, batch, units), out}, 0}.run(t)
			}
		}
	}
}

func TestSequenceLSTM(t *testing.T) {
	const steps, batch, in, units = 3, 2, 2, 3
	for _, f := range forms[:2] {
		x := f.put(noise(52, steps*batch*in, -1, 1), steps, batch, in)
		for k, o := range cells {
			m := newMemory(int64(1000+100*k), f, in, units, batch, o)
			m.clipC = float64(k%2) * 0.5
			ys, h, c := m.run(x.values, steps, batch, false)
			outs := uint32(m.outs)
			for _, major := range []bool{true, false} {
				a, y := x, f.want(ys, steps, batch, outs)
				if !major {
					a, y = f.put(batchMajor(x.values, steps, batch), batch, steps, in), f.want(batchMajor(ys, steps, batch), batch,
						steps, outs)
				}
				in := args([]arg{a}, m.operands(f), m.states(f, batch), []arg{num(4), f.scalar(m.clipC), f.scalar(0), flag(major)},
					m.norms(f))
				name := fmt.Sprintf("%s %+v %v", f.name, o, major)
				check{name, nnapi.UnidirectionalSequenceLSTM, in, []arg{y}, 0}.run(t)
				check{name + " states", nnapi.UnidirectionalSequenceLSTM, in, []arg{y, f.want(h, batch, outs),
					f.want(c, batch, units)},
					0}.run(t)
			}
		}
	}
	m := newMemory(1, forms[0], 2, 3, 2, options{peephole: true})
	whole := args([]arg{f32(nil, 3, 2, 2)}, m.operands(forms[0]), m.states(forms[0], 2), []arg{num(4), real(0), real(0),
		flag(true)},
		m.norms(forms[0]))
	wrong := func(i int, a arg, want string) {
		t.Helper()
		c := check{"", nnapi.UnidirectionalSequenceLSTM, slices.Clone(whole), []arg{f32(nil)}, 0}
		c.in[i] = a
		refused(t, c, want)
	}
	absent := none(nnapi.TensorFloat32)
	wrong(1, absent, "input 1 (input to input weights) and input 5 (recurrent to input weights): want both or none")
	wrong(9, absent, "input 9 (cell to input weights) is left out, and the other peepholes")
	wrong(10, absent, "input 10 (cell to forget weights) and input 11 (cell to output weights): want both or none")
	wrong(17, f32(nil, 3), "input 17 (projection bias): want it left out, as the projection weights are")
	wrong(20, num(2), "input 20 (activation): want 0 (none), 1 (relu)")
	wrong(21, real(-1), "input 21 (cell clip): want 0 (none) or more, got -1")
	wrong(24, f32(nil, 3), "input 24 (input layer norm): want it left out")
	wrong(2, f32(nil, 4, 2), "operation 0 (UNIDIRECTIONAL_SEQUENCE_LSTM)")
}

// joined puts the features of two sequences side by side.
func joined(a, b []float64, n, m int) []float64 {
	var out []float64
	for i := range len(a) / n {
		out = append(append(out, a[i*n:][:n]...), b[i*m:][:m]...)
	}
	return out
}

func TestBidirectionalLSTM(t *testing.T) {
	const steps, batch, in, extra, fu, bu = 3, 2, 2, 2, 3, 2
	for _, f := range forms[:2] {
		x, aux := f.put(noise(53, steps*batch*in, -1, 1), steps, batch, in), f.put(noise(54, steps*batch*extra, -1, 1), steps,
			batch, extra)
		for k, o := range cells {
			fw, bw := newMemory(int64(2000+k), f, in, fu, batch, o), newMemory(int64(3000+k), f, in, bu, batch, o)
			for mode := range 3 { // without an auxiliary input, read by the backward direction, and joined
				fx, bx := x.values, x.values
				noAux := make([]arg, 8)
				for i := range noAux {
					noAux[i] = none(f.code)
				}
				a, auxW := none(f.code), noAux
				fi, bi := *fw, *bw
				if mode > 0 {
					a = aux
				}
				if mode == 1 {
					bx = aux.values
				}
				if mode == 2 {
					auxW = slices.Clone(noAux)
					fx = joined(x.values, aux.values, in, extra)
					bx = fx
					for d, m := range []*memory{&fi, &bi} {
						m.in = in + extra
						for g := range 4 {
							w := f.put(noise(int64(5000+10*d+g), m.units*extra, -1, 1), uint32(m.units), extra)
							m.w[g] = joined(m.w[g], w.values, in, extra)
							if g > 0 || !o.coupled {
								auxW[4*d+g] = w
							}
						}
					}
				}
				y, h, c := fi.run(fx, steps, batch, false)
				z, g, d := bi.run(bx, steps, batch, true)
				fo, bo := uint32(fi.outs), uint32(bi.outs)
				for _, major := range []bool{true, false} {
					for _, merged := range []bool{false, true} {
						turn := func(v []float64, n uint32) arg { return f.want(v, steps, batch, n) }
						put := func(v arg, n uint32) arg { return v }
						if !major {
							turn = func(v []float64, n uint32) arg { return f.want(batchMajor(v, steps, batch), batch, steps, n) }
							put = func(v arg, n uint32) arg {
								if v.Lifetime == nnapi.NoValue {
									return v
								}
								return f.put(batchMajor(v.values, steps, batch), batch, steps, n)
							}
						}
						ins := args([]arg{put(x, in)}, fw.operands(f), bw.operands(f), fw.states(f, batch), bw.states(f, batch),
							[]arg{put(a,
								extra)}, auxW, []arg{num(4), f.scalar(0), f.scalar(0), flag(merged), flag(major)}, fw.norms(f), bw.norms(f))
						outs := []arg{turn(y, fo), turn(z, bo)}
						if merged {
							outs = []arg{turn(joined(y, z, int(fo), int(bo)), fo+bo)}
						}
						name := fmt.Sprintf("%s %+v aux %d %v %v", f.name, o, mode, major, merged)
						check{name, nnapi.BidirectionalSequenceLSTM, ins, outs, 0}.run(t)
						if k == 0 {
							outs = append(outs, f.want(h, batch, fo), f.want(c, batch, fu), f.want(g, batch, bo), f.want(d, batch, bu))
							check{name + " states", nnapi.BidirectionalSequenceLSTM, ins, outs, 0}.run(t)
						}
					}
				}
			}
		}
	}
}
