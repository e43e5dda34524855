package kernel

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzGemm compares every level with the portable twin on sizes, strides and
// data of the fuzzer's choice.
func FuzzGemm(f *testing.F) {
	f.Add(uint8(9), uint8(33), uint8(5), uint8(3), []byte{1, 200, 3, 0xff})
	f.Add(uint8(0), uint8(1), uint8(0), uint8(255), []byte{})
	f.Fuzz(func(t *testing.T, m, n, k, mode uint8, data []byte) {
		M, N, K := int(m%40), int(n%80), int(k%40)
		value := func(i int) float32 {
			if len(data) == 0 {
				return float32(i%7) - 3
			}
			return float32(int8(data[i%len(data)])) / 16
		}
		fill := func(n int) []float32 {
			s := make([]float32, n)
			for i := range s {
				s[i] = value(i)
			}
			return s
		}
		lda, ldc := K+int(mode&3), N+int(mode>>2&3)
		g := Gemm{M: M, N: N, K: K, A: fill(extent(M, K, lda)), LDA: lda, B: make([]float32, PackedLen(K, N)), LDC: ldc,
			ResAfter: mode&16 != 0, Act: Act{Op: UnaryOp(mode>>5) % 4, Alpha: -1, Beta: 1}}
		PackB(g.B, fill(K*N), K, N, N)
		if mode&32 != 0 {
			g.Bias = fill(N)
		}
		if mode&64 != 0 {
			g.Res, g.LDR = fill(extent(M, N, ldc)), ldc
		}
		var want []float32
		for _, isa := range Supported() {
			restore, err := Select(isa)
			require.NoError(t, err)
			c := newGuarded(extent(M, N, ldc), int(mode))
			g.C = c.data
			g.Run()
			restore()
			c.check(t, "C")
			if isa == Generic {
				want = c.data
			}
			for i := range want {
				x, y := want[i], c.data[i]
				if math.Float32bits(x) != math.Float32bits(y) && !(math.Abs(float64(x-y)) <= 1e-4) {
					t.Fatalf("%v: %dx%dx%d mode %d: [%d] want %v, got %v", isa, M, N, K, mode, i, x, y)
				}
			}
		}
	})
}

// FuzzDepthwise does the same for windows.
func FuzzDepthwise(f *testing.F) {
	f.Add(uint8(17), uint8(7), uint8(9), uint8(0x33), uint8(0x11), uint8(0x11))
	f.Add(uint8(1), uint8(1), uint8(1), uint8(0x55), uint8(0x31), uint8(0x42))
	f.Fuzz(func(t *testing.T, c, h, w, kernel, step, pad uint8) {
		C := int(c % 40)
		in := [2]int{int(h % 12), int(w % 24)}
		k := [2]int{int(kernel&7) + 1, int(kernel>>4&7) + 1}
		s, d := [2]int{int(step&3) + 1, int(step>>2&3) + 1}, [2]int{int(step>>4&3) + 1, int(step>>6&3) + 1}
		p := [2]int{int(pad & 7), int(pad >> 4 & 7)}
		var out [2]int
		for i := range 2 {
			out[i] = max(0, (in[i]+2*p[i]-(k[i]-1)*d[i]-1)/s[i]+1)
		}
		win := window2D(in, k, s, d, p, out)
		x, wt := randSlice(1, in[0]*in[1]*C), randSlice(2, win.Taps()*C)
		var want, wantPool []float32
		for _, isa := range Supported() {
			restore, err := Select(isa)
			require.NoError(t, err)
			y, z := newGuarded(win.Outputs()*C, 3), newGuarded(win.Outputs()*C, 5)
			(&Depthwise{C: C, Batch: 1, Win: win, In: x, LDI: C, W: wt, Out: y.data, LDO: C}).Run()
			(&Pooling{C: C, Batch: 1, Win: win, In: x, LDI: C, Out: z.data, LDO: C, Max: true}).Run()
			restore()
			y.check(t, "depthwise")
			z.check(t, "pooling")
			if isa == Generic {
				want, wantPool = y.data, z.data
			}
			for i := range want {
				require.InDelta(t, want[i], y.data[i], 1e-4)
				require.True(t, same(wantPool[i], z.data[i], true))
			}
		}
	})
}
