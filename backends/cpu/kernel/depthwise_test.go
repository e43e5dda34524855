package kernel

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// windows2D are shapes that reach every path: borders on each side, strides,
// dilations, kernels larger than the input, positions outside it.
func windows2D() []Window {
	var ws []Window
	for _, k := range [][2]int{{3, 3}, {5, 5}, {1, 1}, {2, 4}, {7, 7}, {3, 5}, {1, 3}, {3, 1}} {
		for _, s := range []int{1, 2, 3} {
			for _, d := range []int{1, 2} {
				for _, in := range [][2]int{{7, 7}, {5, 14}, {3, 29}, {1, 2}} {
					pad := [2]int{k[0] / 2 * d, k[1] / 2 * d}
					var out [2]int
					for i := range 2 {
						out[i] = (in[i]+2*pad[i]-(k[i]-1)*d-1)/s + 1
					}
					ws = append(ws, window2D(in, k, [2]int{s, s}, [2]int{d, d}, pad, out))
				}
			}
		}
	}
	return append(ws,
		window2D([2]int{4, 4}, [2]int{3, 3}, [2]int{1, 1}, [2]int{1, 1}, [2]int{0, 0}, [2]int{2, 2}),
		window2D([2]int{4, 5}, [2]int{3, 3}, [2]int{2, 2}, [2]int{1, 1}, [2]int{0, 1}, [2]int{2, 3}),
		// windows wholly outside
		window2D([2]int{2, 2}, [2]int{2, 2}, [2]int{1, 1}, [2]int{1, 1}, [2]int{3, 3}, [2]int{7, 7}),
	)
}

// dividedWindows are windows whose sums have parts: of several planes, or of long rows.
func dividedWindows() []Window {
	var ws []Window
	for i := range 30 {
		r, w := rng(uint64(i)), Window{}
		for d := range 3 {
			w.Kernel[d], w.Stride[d], w.Dilation[d] = 1+r.IntN(3), 1+r.IntN(2), 1+r.IntN(3)
		}
		if i%2 == 0 {
			w.Kernel[2] = 8 + r.IntN(12)
		}
		for d := range 3 {
			reach := (w.Kernel[d]-1)*w.Dilation[d] + 1
			w.In[d], w.Pad[d] = 1+r.IntN(6), r.IntN(reach+1)
			if d == 2 {
				w.In[d] += r.IntN(20)
			}
			w.Out[d] = (w.In[d]+w.Pad[d]+reach-1-r.IntN(reach))/w.Stride[d] + 1
		}
		ws = append(ws, w)
	}
	return ws
}

func TestDepthwise_windowsAndChannels(t *testing.T) {
	channels := []int{1, 3, 8, 16, 21, 37, 67}
	eachISA(t, func(t *testing.T) {
		for i, w := range append(windows2D(), dividedWindows()...) {
			if i%thinning != 0 {
				continue
			}
			c := channels[i%len(channels)]
			batch, ldi, ldo := 1+i%2, c+i%3, c+i%5
			in := newGuarded(extent(batch*volume(w.In), c, ldi), i)
			fillRand(rng(uint64(i)), in.data)
			wt := newGuarded(w.Taps()*c, i+1)
			fillRand(rng(uint64(i+9)), wt.data)
			out := newGuarded(extent(batch*w.Outputs(), c, ldo), i+2)
			d := Depthwise{C: c, Batch: batch, Win: w, In: in.data, LDI: ldi, W: wt.data, Out: out.data, LDO: ldo,
				Act: []Act{{}, {Op: Relu6}, {Op: HardSwish}}[i%3]}
			if i%2 == 0 {
				d.Bias = randSlice(uint64(i), c)
			}
			if i%4 > 1 {
				d.LDR, d.ResAfter = c+i/2%3*2, i%8 > 4
				d.Res = randSlice(uint64(i+17), extent(batch*w.Outputs(), c, d.LDR))
			}
			d.Run()
			out.check(t, "Out")
			for p := range batch * w.Outputs() {
				n, o := p/w.Outputs(), places(p%w.Outputs(), w.Out)
				for ch := range c {
					v, mag := dwOracle(d, n, o, ch)
					if d.Bias != nil {
						v += float64(d.Bias[ch])
					}
					add := 0.0
					if d.Res != nil {
						add = float64(d.Res[p*d.LDR+ch])
					}
					if !d.ResAfter {
						v, mag = v+add, mag+math.Abs(add)
					}
					switch d.Act.Op {
					case Relu6:
						v = min(max(v, 0), 6)
					case HardSwish:
						v = v * min(max(v+3, 0), 6) / 6
					}
					if d.ResAfter {
						v += add
					}
					if got := float64(out.data[p*ldo+ch]); !(math.Abs(got-v) <= 2e-6*(mag+1)) {
						t.Fatalf("window %+v C %d position %v channel %d: got %v, want %v", w, c, o, ch, got, v)
					}
				}
				for ch := c; ch < ldo && p*ldo+ch < len(out.data); ch++ {
					require.Equal(t, uint32(guardBits), math.Float32bits(out.data[p*ldo+ch]), "padding of Out")
				}
			}
		}
	})
}

