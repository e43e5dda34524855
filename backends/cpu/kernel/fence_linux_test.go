package kernel

import (
	"fmt"
	"os"
	"runtime/debug"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// fence hands out buffers that touch an inaccessible page, at their end or at
// their start, so that any access beyond them faults.
type fence struct {
	t     *testing.T
	mem   [][]byte
	atEnd bool
}

func (f *fence) bytes(n int) []byte {
	page := os.Getpagesize()
	size := (n + page - 1) / page * page
	m, err := unix.Mmap(-1, 0, size+2*page, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	require.NoError(f.t, err)
	f.mem = append(f.mem, m)
	if n == 0 {
		return nil
	}
	require.NoError(f.t, unix.Mprotect(m[page:page+size], unix.PROT_READ|unix.PROT_WRITE))
	start := page
	if f.atEnd {
		start = page + size - n
	}
	return m[start : start+n : start+n]
}

func (f *fence) free() {
	for _, m := range f.mem {
		require.NoError(f.t, unix.Munmap(m))
	}
	f.mem = nil
}

func fenced[T any](f *fence, n int) []T {
	b := f.bytes(n * int(unsafe.Sizeof(*new(T))))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n)
}

func (f *fence) floats(n int) []float32 { return fillRand(rng(uint64(n)), fenced[float32](f, n)) }

// TestKernels_stayInsideTheirSlices runs every kernel with each operand against
// an inaccessible page.
func TestKernels_stayInsideTheirSlices(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	eachISA(t, func(t *testing.T) {
		for _, atEnd := range []bool{true, false} {
			for n := 1; n < 68; n += 1 + n/20 + thinning/8 {
				f := &fence{t: t, atEnd: atEnd}
				require.NotPanics(t, func() { everyKernel(t, f, n) }, fmt.Sprintf("n %d, fence at the end: %v", n, atEnd))
				f.free()
			}
		}
	})
}

func everyInt8Kernel(t *testing.T, f *fence, n int) {
	codes, more, out := fenced[uint8](f, n), fenced[uint8](f, n), fenced[uint8](f, n)
	EncodeU8(out, f.floats(n), 0.1, 3)
	CombineU8(out, codes, more, Combine{A: 1, B: 2, Hi: 255})
	CombineU8(out, codes, nil, Combine{A: 1, Hi: 255})
	MaxU8(out, codes)
	AddRowSums(fenced[int32](f, 9), fenced[uint8](f, 8*(n+1)+n), CodeRows{n, n + 1, 1, 0})
	AddRowPairs(fenced[int32](f, 12), fenced[uint8](f, 11+2*n+n), CodeRows{n, 1, 3, n})

	const m, k = 11, 6
	post := func(n int) Requantize {
		return Requantize{Init: fenced[int32](f, n), Scale: f.floats(n), Add: f.floats(n), Hi: 255}
	}
	packed := func(taps, k, n int) []int8 {
		b := fenced[int8](f, PackedInt8Len(taps, k, n))
		PackInt8(b, fenced[int8](f, n*taps*k), taps, k, n, taps*k)
		return b
	}
	g := GemmInt8{M: m, N: n, K: k, A: fenced[uint8](f, m*k+2), LDA: k, B: packed(1, k, n), C: fenced[uint8](f, m*n),
		LDC: n, Post: post(n)}
	g.Run()
	win := window2D([2]int{6, 13}, [2]int{3, 3}, [2]int{1, 1}, [2]int{1, 1}, [2]int{1, 1}, [2]int{6, 13})
	ind, err := NewIndirection(win, 1, n)
	require.NoError(t, err)
	run := roundUp(n, IntDepth)
	(&GemmInt8{M: 78, N: 5, K: n, A: fenced[uint8](f, 77*n+run), B: packed(9, n, 5),
		C: fenced[uint8](f, 78*5), LDC: 5, Post: post(5), Ind: ind, Zero: fenced[uint8](f, run)}).Run()
	d := DepthwiseInt8{C: n, Batch: 1, Win: win, In: fenced[uint8](f, 78*n), LDI: n,
		W: fenced[int8](f, PackedDepthwiseInt8Len(9, n, false)), Out: fenced[uint8](f, 78*n), LDO: n,
		Post: post(DepthwiseLanes(9, n, false))}
	d.Border = fenced[uint8](f, d.BorderLen())
	d.Run()
}

func everyImageKernel(f *fence, n int) {
	semi := []Bytes{{Data: fenced[uint8](f, 5*(n+1)), H: 5, W: n + 1, Comps: 1, Row: n + 1, Col: 1},
		{Data: fenced[uint8](f, 2*(n+1)/2*2), H: 2, W: (n + 1) / 2, Comps: 2, Row: (n + 1) / 2 * 2, Col: 2, Comp: 1}}
	weight := [3][3]float32{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}
	y := f.floats(15 * (n + 1))
	for _, last := range []bool{false, true} {
		(&Decode{Batch: 1, Planes: semi, Components: 3, Channels: 3, Weight: weight, Last: last, Y: y}).Run()
		rgb := Bytes{Data: fenced[uint8](f, 6*n), H: 2, W: n, Comps: 3, Row: 3 * n, Col: 3, Comp: 1}
		(&Decode{Batch: 1, Planes: []Bytes{rgb}, Components: 3, Channels: 3, Weight: weight, Last: last, Y: y}).Run()
	}
	for comps := 1; comps <= 3; comps++ {
		from := Bytes{Data: fenced[uint8](f, 3*n*comps), H: 3, W: n, Comps: comps, Row: n * comps, Col: comps, Comp: 1}
		to := Bytes{Data: fenced[uint8](f, 4*39*comps), H: 4, W: 39, Comps: comps, Row: 39 * comps, Col: comps, Comp: 1}
		(&ResizeBytes{Batch: 1, From: from, To: to, Regions: []ByteRegion{{Right: n - 1, Bottom: 2}}}).Run()
	}
}

func everyKernel(t *testing.T, f *fence, n int) {
	x, y, z, w := f.floats(n), f.floats(n), f.floats(n), f.floats(n)
	for op := range numUnary {
		Unary(op, z, x, 0.5, 1)
	}
	for op := range numBinary {
		BinaryVV(op, z, x, y)
		BinaryVS(op, z, x, 2)
		BinarySV(op, z, 2, x)
	}
	Sum(x)
	MaxOf(x)
	MinOf(x)
	SumAbs(x, y)
	sums := fenced[float64](f, n)
	for op := range numFolds {
		FoldRows(op, sums, f.floats(3*n), n, 3)
		FoldLine(op, x, fenced[float64](f, FoldWork))
	}
	for _, size := range []int{1, 2, 4, 8} {
		for k := 2; k < 4; k++ {
			Split(fenced[uint8](f, 3*k*n*size), 3*n*size, n*size, fenced[uint8](f, 3*k*n*size), k*n*size, size, k, n, 3)
		}
		RepeatRows(fenced[uint8](f, 5*3*n*size), fenced[uint8](f, 5*n*size), n*size, 3, 5)
	}
	SoftmaxRows(z, x, 1, n, 1)
	LogSoftmaxRows(z, x, 1, n, 1, y)
	LayerNormRows(z, x, y, nil, w, w, 1, n, 1e-5)
	fast.mix4(&z[0], &x[0], &y[0], &w[0], &x[0], n, 1, 2, 3, 4)
	half, u8, s8 := fenced[uint16](f, n), fenced[uint8](f, n), fenced[int8](f, n)
	FloatToHalf(half, x)
	HalfToFloat(z, half)
	DequantizeU8(z, u8, 0.1, 3)
	DequantizeS8(z, s8, 0.1, 3)
	Interleave3(f.floats(3*n), f.floats(n), f.floats(n), f.floats(n))
	Transpose(f.floats(9*n), 9, f.floats(9*n), n, 9, n)
	Transpose(f.floats(9*n), n, f.floats(9*n), 9, n, 9)

	everyInt8Kernel(t, f, n)
	everyImageKernel(f, n)

	const m, k = 11, 6
	g := Gemm{M: m, N: n, K: k, A: f.floats(m * k), LDA: k, B: f.floats(PackedLen(k, n)), C: f.floats(m * n), LDC: n,
		Bias: x, Res: f.floats(m * n), LDR: n}
	PackB(g.B, f.floats(k*n), k, n, n)
	PackBT(g.B, f.floats(k*n), k, n, k)
	g.Run()

	win := window2D([2]int{6, 13}, [2]int{3, 3}, [2]int{1, 1}, [2]int{1, 1}, [2]int{1, 1}, [2]int{6, 13})
	in, out := f.floats(6*13*n), f.floats(6*13*n)
	d := Depthwise{C: n, Batch: 1, Win: win, In: in, LDI: n, W: f.floats(9 * n), Bias: x, Out: out, LDO: n}
	d.Run()
	d.Win.Dilation[2], d.Win.Out[2] = 2, 11
	d.Run()
	for _, largest := range []bool{true, false} {
		(&Pooling{C: n, Batch: 1, Win: win, In: in, LDI: n, Out: out, LDO: n, Max: largest}).Run()
	}
	ind, err := NewIndirection(win, 1, n)
	require.NoError(t, err)
	(&Gemm{M: 78, N: 5, K: n, A: in, B: f.floats(PackedLen(9*n, 5)), C: f.floats(78 * 5), LDC: 5, Ind: ind,
		Zero: f.floats(n)}).Run()

	v := Winograd{C: n, N: n, Batch: 1, In: [2]int{6, 13}, Out: [2]int{6, 13}, Pad: [2]int{1, 1}, X: in, LDX: n,
		U: f.floats(PackedWinogradLen(n, n)), Y: out, LDY: n, Bias: x}
	PackWinograd(v.U, f.floats(9*n*n), n, n, 0, n, f.floats(18*16))
	v.Plan(1)
	v.Work = f.floats(v.WorkLen)
	v.Run()

	s := SmallConv{C: 3, N: n, Batch: 1, Win: win, X: f.floats(3 * 78), Planar: true, B: f.floats(PackedLen(27, n)),
		Y: f.floats(78 * n), LDY: n, Bias: x}
	s.Plan(1)
	s.Work = f.floats(s.WorkLen)
	s.Run()
}
