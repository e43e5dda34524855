package rknn

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/rknn"
	"github.com/anynpu/anynpu/core/format/rknn/rknntest"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// chips are the targets of the vendor's converter, with the channels that a group of int8 has and the container that
// files of them are in, as files of each show.
var chips = []struct {
	name    string
	lanes   int64
	version uint64
}{
	{"rk3588", 16, rknntest.Main}, {"rk3576", 16, rknntest.Main}, {"rk3562", 16, rknntest.Main},
	{"rv1126b", 16, rknntest.Main}, {"rk3566", 8, rknntest.Main}, {"rk3568", 8, rknntest.Main},
	{"rk2118", 16, rknntest.Main}, {"rv1103", 16, rknntest.Mini}, {"rv1106", 16, rknntest.Mini},
	{"rv1103b", 8, rknntest.Mini}, {"rv1106b", 8, rknntest.Mini},
}

// TestDescribed_everyTarget: types, scales and zero points are the file's in both containers; native shapes are those
// of the file, and where it has none those of the chip.
func TestDescribed_everyTarget(t *testing.T) {
	require.Len(t, chips, len(targets))
	for _, chip := range chips {
		for _, told := range []bool{true, false} {
			f := reluFile()
			f.Version, f.Targets, f.Custom = chip.version, []string{chip.name}, ""
			y := &f.Graphs[0].Tensors[2]
			y.Shape = []int64{1, 3, 2, 4, chip.lanes} // more groups than the channels take
			groups := uint32(3)
			if !told {
				y.Native, y.Shape, groups = false, nil, 1
			}
			c := openFile(t, f, relu(1, 3, 2, 4))
			require.Equal(t, chip.name, c.model.board.name)
			a := attrOf(t, c, spec.QueryNativeOutputAttr)
			require.Equal(t, []uint32{1, groups, 2, 4, uint32(chip.lanes)}, sizesOf(a), "%s, told %v", chip.name, told)
			require.Equal(t, []any{spec.NC1HWC2, spec.Int8, int32(-128), float32(1.0 / 32)},
				[]any{a.Format, a.Kind, a.Zp, a.Scale}, chip.name)
			a = attrOf(t, c, spec.QueryNativeInputAttr)
			require.Equal(t, []any{spec.NHWC, spec.Int8, int32(-3), float32(1.0 / 64)}, []any{a.Format, a.Kind, a.Zp, a.Scale},
				chip.name)
		}
	}
}

// filesFor is the index of the chip that openFile makes files for, -1 for what they say themselves.
var filesFor = -1

// asChip makes a file one of the chip filesFor: its target, its container, and a filter whose native shape has 24
// numbers.
func asChip(f *rknn.File) {
	if filesFor < 0 {
		return
	}
	f.Version, f.Targets = chips[filesFor].version, []string{chips[filesFor].name}
	for i := range f.Graphs {
		f.Graphs[i].Tensors = append(f.Graphs[i].Tensors, rknn.Tensor{Name: "long", Type: "int8", Dims: []int64{70, 33, 1, 1},
			Native: true, Shape: []int64{5, 3, 1, 1, 16, 16, 2, 2, 1, 1, 8, 16, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}})
	}
}

// TestDescribed_everyKindForEveryTarget: what files say is taken in for each target of the converter.
func TestDescribed_everyKindForEveryTarget(t *testing.T) {
	if testing.Short() {
		t.Skip("with -short: it is slow under the race detector, and starts no goroutines of its own")
	}
	defer func() { filesFor = -1 }()
	for filesFor = range chips {
		for name, kind := range map[string]func(*testing.T){
			"results": TestDescribed_resultsAreThoseOfTheWrittenModel, "real": TestDescribed_offLeavesTheModelReal,
			"order": TestDescribed_channelOrder, "batch": TestDescribed_batch, "dynamic": TestDescribed_dynamicShapes,
			"float": TestDescribed_floatFile, "own codes": TestDescribed_whatStaysReal, "cut": TestDescribed_cutGraph,
			"cut input": TestDescribed_cutInput, "reshape": TestDescribed_reshapeRemoved, "planes": TestDescribed_planes,
		} {
			if chips[filesFor].version == rknntest.Mini && name == "batch" {
				continue // the smaller container does not have it
			}
			t.Run(chips[filesFor].name+" "+name, kind)
		}
		if name := chips[filesFor].name; name == "rv1106" || name == "rv1103b" {
			t.Run(name+" arithmetic", TestDescribed_arithmetic)
		}
	}
}

// TestDescribed_channelsLast: the ONNX file of a network of TensorFlow takes [N,H,W,C]; the .rknn has a mean per
// channel.
func TestDescribed_channelsLast(t *testing.T) {
	f := reluFile()
	f.Graphs = nil
	for _, p := range []*rknn.Port{&f.Inputs[0], &f.Outputs[0]} {
		p.Layout, p.Dims, p.Type = "nhwc", []int64{1, 2, 4, 3}, "float16"
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "net.onnx"), relu(1, 2, 4, 3).Bytes())
	write(t, filepath.Join(dir, "net.rknn"), rknntest.Write(f))
	m, err := load(nil, filepath.Join(dir, "net.rknn"), 0)
	require.NoError(t, err)
	c, err := newContext(m, 0, m.run)
	require.NoError(t, err)
	t.Cleanup(c.release)
	require.Equal(t, []float32{120, 110, 100}, c.model.in[0].Mean)
	require.Equal(t, []uint32{1, 2, 4, 3}, sizesOf(attrOf(t, c, spec.QueryInputAttr)))
}