func dwOracle(d Depthwise, n int, o [3]int, ch int) (v, mag float64) {
	w := &d.Win
	for k := range w.Taps() {
		from, inside := n, true
		for dim, tap := range places(k, w.Kernel) {
			at := w.at(dim, o[dim], tap)
			inside = inside && at >= 0 && at < w.In[dim]
			from = from*w.In[dim] + at
		}
		if inside {
			p := float64(d.In[from*d.LDI+ch]) * float64(d.W[k*d.C+ch])
			v, mag = v+p, mag+math.Abs(p)
		}
	}
	return v, mag
}

func TestDepthwise_chunksCoverEverything(t *testing.T) {
	w := window2D([2]int{40, 40}, [2]int{3, 3}, [2]int{1, 1}, [2]int{1, 1}, [2]int{1, 1}, [2]int{40, 40})
	c := 64
	in, wt := randSlice(1, 1600*c), randSlice(2, 9*c)
	want, got := make([]float32, 1600*c), make([]float32, 1600*c)
	d := Depthwise{C: c, Batch: 1, Win: w, In: in, LDI: c, W: wt, Out: want, LDO: c}
	d.Run()
	d.Out = got
	n := d.Plan(4)
	assert.Greater(t, n, 4)
	for i := n - 1; i >= 0; i-- {
		d.Chunk(i, i%4)
	}
	assert.Equal(t, want, got)
}

func TestPooling_windowsAndChannels(t *testing.T) {
	channels := []int{1, 5, 16, 19, 40}
	eachISA(t, func(t *testing.T) {
		for i, w := range windows2D() {
			if i%thinning != 0 {
				continue
			}
			for mode := range 3 {
				c := channels[(i+mode)%len(channels)]
				ldi, ldo := c+i%3, c+i%4
				in := newGuarded(extent(w.In[1]*w.In[2], c, ldi), i)
				fillRand(rng(uint64(i)), in.data)
				if i%4 == 0 {
					in.data[len(in.data)/2] = float32(math.NaN())
				}
				out := newGuarded(extent(w.Outputs(), c, ldo), i+5)
				p := Pooling{C: c, Batch: 1, Win: w, In: in.data, LDI: ldi, Out: out.data, LDO: ldo, Max: mode == 0,
					IncludePad: mode == 1, PadAfter: w.Pad}
				p.Run()
				out.check(t, "Out")
				for o := range w.Outputs() {
					for ch := range c {
						want := poolOracle(&p, [3]int{0, o / w.Out[2], o % w.Out[2]}, ch)
						got := float64(out.data[o*ldo+ch])
						if !(math.Abs(want-got) <= 1e-6 || want == got || math.IsNaN(want) && math.IsNaN(got)) {
							t.Fatalf("window %+v mode %d C %d position %d channel %d: want %v, got %v", w, mode, c, o, ch, want, got)
						}
					}
				}
			}
		}
	})
}

// TestPooling_oneRowForManyThreads: the channels of a global pooling are divided; chunks in any order make all of it.
func TestPooling_oneRowForManyThreads(t *testing.T) {
	w := window2D([2]int{13, 13}, [2]int{13, 13}, [2]int{1, 1}, [2]int{1, 1}, [2]int{0, 0}, [2]int{1, 1})
	for _, c := range []int{200, 256, 1000} {
		in := newGuarded(13*13*c, c)
		fillRand(rng(uint64(c)), in.data)
		for _, threads := range []int{2, 3, 8} {
			out := newGuarded(c, 1)
			p := Pooling{C: c, Batch: 1, Win: w, In: in.data, LDI: c, Out: out.data, LDO: c}
			n := p.Plan(threads)
			assert.Equal(t, min(threads, (c+63)/64), n, "%d channels, %d threads", c, threads)
			for i := n - 1; i >= 0; i-- {
				p.Chunk(i)
			}
			out.check(t, "Out")
			for ch := range c {
				require.InDelta(t, poolOracle(&p, [3]int{}, ch), out.data[ch], 1e-6)
			}
		}
	}
}

// A row of much work is divided, too.
func TestPooling_partsOfARow(t *testing.T) {
	const c, width = 3, 1200
	w := window2D([2]int{41, width}, [2]int{41, 41}, [2]int{1, 1}, [2]int{1, 1}, [2]int{0, 20}, [2]int{1, width})
	in := newGuarded(41*width*c, 0)
	fillRand(rng(1), in.data)
	for mode := range 3 {
		out := newGuarded(width*c, 1)
		p := Pooling{C: c, Batch: 1, Win: w, In: in.data, LDI: c, Out: out.data, LDO: c, Max: mode == 0,
			IncludePad: mode == 1, PadAfter: w.Pad}
		n := p.Plan(2)
		require.Greater(t, n, 1)
		p.Work = make([]float32, p.WorkLen())
		for i := n - 1; i >= 0; i-- {
			p.Chunk(i)
		}
		out.check(t, "Out")
		for x := 0; x < width; x += 7 {
			for ch := range c {
				require.InDelta(t, poolOracle(&p, [3]int{0, 0, x}, ch), out.data[x*c+ch], 1e-5, "mode %d, %d", mode, x)
			}
		}
	}
}

