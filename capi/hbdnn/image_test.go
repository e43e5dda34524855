package hbdnn

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
)

// nv12 is images of h x w with rows of pitch bytes, as a program has them: in one block each, or all luma and all
// chroma.
type nv12 struct {
	n, h, w, pitch int
	separate       bool
}

// fill writes bytes that follow from their place, and 0xee between rows.
func (f nv12) fill(luma, chroma []byte) {
	for i := range luma {
		luma[i] = 0xee
	}
	for i := range chroma {
		chroma[i] = 0xee
	}
	for n := range f.n {
		y, uv := f.planes(luma, chroma, n)
		for row := range f.h {
			for col := range f.w {
				y[row*f.pitch+col] = byte(40 + 50*n + 13*row + 7*col)
			}
		}
		for row := range f.h / 2 {
			for col := range f.w / 2 * 2 {
				uv[row*f.pitch+col] = byte(90 + 9*n + 11*row + 5*col)
			}
		}
	}
}

// planes returns the planes of image n.
func (f nv12) planes(luma, chroma []byte, n int) (y, uv []byte) {
	if f.separate {
		return luma[n*f.h*f.pitch:], chroma[n*(f.h/2)*f.pitch:]
	}
	block := luma[n*(f.h*f.pitch*3/2):]
	return block, block[f.h*f.pitch:]
}

// want is red, green and blue of all images plus 1000, which keeps Relu out.
func (f nv12) want(luma, chroma []byte) (v []float64) {
	for n := range f.n {
		y, uv := f.planes(luma, chroma, n)
		for c := range 3 {
			for row := range f.h {
				for col := range f.w {
					at := min(row/2, f.h/2-1)*f.pitch + min(col/2, f.w/2-1)*2
					u, r := float64(uv[at])-128, float64(uv[at+1])-128
					luma := float64(y[row*f.pitch+col])
					v = append(v, 1000+[]float64{luma + 1.402*r, luma - 0.344136*u - 0.714136*r, luma + 1.772*u}[c])
				}
			}
		}
	}
	return v
}

func camera(dims ...int64) *onnxtest.Model {
	return relu(dims...).Meta("anynpu.input.x.pixel", "nv12").Meta("anynpu.input.x.mean", "[-1000]")
}

func requireNear(t *testing.T, want []float64, got []float32, what string) {
	t.Helper()
	require.Len(t, got, len(want), what)
	for i := range want {
		require.InDelta(t, want[i], got[i], 5e-4, "%s: element %d", what, i)
	}
}

func TestInfer_nv12(t *testing.T) {
	for _, f := range []nv12{{1, 4, 16, 16, false}, {1, 4, 6, 16, false}, {2, 4, 6, 16, false}, {1, 5, 7, 16, false},
		{1, 6, 8, 24, false}, {1, 6, 8, 9, false}, {1, 4, 6, 16, true}, {2, 5, 7, 32, true}} {
		o := ready(t, camera(int64(f.n), 3, int64(f.h), int64(f.w)))
		p := &o.in[0]
		p.properties.aligned.dims[3] = int32(f.pitch)
		if f.pitch > 16 {
			require.NoError(t, sysFreeMem(&p.mem[0]))
			require.NoError(t, sysAllocMem(&p.mem[0], uint32(f.n*f.h*f.pitch*3/2)))
		}
		var chroma []byte
		if f.separate {
			p.properties.kind = typeNV12Separate
			require.NoError(t, sysAllocMem(&p.mem[1], uint32(f.n*(f.h/2)*f.pitch)))
			chroma = bytesAt(p.mem[1].virt, int64(p.mem[1].size))
		}
		f.fill(p.data(), chroma)
		want := f.want(p.data(), chroma)
		require.NoError(t, infer(t, o.m, o.in, o.out), "%+v", f)
		requireNear(t, want, o.out[0].floats(), "tensor")
		if f.separate {
			p.mem[1].size--
			requireCode(t, errArgument, infer(t, o.m, o.in, o.out), "sysMem[1].memSize")
			p.mem[1].size++
			require.NoError(t, sysFreeMem(&p.mem[1]))
		}
	}
}

// A batch as a tensor for each image: blocks and separate planes, each with a pitch of its own.
func TestInfer_nv12BatchInParts(t *testing.T) {
	o := ready(t, camera(2, 3, 4, 6))
	var parts []full
	var want []float64
	for n, f := range []nv12{{1, 4, 6, 20, false}, {1, 4, 6, 6, true}} {
		p := o.in[0]
		p.properties.valid.dims[0], p.properties.aligned.dims[0], p.properties.aligned.dims[3] = 1, 1, int32(f.pitch)
		var chroma []byte
		require.NoError(t, sysAllocMem(&p.mem[0], uint32(f.h*f.pitch*3/2)))
		if f.separate {
			p.properties.kind = typeNV12Separate
			require.NoError(t, sysAllocMem(&p.mem[1], uint32(f.h/2*f.pitch)))
			chroma = bytesAt(p.mem[1].virt, int64(p.mem[1].size))
		}
		f.fill(p.data(), chroma)
		p.data()[n] += 60
		want = append(want, f.want(p.data(), chroma)...)
		parts = append(parts, p)
	}
	require.NoError(t, infer(t, o.m, parts, o.out))
	requireNear(t, want, o.out[0].floats(), "batch")
	for i := range parts {
		for k := range parts[i].mem[:1+i] {
			require.NoError(t, sysFreeMem(&parts[i].mem[k]))
		}
	}
}

