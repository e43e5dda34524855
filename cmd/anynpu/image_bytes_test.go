package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/npy"
)

// The classic values of BT.601, for all bytes and for those of video.
func TestImageBytes_colors(t *testing.T) {
	for _, c := range []struct {
		rgb     [3]byte
		r       op.ImageRange
		y, u, v float64
	}{
		{[3]byte{255, 255, 255}, op.RangeFull, 255, 0, 0},
		{[3]byte{0, 0, 0}, op.RangeFull, 0, 0, 0},
		{[3]byte{90, 90, 90}, op.RangeFull, 90, 0, 0},
		{[3]byte{255, 0, 0}, op.RangeFull, 76.245, -43.03, 127.5},
		{[3]byte{0, 255, 0}, op.RangeFull, 149.685, -84.47, -106.77},
		{[3]byte{0, 0, 255}, op.RangeFull, 29.07, 127.5, -20.73},
		{[3]byte{255, 255, 255}, op.RangeVideo, 235, 0, 0},
		{[3]byte{0, 0, 0}, op.RangeVideo, 16, 0, 0},
		{[3]byte{255, 0, 0}, op.RangeVideo, 81.5, -37.8, 112.4},
		{[3]byte{0, 0, 255}, op.RangeVideo, 41, 112, -18.2},
	} {
		y, u, v := colorsOf(c.r).of(c.rgb[:])
		for i, d := range []float64{y - c.y, u - c.u, v - c.v} {
			assert.LessOrEqual(t, math.Abs(d), 0.6, "%v, range %d: component %d of %v %v %v", c.rgb, c.r, i, y, u, v)
		}
	}
}

// An image whose colors are constant over blocks comes out of a network with any kind of image in front as it went in,
// but for rounding to bytes.
func TestImageBytes_thereAndBack(t *testing.T) {
	const h, w = 6, 10
	data := make([]byte, 3*h*w)
	rnd := rand.New(rand.NewPCG(1, 2))
	blocks := make([]byte, 3*h/2*w/2)
	for i := range blocks {
		blocks[i] = byte(rnd.IntN(256))
	}
	for y := range h {
		for x := range w {
			copy(data[3*(y*w+x):], blocks[3*(y/2*(w/2)+x/2):][:3])
		}
	}
	picture := writeFile(t, "x.ppm", append(fmt.Appendf(nil, "P6 %d %d 255\n", w, h), data...))
	for i, meta := range []map[string]string{
		{"pixel": "nv12"}, {"pixel": "nv21"}, {"pixel": "nv12", "planes": "2"}, {"pixel": "yuv444"},
		{"pixel": "nv12", "range": "bt601_video"}, {"pixel": "yuv444", "layout": "nhwc", "range": "bt601_video"},
		{"pixel": "yuv444", "bytes": "signed"}, {"pixel": "rgb", "source": "ddr"},
		{"pixel": "rgb", "source": "ddr", "bytes": "signed"}, {"pixel": "bgr", "source": "ddr", "order": "rgb"},
		{"pixel": "nv12", "source": "resizer"}, {"pixel": "nv12", "planes": "2", "source": "resizer"},
	} {
		m := new(onnxtest.Model).Input("x", onnxtest.Float, 1, 3, h, w).Node("Neg", "y", "x").
			Output("y", onnxtest.Float, 1, 3, h, w)
		for k, v := range meta {
			m.Meta("anynpu.input.x."+k, v)
		}
		dir := t.TempDir()
		args := []string{"run", writeFile(t, fmt.Sprintf("%d.onnx", i), m.Bytes()), "-o", dir}
		in := []string{"x"}
		if meta["planes"] == "2" {
			in = append(in, "x.chroma")
		}
		if meta["source"] == "resizer" {
			in = append(in, "x.regions")
		}
		for _, name := range in {
			args = append(args, "-i", name+"="+picture)
		}
		code, _, errs := anynpu(args...)
		require.Equal(t, 0, code, "%v: %s", meta, errs)
		f, err := os.Open(filepath.Join(dir, "y.npy"))
		require.NoError(t, err)
		got, err := npy.Read(f)
		require.NoError(t, err)
		f.Close()
		// Bytes are rounded by a half, and saturate: the video range lacks some colors.
		most := 1.5
		if meta["range"] != "" {
			most = 3
		}
		for c := range 3 {
			for p := range h * w {
				v := -tensor.FloatAt(got.DType, got.Data, c*h*w+p)
				assert.InDelta(t, data[3*p+c], v, most, "%v: channel %d of pixel %d", meta, c, p)
			}
		}
	}
}
