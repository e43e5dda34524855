package hbdnn

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
)

func fromFiles(t *testing.T, paths ...string) (*Packed, error) {
	var names []uintptr
	for _, p := range paths {
		names = append(names, cText(t, p))
	}
	p, err := dnnInitializeFromFiles(names)
	if err == nil {
		h, e := handle.Of(p)
		require.NoError(t, e)
		t.Cleanup(func() { require.NoError(t, dnnRelease(h)) })
	}
	return p, err
}

func TestInitializeFromFiles_listsModelsInOrder(t *testing.T) {
	a, b := file(t, "a.onnx", relu(1, 4)), file(t, "b.onnx", relu(1, 2).Meta("anynpu.name", "second"))
	folder := filepath.Dir(a)
	list := filepath.Join(folder, "list.json")
	require.NoError(t, os.WriteFile(list, []byte(`{"anynpu.models": ["a.onnx", "a.onnx"]}`), 0o600))
	p, err := fromFiles(t, list, b)
	require.NoError(t, err)
	var names uintptr
	var count int32
	require.NoError(t, dnnGetModelNameList(&names, &count, p))
	var got []string
	for _, at := range unsafe.Slice((*uintptr)(cPointer(names)), int(count)) {
		got = append(got, textAt(t, at))
	}
	require.Equal(t, []string{"a", "a", "second"}, got)
	m, err := dnnGetModelHandle(p, "a")
	require.NoError(t, err)
	require.Same(t, head(p), m, "the first of a name")
	_, err = dnnGetModelHandle(p, "third")
	requireCode(t, errArgument, err, `"third"`, "second")
}

func TestInitializeFromFiles_refusals(t *testing.T) {
	good := file(t, "a.onnx", relu(1, 4))
	folder := filepath.Dir(good)
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	_, err := fromFiles(t)
	requireCode(t, errArgument, err, "modelFileCount")
	_, err = dnnInitializeFromFiles([]uintptr{0})
	requireCode(t, errArgument, err, "modelFileNames[0]")
	_, err = fromFiles(t, good, filepath.Join(folder, "none.onnx"))
	requireCode(t, errOpen, err, "none.onnx")
	_, err = fromFiles(t, write("text", "no model at all"))
	requireCode(t, errModel, err, "no ONNX model")
	_, err = fromFiles(t, write("empty", ""))
	requireCode(t, errModel, err, "empty")
	_, err = fromFiles(t, folder)
	requireCode(t, errModel, err, "regular file")
	_, err = fromFiles(t, write("self.json", `{"anynpu.models": ["self.json"]}`))
	requireCode(t, errModel, err, "no ONNX model")
	_, err = fromFiles(t, write("gap.json", `{"anynpu.models": ["none.onnx"]}`))
	requireCode(t, errOpen, err)
}

func TestInitializeFromDDR_refusals(t *testing.T) {
	b := relu(1, 4).Bytes()
	_, err := dnnInitializeFromDDR(nil, nil)
	requireCode(t, errArgument, err, "modelDataCount")
	_, err = dnnInitializeFromDDR([]uintptr{0}, []int32{4})
	requireCode(t, errArgument, err, "modelData[0]")
	_, err = dnnInitializeFromDDR([]uintptr{addressOf(b)}, []int32{0})
	requireCode(t, errArgument, err, "modelDataLengths[0] is 0")
	_, err = dnnInitializeFromDDR([]uintptr{addressOf(b)}, []int32{int32(len(b) - 9)})
	requireCode(t, errModel, err)
}

func TestRelease_endsModels(t *testing.T) {
	m := open(t, relu(1, 4))
	model, err := handle.Of(m)
	require.NoError(t, err)
	pack, err := handle.Of(m.Pack)
	require.NoError(t, err)
	require.NoError(t, dnnRelease(pack))
	requireCode(t, errPackedHandle, dnnRelease(pack), "destroyed")
	requireCode(t, errPackedHandle, dnnRelease(0), "NULL")
	_, err = holdModel(model)
	requireCode(t, errModelHandle, err)
}

func properties(t *testing.T, m *Model, input bool, index int32) fullProperties {
	var p fullProperties
	if input {
		require.NoError(t, dnnGetInputTensorProperties(p.own(), m, index))
	} else {
		require.NoError(t, dnnGetOutputTensorProperties(p.own(), m, index))
	}
	return p
}

func shape(dims ...int32) (s TensorShape) {
	s.rank = int32(copy(s.dims[:], dims))
	return s
}