func TestInfer_imagesThatDoNotFit(t *testing.T) {
	o := ready(t, camera(1, 3, 4, 6))
	p := &o.in[0]
	good := *p
	for word, change := range map[string]func(){
		"alignedShape":      func() { p.properties.aligned.dims[3] = 5 },
		"alignedShape is":   func() { p.properties.aligned.dims[2] = 6 },
		"validShape":        func() { p.properties.valid.dims[2] = 6 },
		"tensorType":        func() { p.properties.kind = typeRGB },
		"memSize is 95":     func() { p.mem[0].size = 95 },
		"sysMem[1].virAddr": func() { p.properties.kind, p.mem[1] = typeNV12Separate, SysMem{} },
	} {
		change()
		requireCode(t, errArgument, infer(t, o.m, o.in, o.out), word, "input[0]")
		*p = good
	}
	p.properties.aligned.dims[1] = 4
	require.NoError(t, infer(t, o.m, o.in, o.out), "as X3 reports it")
}

func TestInfer_yuv444(t *testing.T) {
	o := ready(t, relu(1, 3, 1, 2).Meta("anynpu.input.x.pixel", "yuv444").Meta("anynpu.input.x.order", "bgr").
		Meta("anynpu.input.x.range", "bt601_video"))
	copy(o.in[0].data(), []byte{116, 138, 108, 66, 128, 128})
	require.NoError(t, infer(t, o.m, o.in, o.out))
	requireNear(t, []float64{116.4 + 20.18, 58.2, 116.4 - 3.91 + 16.26, 58.2, 116.4 - 31.92, 58.2}, o.out[0].floats(),
		"bgr")
}

func TestInfer_bytesOfAnImageForANetworkOfBytes(t *testing.T) {
	m := (&onnxtest.Model{}).Input("x", onnxtest.Uint8, 1, 3, 1, 2).Output("y", onnxtest.Uint8, 1, 3, 1, 2).
		Node("Identity", "y", "x").
		Meta("anynpu.input.x.pixel", "bgr").Meta("anynpu.input.x.order", "rgb")
	o := ready(t, m)
	copy(o.in[0].data(), []byte{1, 2, 3, 4, 5, 6})
	require.NoError(t, infer(t, o.m, o.in, o.out))
	require.Equal(t, []byte{3, 6, 2, 5, 1, 4}, o.out[0].data())
}

// NV12 made of an RGB image gives what the RGB image gives, but for what rounding to bytes and chroma for four pixels
// at once lose: in an image of 2 x 2 blocks of one color the first alone, half a step of Y and of each difference.
func TestInfer_nv12BesideRGB(t *testing.T) {
	const h, w, pitch = 8, 12, 16
	n, c := ready(t, relu(1, 3, h, w).Meta("anynpu.input.x.pixel", "nv12")), ready(t, relu(1, 3, h, w).
		Meta("anynpu.input.x.pixel", "rgb"))
	yuv, rgb := n.in[0].data(), c.in[0].data()
	for y := range h {
		for x := range w {
			block := y/2*(w/2) + x/2
			r, g, b := float64(block*53%256), float64(block*97%256), float64(block*29%256)
			copy(rgb[3*(y*w+x):], []byte{byte(r), byte(g), byte(b)})
			luma := 0.299*r + 0.587*g + 0.114*b
			yuv[y*pitch+x] = byte(math.RoundToEven(luma))
			yuv[(h+y/2)*pitch+x&^1] = byte(min(math.RoundToEven((b-luma)/1.772+128), 255))
			yuv[(h+y/2)*pitch+x|1] = byte(min(math.RoundToEven((r-luma)/1.402+128), 255))
		}
	}
	require.NoError(t, infer(t, n.m, n.in, n.out))
	require.NoError(t, infer(t, c.m, c.in, c.out))
	bounds := []float64{0.5 + 1.402/2, 0.5 + (0.344136+0.714136)/2, 0.5 + 1.772/2}
	largest := 0.0
	for i, want := range c.out[0].floats() {
		d := math.Abs(float64(want) - float64(n.out[0].floats()[i]))
		require.LessOrEqual(t, d, bounds[i/(h*w)]+1e-4, "element %d", i)
		largest = max(largest, d)
	}
	require.Greater(t, largest, 0.2, "the two routes are one")
}
