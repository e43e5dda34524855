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
		time, state := f.put(noise(43, filters*memory, -1, 1), filters, memory), f.put(noise(44, batch*filters*memory, -1, 1), batch, filters*memory)
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
				check{fmt.Sprint(f.name, act, biased), nnapi.SVDF, in, []arg{f.want(next, batch, filters*memory), f.want(y, batch, units)},
					0}.run(t)
			}
		}
	}
	refused(t, check{"", nnapi.SVDF, []arg{f32(nil, 2, 3), f32(nil, 5, 3), f32(nil, 5, 4), none(nnapi.TensorFloat32), f32(nil, 2, 20),
		num(2), num(0)}, []arg{f32(nil), f32(nil)}, 0}, "operation 0 (SVDF)")
}
