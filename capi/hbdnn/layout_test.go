package hbdnn

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func at[T any](v []T) uintptr { return uintptr(unsafe.Pointer(&v[0])) }

// TestConvertLayout compares with a tensor whose elements tell their own place, n h w c as decimal digits.
func TestConvertLayout(t *testing.T) {
	sizes := map[int32]TensorShape{layoutNHWC: shape(2, 3, 4, 5), layoutNCHW: shape(2, 5, 3, 4),
		layoutNHCW: shape(2, 3, 5, 4)}
	make16 := func(layout int32) []uint16 {
		var out []uint16
		s := sizes[layout]
		for a := range s.dims[0] {
			for b := range s.dims[1] {
				for c := range s.dims[2] {
					for d := range s.dims[3] {
						n, h, w, k := a, b, c, d
						switch layout {
						case layoutNCHW:
							h, w, k = c, d, b
						case layoutNHCW:
							w, k = d, c
						}
						out = append(out, uint16(1000*n+100*h+10*w+k))
					}
				}
			}
		}
		return out
	}
	for from, s := range sizes {
		in := make16(from)
		for to := range sizes {
			out := make([]uint16, len(in))
			require.NoError(t, dnnConvertLayout(at(out), to, at(in), from, typeU16, &s, false))
			require.Equal(t, make16(to), out, "%d to %d", from, to)
		}
		part := make([]uint16, 4)
		coord, size := shape(1, 2, 1, 3), shape(1, 1, 2, 2)
		require.NoError(t, dnnConvertLayoutRoi(at(part), layoutNHWC, at(in), from, typeU16, &s, false, &coord, &size))
		require.Equal(t, []uint16{1213, 1214, 1223, 1224}, part)
		plane := make([]uint16, 12)
		require.NoError(t, dnnConvertLayoutToNative1HW1(at(plane), at(in), from, typeU16, &s, false, 1, 4))
		require.Equal(t, []uint16{1004, 1014, 1024, 1034, 1104, 1114, 1124, 1134, 1204, 1214, 1224, 1234}, plane)
		pixel := make([]uint16, 5)
		require.NoError(t, dnnConvertLayoutToNative111C(at(pixel), at(in), from, typeU16, &s, true, 0, 2, 3))
		require.Equal(t, []uint16{0xe600, 0xe700, 0xe800, 0xe900, 0xea00}, pixel, "230 to 234 with their bytes turned")
		one := make([]uint16, 1)
		coord = shape(0, 1, 2, 3)
		require.NoError(t, dnnConvertLayoutToNative1111(at(one), at(in), from, typeU16, &s, false, &coord))
		require.Equal(t, []uint16{123}, one)
		coord = shape(0, 1, 4, 3)
		requireCode(t, errArgument, dnnConvertLayoutToNative1111(at(one), at(in), from, typeU16, &s, false, &coord),
			"dimension W")
	}
	in := make16(layoutNHWC)
	s, flat, huge := sizes[layoutNHWC], shape(2, 60), shape(1<<30, 1<<30, 1<<30, 1<<30)
	requireCode(t, errArgument, dnnConvertLayout(at(in), 7, at(in), layoutNHWC, typeU16, &s, false), "outputLayout")
	requireCode(t, errArgument, dnnConvertLayout(at(in), layoutNHWC, at(in), layoutNone, typeU16, &s, false),
		"inputLayout")
	requireCode(t, errArgument, dnnConvertLayout(at(in), layoutNHWC, at(in), layoutNHWC, typeNV12, &s, false),
		"dataType is NV12")
	requireCode(t, errArgument, dnnConvertLayout(at(in), layoutNHWC, at(in), layoutNHWC, typeU16, &flat, false),
		"numDimensions is 2")
	requireCode(t, errArgument, dnnConvertLayout(at(in), layoutNHWC, at(in), layoutNHWC, typeU16, &huge, false),
		"too many")
}

func TestPadding(t *testing.T) {
	small, large := shape(1, 2, 1, 3), shape(1, 2, 2, 4)
	in := []int8{1, 2, 3, 4, 5, 6}
	out := make([]int8, 16)
	for i := range out {
		out[i] = 99
	}
	require.NoError(t, dnnAddPadding(at(out), &large, at(in), &small, typeS8))
	require.Equal(t, []int8{1, 2, 3, 0, 0, 0, 0, 0, 4, 5, 6, 0, 0, 0, 0, 0}, out)
	back := make([]int8, 6)
	require.NoError(t, dnnRemovePadding(at(back), &small, at(out), &large, typeS8))
	require.Equal(t, in, back)
	requireCode(t, errArgument, dnnAddPadding(at(out), &small, at(in), &large, typeS8), "only")
	wide := make([]int8, 12)
	wide[11] = 7
	require.NoError(t, dnnAddPaddingWithStride(at(wide), at(in), []uint32{2, 3}, []int32{5, 1}, 1))
	require.Equal(t, []int8{1, 2, 3, 0, 0, 4, 5, 6, 0, 0, 0, 7}, wide)
	clear(back)
	require.NoError(t, dnnRemovePaddingWithStride(at(back), at(wide), []uint32{2, 3}, []int32{5, 1}, 1))
	require.Equal(t, in, back)
	requireCode(t, errArgument, dnnAddPaddingWithStride(at(wide), at(in), []uint32{2, 3}, []int32{2, 1}, 1),
		"stride[0] is 2")
	requireCode(t, errArgument, dnnAddPaddingWithStride(at(wide), at(in), []uint32{0, 3}, []int32{5, 1}, 1), "dim[0] is 0")
	requireCode(t, errArgument, dnnAddPaddingWithStride(at(wide), at(in), []uint32{1}, []int32{5}, 0), "elementSize")
}

func TestUnquantizeByScale(t *testing.T) {
	s := shape(1, 1, 2, 2)
	scales := []float32{0.5, 2}
	out := make([]float32, 4)
	call := func(kind int32, in unsafe.Pointer) error {
		return dnnUnquantizeByScale(unsafe.Pointer(&out[0]), kind, &s, unsafe.Pointer(&scales[0]), in)
	}
	require.NoError(t, call(typeS8, unsafe.Pointer(&[]int8{-1, 2, 3, -128}[0])))
	require.Equal(t, []float32{-0.5, 4, 1.5, -256}, out)
	require.NoError(t, call(typeS32, unsafe.Pointer(&[]int32{-70000, 1, 0, 3}[0])))
	require.Equal(t, []float32{-35000, 2, 0, 6}, out)
	require.NoError(t, call(typeU16, unsafe.Pointer(&[]uint16{65535, 1, 0, 3}[0])))
	require.Equal(t, []float32{32767.5, 2, 0, 6}, out)
	requireCode(t, errArgument, call(typeF32, unsafe.Pointer(&scales[0])), "dataType is F32")
	requireCode(t, errArgument, call(typeS8, nil), "input is NULL")
}

func TestConvertEndianness(t *testing.T) {
	b := []byte{1, 2, 3, 4}
	out := make([]byte, 4)
	require.NoError(t, dnnConvertEndianness(out, b))
	require.Equal(t, []byte{4, 3, 2, 1}, out)
	require.NoError(t, dnnConvertEndianness(b, b))
	require.Equal(t, out, b)
	requireCode(t, errArgument, dnnConvertEndianness(b[:3], b[1:]), "overlap")
	requireCode(t, errArgument, dnnConvertEndianness(nil, nil), "size is 0")
}
