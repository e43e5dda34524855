package hbdnn

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// said are the properties of a tensor, as a driver of a generation writes them.
func said(g generation, layout, kind int32, valid, aligned []int32, bytes int32, stride ...int32) []byte {
	raw := make([]byte, g.size())
	put := func(at int, values ...int32) {
		for i, v := range values {
			binary.NativeEndian.PutUint32(raw[at+4*i:], uint32(v))
		}
	}
	put(0, valid...)
	put(32, int32(len(valid)))
	put(36, aligned...)
	put(68, int32(len(aligned)), layout, kind)
	switch {
	case g.stride:
		put(136, append([]int32{bytes}, stride...)...)
	case g.axis:
		put(136, bytes)
	default:
		put(132, bytes)
	}
	return raw
}

// TestPort_images: rows of gray and NV12 images begin at multiples of the aligned width, whatever strides are said.
func TestPort_images(t *testing.T) {
	const nchw = 2
	newest := generation{axis: true, stride: true}
	for name, c := range map[string]struct {
		raw     []byte
		dims    []int64
		strides []int64
	}{
		"gray": {said(newest, nchw, imageY, []int32{1, 1, 8, 8}, []int32{1, 1, 8, 16}, 128),
			[]int64{1, 1, 8, 8}, []int64{128, 128, 16, 1}},
		"gray, NHWC": {said(newest, layoutNHWC, imageY, []int32{2, 4, 3, 1}, []int32{2, 4, 16, 1}, 128),
			[]int64{2, 1, 4, 3}, []int64{64, 1, 16, 1}},
		"gray with strides": {said(newest, nchw, imageY, []int32{1, 1, 2, 8}, []int32{1, 1, 2, 16}, 64, 64, 64, 32, 1),
			[]int64{1, 1, 2, 8}, []int64{64, 64, 32, 1}},
		"NV12": {said(newest, nchw, imageNV12, []int32{1, 3, 4, 6}, []int32{1, 4, 4, 16}, 96),
			[]int64{1, 6, 6}, []int64{96, 16, 1}},
		"NV12 in two": {said(generation{}, layoutNHWC, imageNV12Separate, []int32{2, 4, 6, 3}, []int32{2, 4, 16, 3}, 192),
			[]int64{2, 6, 6}, []int64{96, 16, 1}},
		"RGB": {said(generation{axis: true}, layoutNHWC, imageRGB, []int32{1, 4, 5, 3}, []int32{1, 4, 5, 3}, 60),
			[]int64{1, 3, 4, 5}, []int64{60, 1, 15, 3}},
	} {
		g := newest
		switch len(c.raw) {
		case 136:
			g = generation{}
		case 144:
			g = generation{axis: true}
		}
		p, err := portOf(g, name, c.raw)
		require.NoError(t, err, name)
		require.True(t, p.Type.DType == tensor.Uint8 && p.Type.Shape.Equal(tensor.Of(c.dims...)), "%s: %v", name, p.Type)
		require.Equal(t, c.strides, p.strides, name)
	}
	for name, c := range map[string]struct {
		raw  []byte
		kind fault.Kind
		want string
	}{
		"odd": {said(newest, nchw, imageNV12, []int32{1, 3, 5, 6}, []int32{1, 3, 5, 16}, 120), fault.Unsupported,
			"5 rows and 6"},
		"rank": {said(newest, nchw, imageNV12, []int32{3, 4, 6}, []int32{3, 4, 16}, 96), fault.Device,
			"an image with the sizes"},
		"pitch": {said(newest, nchw, imageY, []int32{1, 1, 8, 8}, []int32{1, 1, 8, 4}, 128), fault.Device, "apart"},
		"short": {said(newest, nchw, imageNV12, []int32{1, 3, 4, 6}, []int32{1, 3, 4, 16}, 85), fault.Device,
			"do not fit 85"},
		"nibbles":  {said(newest, nchw, 6, []int32{1, 4}, []int32{1, 4}, 2), fault.Unsupported, "no whole bytes"},
		"aligned":  {said(generation{}, 255, 9, []int32{4, 4}, []int32{4, 3}, 16), fault.Device, "in memory [4 3]"},
		"too many": {said(generation{}, 255, 9, []int32{4, 4}, []int32{4, 4, 2}, 64), fault.Device, "in memory [4 4 2]"},
		"too few":  {said(generation{}, 255, 9, []int32{4, 4}, []int32{4}, 64), fault.Device, "in memory [4]"},
		"askew":    {said(newest, 255, 13, []int32{2, 2}, []int32{2, 2}, 64, 10, 4), fault.Unsupported, "10 bytes apart"},
	} {
		g := newest
		if len(c.raw) == 136 {
			g = generation{}
		}
		_, err := portOf(g, name, c.raw)
		require.Equal(t, c.kind, fault.KindOf(err), "%s: %v", name, err)
		require.ErrorContains(t, err, c.want, name)
	}
}

