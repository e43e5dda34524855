package cpu

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// bytesView returns a view of bytes that follow from their index alone, whose rows, the last dims dimensions, lie gap
// bytes apart behind their end; the bytes between them are other ones.
func bytesView(t *testing.T, gap int64, dims int, sizes ...int64) mem.View {
	row, rows := int64(1), int64(1)
	for i, n := range sizes {
		if i >= len(sizes)-dims {
			row *= n
		} else {
			rows *= n
		}
	}
	data := make([]byte, (rows-1)*(row+gap)+row)
	for i := range data {
		data[i] = 0xee
	}
	for i := range rows * row {
		data[i/row*(row+gap)+i%row] = byte(i*37 + i/11*5)
	}
	b, err := mem.Host(int64(len(data)), mem.Options{})
	require.NoError(t, err)
	t.Cleanup(b.Release)
	require.NoError(t, mem.Write(b, 0, data))
	v := mem.View{Buf: b, Type: tensor.T(tensor.Uint8, sizes...), Strides: make([]int64, len(sizes))}
	step := int64(1)
	for i := len(sizes) - 1; i >= 0; i-- {
		if i == len(sizes)-dims-1 {
			step += gap
		}
		v.Strides[i] = step
		step *= sizes[i]
	}
	return v
}

// TestExecution_imagesWithGapsBetweenRows computes images whose rows lie apart, as cameras and padded tensors have
// them: in place where kernels alone read them, and the same as without gaps in any case.
func TestExecution_imagesWithGapsBetweenRows(t *testing.T) {
	type input struct {
		dims  int
		sizes []int64
	}
	block, luma, chroma := input{1, []int64{2, 10, 9}}, input{1, []int64{2, 7, 9}}, input{2, []int64{2, 3, 4, 2}}
	planar, pixels := input{1, []int64{2, 3, 7, 9}}, input{2, []int64{2, 7, 9, 3}}
	for _, c := range []struct {
		name   string
		op     graph.Op
		in     []input
		byRef  bool
		open   bool
		twice  bool // another operator reads the image
		copies bool
	}{
		{"nv12 block", &op.DecodeImage{Pixel: op.PixelNV12}, []input{block}, false, false, false, false},
		{"its luma", &op.DecodeImage{Pixel: op.PixelNV12, Order: op.OrderGray}, []input{block}, false, false, false, false},
		{"two planes", &op.DecodeImage{Pixel: op.PixelNV12}, []input{luma, chroma}, false, false, false, false},
		{"planar", &op.DecodeImage{Pixel: op.PixelYUV444}, []input{planar}, false, false, false, false},
		{"interleaved", &op.DecodeImage{Pixel: op.PixelRGB, Interleaved: true}, []input{pixels}, false, false, false, false},
		{"open sizes", &op.DecodeImage{Pixel: op.PixelNV12}, []input{block}, false, true, false, false},
		{"resized block", &op.ResizeImage{Pixel: op.PixelNV12, Height: 5, Width: 6}, []input{block}, false, false, false,
			false},
		{"resized planes", &op.ResizeImage{Pixel: op.PixelNV12, Height: 5, Width: 6}, []input{luma, chroma}, false, true,
			false, false},
		{"resized planar", &op.ResizeImage{Pixel: op.PixelRGB, Height: 5, Width: 6}, []input{planar}, false, false, false,
			false},
		{"resized interleaved", &op.ResizeImage{Pixel: op.PixelRGB, Interleaved: true, Height: 5, Width: 6}, []input{pixels},
			false, false, false, false},
		{"another reader", &op.DecodeImage{Pixel: op.PixelNV12}, []input{block}, false, false, true, true},
		{"reference device", &op.DecodeImage{Pixel: op.PixelNV12}, []input{block}, true, false, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := graph.NewBuilder("images")
			var in []graph.Value
			for i, x := range c.in {
				s := tensor.Of(x.sizes...)
				if c.open {
					s.Dims[0], s.Dims[1], s.Dims[2] = tensor.AnyDim(), tensor.AnyDim(), tensor.AnyDim()
				}
				in = append(in, b.Input(fmt.Sprint(i), tensor.Type{DType: tensor.Uint8, Shape: s}))
			}
			outs := 1
			if _, resized := c.op.(*op.ResizeImage); resized {
				outs = len(c.in)
			}
			b.Output(b.AddN(c.op, outs, in...)...)
			if c.twice {
				b.Output(b.Add(&op.Cast{To: tensor.Float32}, in[0]))
			}
			g, err := b.Graph()
			require.NoError(t, err)
			p := compile(t, newDevice(t, Config{Reference: c.byRef}), g)
			defer p.Release()
			e := newExec(t, p, device.ExecOptions{})
			defer e.Release()
			run := func(gaps ...int64) (out [][]byte, copied int64) {
				for i, x := range c.in {
					require.NoError(t, e.BindInput(i, bytesView(t, gaps[i], x.dims, x.sizes...)))
				}
				before := e.Stats().CopiedIn
				require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
				for i := range g.Out {
					data, err := e.OutputData(i)
					require.NoError(t, err)
					out = append(out, append([]byte(nil), data...))
				}
				return out, e.Stats().CopiedIn - before
			}
			want, copied := run(0, 0)
			assert.Zero(t, copied)
			for _, gaps := range [][]int64{{7, 0}, {0, 5}, {23, 2}, {0, 0}, {1, 1}} {
				got, copied := run(gaps...)
				assert.Equal(t, want, got, "gaps %v", gaps)
				assert.Equal(t, c.copies && gaps[0] > 0, copied > 0, "gaps %v: %d bytes copied", gaps, copied)
			}
		})
	}
}

// Where a plan does not take rows apart, the gaps are closed before it, or the reference, gets them.
func TestPlannedInstance_closesGaps(t *testing.T) {
	b := graph.NewBuilder("images")
	b.Output(b.Add(&op.DecodeImage{Pixel: op.PixelRGB, Interleaved: true},
		b.Input("x", tensor.T(tensor.Uint8, 1, 2, 2, 3))))
	g, err := b.Graph()
	require.NoError(t, err)
	i := &plannedInstance{graph: &plannedGraph{graph: g, rows: []int{2}}}
	defer i.release()
	i.setApart(0, 8)
	in := []tensor.Tensor{{DType: tensor.Uint8, Dims: []int64{1, 2, 2, 3},
		Data: []byte{1, 2, 3, 4, 5, 6, 99, 99, 7, 8, 9, 10, 11, 12}}}
	got, err := i.closed(nil, in)
	require.NoError(t, err)
	assert.Equal(t, []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, got[0].Data)
	assert.Len(t, in[0].Data, 14, "the caller's list is as it was")
	assert.Equal(t, []int{0}, i.apart)
}