func TestProperties_ofFeatureMaps(t *testing.T) {
	m := open(t, relu(2, 3, 4, 5))
	for _, p := range []fullProperties{properties(t, m, true, 0), properties(t, m, false, 0)} {
		require.Equal(t, fullProperties{valid: shape(2, 3, 4, 5), aligned: shape(2, 3, 4, 5), layout: layoutNCHW,
			kind: typeF32, bytes: 480, stride: [8]int32{240, 80, 20, 4}}, p)
	}
	m = open(t, relu(1, 10))
	require.Equal(t, fullProperties{valid: shape(1, 10), aligned: shape(1, 10, 1, 1), layout: layoutNone, kind: typeF32,
		bytes: 40, stride: [8]int32{40, 4}}, properties(t, m, false, 0))
	m = open(t, relu(1, 3, 4, 5).Meta("anynpu.input.x.layout", "nhwc"))
	require.Equal(t, fullProperties{valid: shape(1, 4, 5, 3), aligned: shape(1, 4, 5, 3), layout: layoutNHWC,
		kind: typeF32, bytes: 240, stride: [8]int32{240, 60, 12, 4}}, properties(t, m, true, 0))
	var p fullProperties
	for _, index := range []int32{-1, 1} {
		requireCode(t, errArgument, dnnGetInputTensorProperties(p.own(), m, index), "inputIndex")
		requireCode(t, errArgument, dnnGetOutputTensorProperties(p.own(), m, index), "outputIndex")
	}
}

func TestProperties_ofImages(t *testing.T) {
	m := open(t, relu(2, 1, 5, 21).Meta("anynpu.input.x.pixel", "gray"))
	require.Equal(t, fullProperties{valid: shape(2, 1, 5, 21), aligned: shape(2, 1, 5, 32), layout: layoutNCHW,
		kind: typeY, bytes: 320}, properties(t, m, true, 0))
	m = open(t, relu(1, 3, 5, 7).Meta("anynpu.input.x.pixel", "bgr"))
	require.Equal(t, fullProperties{valid: shape(1, 5, 7, 3), aligned: shape(1, 5, 7, 3), layout: layoutNHWC,
		kind: typeBGR, bytes: 105, stride: [8]int32{105, 21, 3, 1}}, properties(t, m, true, 0))
	m = open(t, relu(2, 3, 5, 21).Meta("anynpu.input.x.pixel", "nv12").Meta("anynpu.input.x.source", "resizer"))
	require.Len(t, m.in, 1)
	require.Equal(t, fullProperties{valid: shape(2, 3, 5, 21), aligned: shape(2, 3, 5, 32), layout: layoutNCHW,
		kind: typeNV12, bytes: 480}, properties(t, m, true, 0), "H*Wa*3/2 for each image, of an odd height too")
	var source int32
	require.NoError(t, dnnGetInputSource(&source, m, 0))
	require.Equal(t, sourceResizer, source)
	m = open(t, relu(1, 3, 5, 7).Meta("anynpu.input.x.pixel", "yuv444").Meta("anynpu.input.x.layout", "nchw"))
	require.Equal(t, fullProperties{valid: shape(1, 3, 5, 7), aligned: shape(1, 3, 5, 7), layout: layoutNCHW,
		kind: typeYUV444, bytes: 105, stride: [8]int32{105, 35, 7, 1}}, properties(t, m, true, 0))
	for _, bad := range []*onnxtest.Model{relu(1, 4, 4, 4).Meta("anynpu.input.x.pixel", "rgba"),
		relu(1, 3, 4, 4).Meta("anynpu.input.x.pixel", "gray"), relu(3, 4).Meta("anynpu.input.x.pixel", "rgb")} {
		b := bad.Bytes()
		_, err := dnnInitializeFromDDR([]uintptr{addressOf(b)}, []int32{int32(len(b))})
		requireCode(t, errModel, err, "pixel")
	}
}

// codes is y = DequantizeLinear(QuantizeLinear(x)) after which the integers cross the border on both sides.
func codes(zero []byte, elem int64) *onnxtest.Model {
	return (&onnxtest.Model{}).Input("x", onnxtest.Float, 1, 4).Output("y", onnxtest.Float, 1, 4).
		Scalar("s", onnxtest.Float, raw32(0.5)).
		Scalar("z", elem, zero).Node("QuantizeLinear", "q", "x", "s", "z").Node("Relu", "r", "q").
		Node("DequantizeLinear", "y", "r", "s", "z")
}

func TestProperties_ofCodes(t *testing.T) {
	m := open(t, codes([]byte{0xfd}, onnxtest.Int8))
	p := properties(t, m, true, 0)
	require.Equal(t, []int32{typeS8, quantScale, 1, 1, 4}, []int32{p.kind, p.quant, p.scaleLen, p.zeroLen, p.bytes})
	require.Equal(t, float32(0.5), *(*float32)(cPointer(p.scale)))
	require.Equal(t, int8(-3), *(*int8)(cPointer(p.zero)))
	m = open(t, codes([]byte{200}, onnxtest.Uint8))
	p = properties(t, m, true, 0)
	require.Equal(t, []int32{typeF32, quantNone, 16}, []int32{p.kind, p.quant, p.bytes}, "a zero point that int8 has not")
}