func TestSumTaps_ofAnyDistance(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, cols := range []int{1, 7, 16, 17, 40} {
			for _, c := range [][7]int{{1, 1, 1, 1, 0, 0, 0}, {9, 3, 2, 50, 300, 7, 3}, {6, 1, 4, 40, 0, 1, 0}} {
				rows, ys, xs, lds, down, across, more := c[0], c[1], c[2], c[3], c[4], c[5], c[6]
				ldd := cols + more
				src := randSlice(uint64(cols), (rows-1)*lds+cols+(ys-1)*down+(xs-1)*across)
				dst := newGuarded(extent(rows, cols, ldd), cols)
				SumTaps(dst.data, ldd, src, lds, rows, cols, ys, xs, down, across)
				dst.check(t, "dst")
				for i, got := range dst.data {
					if i%ldd >= cols {
						require.Equal(t, uint32(guardBits), math.Float32bits(got), "between rows")
						continue
					}
					want := 0.0
					for k := range ys * xs {
						want += float64(src[i/ldd*lds+i%ldd+k/xs*down+k%xs*across])
					}
					require.InDelta(t, want, got, 2e-6*float64(ys*xs), "%v, %d columns, value %d", c, cols, i)
				}
			}
		}
	})
}

func poolOracle(p *Pooling, o [3]int, ch int) float64 {
	w := &p.Win
	v, n, pad := 0.0, 0, 0
	if p.Max {
		v = math.Inf(-1)
	}
	for k := range w.Taps() {
		at := [3]int{w.at(0, o[0], k/(w.Kernel[1]*w.Kernel[2])), w.at(1, o[1], k/w.Kernel[2]%w.Kernel[1]),
			w.at(2, o[2], k%w.Kernel[2])}
		inside, padded := true, true
		for d, i := range at {
			inside = inside && i >= 0 && i < w.In[d]
			padded = padded && i >= -w.Pad[d] && i < w.In[d]+p.PadAfter[d]
		}
		if padded {
			pad++
		}
		if !inside {
			continue
		}
		n++
		e := float64(p.In[((at[0]*w.In[1]+at[1])*w.In[2]+at[2])*p.LDI+ch])
		if !p.Max {
			v += e
		} else if e != e || v != v {
			v = math.NaN()
		} else {
			v = max(v, e)
		}
	}
	if !p.Max && n > 0 {
		if p.IncludePad {
			n = pad
		}
		v /= float64(n)
	}
	return v
}

func TestDepthwise_badOperandsPanic(t *testing.T) {
	w := window2D([2]int{4, 4}, [2]int{3, 3}, [2]int{1, 1}, [2]int{1, 1}, [2]int{1, 1}, [2]int{4, 4})
	d := Depthwise{C: 8, Batch: 1, Win: w, In: make([]float32, 127), LDI: 8, W: make([]float32, 72),
		Out: make([]float32, 128), LDO: 8}
	assert.Panics(t, d.Run)
	d.In = make([]float32, 128)
	d.Run()
	d.W = d.W[:71]
	assert.Panics(t, d.Run)
	p := Pooling{C: 8, Batch: 1, Win: w, In: d.In, LDI: 7, Out: d.Out, LDO: 8}
	assert.Panics(t, p.Run)
}

func BenchmarkDepthwise(b *testing.B) {
	benchISA(b, func(b *testing.B) {
		for _, s := range [][4]int{{32, 112, 1, 3}, {144, 56, 1, 3}, {192, 28, 1, 3}, {384, 14, 1, 3}, {576, 14, 1, 3},
			{960, 7, 1, 3}, {96, 112, 2, 3}, {144, 56, 2, 3}, {120, 28, 1, 5}} {
			c, h, st, k := s[0], s[1], s[2], s[3]
			b.Run(fmt.Sprintf("%dx%dx%d_s%d_k%d", h, h, c, st, k), func(b *testing.B) {
				o := (h-1)/st + 1
				w := window2D([2]int{h, h}, [2]int{k, k}, [2]int{st, st}, [2]int{1, 1}, [2]int{k / 2, k / 2}, [2]int{o, o})
				in, wt, out := Aligned[float32](h*h*c), Aligned[float32](k*k*c), Aligned[float32](o*o*c)
				fillRand(rng(1), in)
				fillRand(rng(2), wt)
				d := Depthwise{C: c, Batch: 1, Win: w, In: in, LDI: c, W: wt, Bias: make([]float32, c), Out: out, LDO: c,
					Act: Act{Op: Relu6}}
				report(b, 2*float64(k*k*o*o*c), d.Run)
			})
		}
	})
}
