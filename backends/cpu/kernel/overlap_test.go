package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOverlaps_oneOfMany(t *testing.T) {
	inf := float32(math.Inf(1))
	eachISA(t, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(3, 4))
		for n := range 70 {
			ld := (n+OverlapStep-1)&^(OverlapStep-1) + OverlapStep*(n%2)
			others := make([]float32, 5*ld+1)
			boxes := make([][5]float32, n+1)
			for i := range boxes {
				b := &boxes[i]
				y, x := rnd.Float32(), rnd.Float32()
				*b = [5]float32{y, x, y + rnd.Float32() + 0.01, x + rnd.Float32() + 0.01}
				switch i % 9 {
				case 4:
					b[0], b[3] = -inf, inf
				case 7:
					b[2] = math.MaxFloat32
				case 8:
					b[i/9%4] = float32(math.NaN())
				}
				b[4] = float32((b[2] - b[0]) * (b[3] - b[1]))
				if i < n {
					for k, v := range b {
						others[k*ld+i] = v
					}
				}
			}
			for _, limit := range []float32{0, 0.25, 0.5, 0.9, 1} {
				want, a := false, boxes[n][:]
				for _, b := range boxes[:n] {
					h, w := max(min(a[2], b[2])-max(a[0], b[0]), 0), max(min(a[3], b[3])-max(a[1], b[1]), 0)
					both := float32(h * w)
					want = want || both/(a[4]+b[4]-both) > limit
				}
				assert.Equal(t, want, Overlaps(others, ld, n, a, limit), "%d boxes, limit %v", n, limit)
			}
		}
		for i := range 33 { // each lane alone; a limit that the quotient has is not exceeded
			const ld = 48
			others := make([]float32, 5*ld)
			for k, v := range []float32{0, 0, 2, 1, 2} {
				others[k*ld+i] = v
			}
			box := []float32{1, 0, 2, 1, 1}
			assert.True(t, Overlaps(others, ld, i+1, box, 0.49), i)
			assert.False(t, Overlaps(others, ld, i+1, box, 0.5), i)
			assert.False(t, Overlaps(others, ld, i/16*16, box, 0), i)
		}
	})
}