func TestGenerations_writeTheirOwnSize(t *testing.T) {
	m := open(t, relu(2, 3, 4, 5))
	for _, g := range generations {
		var memory SysMem
		require.NoError(t, sysAllocMem(&memory, 200))
		b := bytesAt(memory.virt, 200)
		for i := range b {
			b[i] = 0xa5
		}
		g.store((*TensorProperties)(unsafe.Pointer(&b[0])), &m.in[0].description)
		at := map[int]int{136: 132, 144: 136, 176: 136}[g.size]
		require.Equal(t, int32(480), *(*int32)(unsafe.Pointer(&b[at])), g.name)
		require.Equal(t, strings.Repeat("\xa5", 200-g.size), string(b[g.size:]), "%s writes behind its struct", g.name)
		if g.stride {
			require.Equal(t, int32(240), *(*int32)(unsafe.Pointer(&b[140])))
		}
		require.NoError(t, sysFreeMem(&memory))
		require.NoError(t, sysAllocMem(&memory, 800))
		list := g.tensors((*Tensor)(cPointer(memory.virt)), 2)
		require.Equal(t, uintptr(96+g.size), uintptr(unsafe.Pointer(list[1]))-uintptr(unsafe.Pointer(list[0])))
		require.NoError(t, sysFreeMem(&memory))
	}
	require.Equal(t, "1.23", generationNamed("2.0").name)
	require.Equal(t, "1.9.7", generationNamed("1.9").version)
	for name, want := range map[string]string{"1.19": "1.18", "1.22": "1.18", "1.24": "1.23"} {
		require.Equal(t, want, generationNamed(name).name, "the layout that they share")
	}
}

func TestDescriptions_inBothForms(t *testing.T) {
	m := open(t, relu(1, 4).Meta("anynpu.custom_string", "words"))
	h, err := handle.Of(m)
	require.NoError(t, err)
	var desc uintptr
	var size uint32
	var kind int32
	require.NoError(t, dnnGetInputDesc(unsafe.Pointer(&desc), unsafe.Pointer(&size), unsafe.Pointer(&kind), h, 0))
	text := textAt(t, desc)
	require.Contains(t, text, "x")
	require.Equal(t, []any{uint32(len(text)), descString}, []any{size, kind})
	var older uintptr
	require.NoError(t, dnnGetInputDesc(unsafe.Pointer(&older), cPointer(h), nil, 12345, -1))
	require.Equal(t, desc, older)
	requireCode(t, errArgument, dnnGetOutputDesc(unsafe.Pointer(&older), cPointer(h), cPointer(1), 0, 0),
		"outputIndex is 1")
	requireCode(t, errArgument, dnnGetOutputDesc(unsafe.Pointer(&desc), nil, unsafe.Pointer(&kind), h, 0), "size")
	requireCode(t, errArgument, dnnGetOutputDesc(nil, unsafe.Pointer(&size), unsafe.Pointer(&kind), h, 0), "desc")
	requireCode(t, errModelHandle, dnnGetOutputDesc(unsafe.Pointer(&desc), unsafe.Pointer(&size), unsafe.Pointer(&kind), 0,
		0))
	require.NoError(t, dnnGetModelDesc(&desc, &size, &kind, m))
	require.Equal(t, "words", textAt(t, desc))
}

// TestLoad_compiledModel loads the ONNX file beside what was compiled for a board, or the one that a map names.
func TestLoad_compiledModel(t *testing.T) {
	folder := t.TempDir()
	bin := filepath.Join(folder, "net.bin")
	require.NoError(t, os.WriteFile(bin, []byte("\x00code of a board"), 0o600))
	_, err := fromFiles(t, bin)
	requireCode(t, errModel, err, "net.onnx", "ANYNPU_MODEL_MAP")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "net.onnx"), relu(1, 7).Bytes(), 0o600))
	p, err := fromFiles(t, bin)
	require.NoError(t, err)
	require.Equal(t, []any{"net", []int64{1, 7}}, []any{head(p).Name, head(p).in[0].dims})

	other := file(t, "other.onnx", relu(1, 5))
	list := filepath.Join(folder, "map")
	require.NoError(t, os.WriteFile(list, []byte("net.bin -> "+other+"\n"), 0o600))
	t.Setenv("ANYNPU_MODEL_MAP", list)
	p, err = fromFiles(t, bin)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 5}, head(p).in[0].dims)

	t.Setenv("ANYNPU_MODEL_MAP", "off")
	_, err = fromFiles(t, bin)
	requireCode(t, errModel, err)
}