// TestQuantization_olderAxis: headers before 1.14 have no word for the axis, which is the one dimension of that size.
func TestQuantization_olderAxis(t *testing.T) {
	scales := []float32{1, 2, 4}
	for _, c := range []struct {
		dims []int32
		axis int
		kind fault.Kind
	}{{[]int32{1, 3, 2, 2}, 1, 0}, {[]int32{1, 2, 2, 3}, 3, 0}, {[]int32{1, 3, 3, 2}, 0, fault.Unsupported},
		{[]int32{1, 2, 2, 2}, 0, fault.Device}} {
		raw := said(generation{}, 2, 8, c.dims, c.dims, 64)
		binary.NativeEndian.PutUint32(raw[96:], uint32(len(scales)))
		binary.NativeEndian.PutUint64(raw[104:], uint64(uintptr(unsafe.Pointer(&scales[0]))))
		binary.NativeEndian.PutUint32(raw[128:], quantScale)
		p, err := portOf(generation{}, "x", raw)
		require.Equal(t, c.kind, fault.KindOf(err), "%v: %v", c.dims, err)
		if err == nil {
			require.Equal(t, &tensor.Quant{Scale: scales, Zero: []int32{0, 0, 0}, Axis: c.axis}, p.Type.Quant)
		}
	}
}

// TestStructs_areTheHeaders compares with the description of hb_dnn.h.
func TestStructs_areTheHeaders(t *testing.T) {
	var api struct {
		Structs []struct {
			Name   string
			Size   int
			Fields []struct {
				Name   string
				Offset int
			}
		}
	}
	text, err := os.ReadFile("../../capi/abi/abicheck/hbdnn.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &api))
	want := map[string]int{"hbSysMem": sizeMemory, "hbDNNInferCtrlParam": sizeControl,
		"hbDNNTensorProperties": generation{axis: true, stride: true}.size(),
		"hbDNNTensor":           generation{}.slots() + generation{axis: true, stride: true}.size()}
	at := map[string]int{"tensorLayout": 72, "tensorType": 76, "quantiType": 128, "quantizeAxis": 132,
		"alignedByteSize": 136,
		"stride":          140, "priority": 8, "virAddr": 8, "memSize": 16}
	for _, s := range api.Structs {
		size, known := want[s.Name]
		if !known {
			continue
		}
		delete(want, s.Name)
		require.Equal(t, s.Size, size, s.Name)
		for _, f := range s.Fields {
			if offset, has := at[f.Name]; has {
				require.Equal(t, f.Offset, offset, "%s.%s", s.Name, f.Name)
				delete(at, f.Name)
			}
		}
	}
	require.Empty(t, want)
	require.Empty(t, at)
	require.Equal(t, uintptr(sizeMemory), unsafe.Sizeof(sysMem{}))
	for version, size := range map[string]int{"1.9.7_(3.14.5 HBRT)": 136, "1.12.3": 136, "1.14.1": 144, "1.18.6": 176,
		"1.24.5": 176} {
		g, err := generationOf(version)
		require.NoError(t, err)
		require.Equal(t, size, g.size(), version)
	}
	for _, version := range []string{"", "2.0", "ucp"} {
		_, err := generationOf(version)
		require.Equal(t, fault.Unsupported, fault.KindOf(err), version)
	}
}
