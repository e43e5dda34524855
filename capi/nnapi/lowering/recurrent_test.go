package lowering

import (
	"fmt"
	"testing"

	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// dot is the sum of products.
func dot(a, b []float64) float64 {
	sum := 0.
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

func TestSVDF(t *testing.T) {
	const batch, ins, units, rank, memory = 2, 3, 2, 2, 4
	const filters = units * rank
	for _, f := range forms[:2] {
		x, features := f.put(noise(41, batch*ins, -1, 1), batch, ins), f.put(noise(42, filters*ins, -1, 1), filters, ins)
		time, state := f.put(noise(43, filters*memory, -1, 1), filters, memory), f.put(noise(44, batch*filters*memory, -1, 1),
			batch, filters*memory)
		bias := f.put(v1(0.25, -0.5), units)
		for act, g := range activations {
			for _, biased := range []bool{true, false} {
				var y, next []float64
				for b := range batch {
					sums := make([]float64, units)
					for k := range filters {
						row := append([]float64(nil), state.values[(b*filters+k)*memory:][:memory]...)
						row[memory-1] = dot(x.values[b*ins:][:ins], features.values[k*ins:][:ins])
						sums[k/rank] += dot(row, time.values[k*memory:][:memory])
						next = append(append(next, row[1:]...), 0)
					}
					for u, s := range sums {
						if biased {
							s += bias.values[u]
						}
						y = append(y, g(s))
					}
				}
				in := []arg{x, features, time, bias, state, num(rank), num(float64(act))}
				if !biased {
					in[3] = none(f.code)
				}
				check{fmt.Sprint(f.name, act, biased), nnapi.SVDF, in, []arg{f.want(next, batch, filters*memory),
					f.want(y, batch, units)},
					0}.run(t)
			}
		}
	}
	refused(t, check{"", nnapi.SVDF, []arg{f32(nil, 2, 3), f32(nil, 5, 3), f32(nil, 5, 4), none(nnapi.TensorFloat32),
		f32(nil, 2, 20),
		num(2), num(0)}, []arg{f32(nil), f32(nil)}, 0}, "operation 0 (SVDF)")
}

// plain computes a plain recurrent layer over [steps,batch,in] and returns its results and the last state.
func plain(x, w, r, bias, h []float64, steps, batch, in int, g func(float64) float64, reverse bool) (ys,
	last []float64) {
	units := len(bias)
	last = append([]float64(nil), h...)
	ys = make([]float64, steps*batch*units)
	for k := range steps {
		t := k
		if reverse {
			t = steps - 1 - k
		}
		for b := range batch {
			y := make([]float64, units)
			for u := range y {
				y[u] = g(dot(x[(t*batch+b)*in:][:in], w[u*in:]) + dot(last[b*units:][:units], r[u*units:]) + bias[u])
			}
			copy(last[b*units:], y)
			copy(ys[(t*batch+b)*units:], y)
		}
	}
	return ys, last
}

func TestRNN(t *testing.T) {
	const steps, batch, in, fu, bu, extra = 3, 2, 2, 3, 2, 2
	for _, f := range forms[:2] {
		weights := func(seed int64, units int) []arg {
			u := uint32(units)
			return []arg{f.put(noise(seed, units*in, -1, 1), u, in), f.put(noise(seed+1, units*units, -1, 1), u, u),
				f.put(noise(seed+2, units, -1, 1), u), f.put(noise(seed+3, batch*units, -1, 1), batch, u)}
		}
		x, aux := f.put(noise(61, steps*batch*in, -1, 1), steps, batch, in), f.put(noise(62, steps*batch*extra, -1, 1), steps,
			batch, extra)
		fw, bw := weights(70, fu), weights(80, bu)
		for act, g := range activations {
			one := f.put(x.values[:batch*in], batch, in)
			_, h := plain(one.values, fw[0].values, fw[1].values, fw[2].values, fw[3].values, 1, batch, in, g, false)
			name := fmt.Sprint(f.name, act)
			check{name, nnapi.RNN, args([]arg{one}, fw, []arg{num(float64(act))}),
				[]arg{f.want(h, batch, fu), f.want(h, batch, fu)}, 0}.run(t)
			y, h := plain(x.values, fw[0].values, fw[1].values, fw[2].values, fw[3].values, steps, batch, in, g, false)
			check{name, nnapi.UnidirectionalSequenceRNN, args([]arg{x}, fw, []arg{num(float64(act)), num(1)}),
				[]arg{f.want(y, steps, batch, fu), f.want(h, batch, fu)}, 0}.run(t)
			turned := f.put(batchMajor(x.values, steps, batch), batch, steps, in)
			check{name + " batches first", nnapi.UnidirectionalSequenceRNN,
				args([]arg{turned}, fw, []arg{num(float64(act)), num(0)}),
				[]arg{f.want(batchMajor(y, steps, batch), batch, steps, fu)}, 0}.run(t)
			for mode := range 3 {
				fx, bx, fWeights, bWeights := x.values, x.values, fw[0].values, bw[0].values
				fn, bn := in, in
				more := []arg{none(f.code), none(f.code), none(f.code)}
				if mode > 0 {
					more[0] = aux
				}
				if mode == 1 {
					bx = aux.values
				}
				if mode == 2 {
					more[1], more[2] = f.put(noise(63, fu*extra, -1, 1), fu, extra), f.put(noise(64, bu*extra, -1, 1), bu, extra)
					fx = joined(x.values, aux.values, in, extra)
					bx, fn, bn = fx, in+extra, in+extra
					fWeights, bWeights = joined(fw[0].values, more[1].values, in, extra), joined(bw[0].values, more[2].values, in,
						extra)
				}
				y, h := plain(fx, fWeights, fw[1].values, fw[2].values, fw[3].values, steps, batch, fn, g, false)
				z, k := plain(bx, bWeights, bw[1].values, bw[2].values, bw[3].values, steps, batch, bn, g, true)
				ins := args([]arg{x}, fw, bw, more)
				end := func(major, merged bool) []arg { return []arg{num(float64(act)), flag(major), flag(merged)} }
				name := fmt.Sprint(f.name, act, " aux ", mode)
				check{name, nnapi.BidirectionalSequenceRNN, args(ins, end(true, false)), []arg{f.want(y, steps, batch, fu),
					f.want(z, steps,
						batch, bu), f.want(h, batch, fu), f.want(k, batch, bu)}, 0}.run(t)
				check{name + " merged", nnapi.BidirectionalSequenceRNN, args(ins, end(true, true)),
					[]arg{f.want(joined(y, z, fu, bu), steps,
						batch, fu+bu)}, 0}.run(t)
				ins[0] = turned
				if mode > 0 {
					ins[9] = f.put(batchMajor(aux.values, steps, batch), batch, steps, extra)
				}
				check{name + " batches first", nnapi.BidirectionalSequenceRNN, args(ins, end(false, true)),
					[]arg{f.want(batchMajor(joined(y, z,
						fu, bu), steps, batch), batch, steps, fu+bu), f.want(h, batch, fu), f.want(k, batch, bu)}, 0}.run(t)
			}
		}
		one := weights(90, 2)
		refused(t, check{"", nnapi.BidirectionalSequenceRNN,
			args([]arg{x}, one, one, []arg{none(f.code), f.put(v1(1, 2, 3, 4), 2, 2),
				none(f.code), num(0), flag(true), flag(true)}), []arg{{Operand: nnapi.Operand{Type: f.code}}}, 0},
			"input 9 (auxiliary input) is left out and its weights are not")
		refused(t, check{"", nnapi.BidirectionalSequenceRNN,
			args([]arg{x}, one, one, []arg{none(f.code), none(f.code), none(f.code),
				num(0), flag(true), flag(true)}), []arg{{Operand: nnapi.Operand{Type: f.code}},
				{Operand: nnapi.Operand{Type: f.code}}}, 0},
			"want merged outputs, got 2 outputs")
	}
}
