package tensordump

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// told has the paths that a dump could not write.
type told []string

func (t *told) tell(path string, _ error) { *t = append(*t, path) }

func names(t *testing.T, folder string) (list []string) {
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func floats(v ...float32) tensor.Tensor {
	return tensor.Tensor{DType: tensor.Float32, Dims: []int64{int64(len(v))}, Data: tensor.Float32s(v...)}
}

func TestSelect(t *testing.T) {
	s, err := Select("conv*, y", "0,3-5", "statistics")
	require.NoError(t, err)
	for name, want := range map[string]bool{"conv": true, "conv1": true, "y": true, "yy": false, "x": false} {
		assert.Equal(t, want, s.Name(name), name)
	}
	for run, want := range []bool{true, false, false, true, true, true, false} {
		assert.Equal(t, want, s.run(run), run)
	}
	assert.True(t, s.statistics)
	all, err := Select("", "", "files")
	require.NoError(t, err)
	assert.True(t, all.Name("x") && all.run(7) && !all.statistics)
	for _, bad := range [][3]string{{"[", "", ""}, {"", "x", ""}, {"", "-1", ""}, {"", "3-", ""}, {"", "5-3", ""},
		{"", "1-2-3", ""}, {"", "99999999999", ""}, {"", "", "csv"}} {
		_, err := Select(bad[0], bad[1], bad[2])
		assert.Equal(t, fault.Argument, fault.KindOf(err), "%v", bad)
	}
}

func TestRun_filesAndIndex(t *testing.T) {
	folder := t.TempDir()
	var lines told
	d := New(folder, Selection{}, lines.tell)
	require.NoError(t, os.Mkdir(filepath.Join(folder, "a_b_0"), 0o700)) // of an earlier process
	r := d.Run("a/b")
	nan := float32(math.NaN())
	r.Add(Value{Name: "x/1"}, floats(1, nan, 4, -2))
	r.Add(Value{Name: "X_1", Node: "n", Operator: "relu"}, floats(nan))
	r.Add(Value{Name: "half"}, tensor.Tensor{DType: tensor.BFloat16, Dims: []int64{1}, Data: []byte{0x80, 0x3f}})
	r.Add(Value{Name: "codes"}, tensor.Tensor{DType: tensor.Int8, Dims: []int64{2}, Data: []byte{0x80, 0x7f}})
	r.End()
	assert.Equal(t, []string{"X_1-2.npy", "codes.npy", "tensors.json", "x_1.npy"},
		names(t, filepath.Join(folder, "a_b_1")))
	text, err := os.ReadFile(filepath.Join(folder, "a_b_1", Index))
	require.NoError(t, err)
	var index struct{ Tensors []entry }
	require.NoError(t, json.Unmarshal(text, &index))
	require.Len(t, index.Tensors, 4)
	x, empty, half, codes := index.Tensors[0], index.Tensors[1], index.Tensors[2], index.Tensors[3]
	assert.Equal(t, [3]float64{-2, 4, 1}, [3]float64{*x.Least, *x.Largest, *x.Mean})
	assert.InDelta(t, math.Sqrt(6), *x.Deviation, 1e-12)
	assert.Equal(t, 1, x.NotFinite)
	assert.Equal(t, [2]string{"n", "relu"}, [2]string{empty.Node, empty.Operator})
	assert.Nil(t, empty.Mean)
	assert.Empty(t, half.File, "NumPy has no such type")
	assert.EqualValues(t, 1, *half.Mean)
	assert.Equal(t, [2]float64{-128, 127}, [2]float64{*codes.Least, *codes.Largest})
	assert.Empty(t, lines)
}

func TestRun_statisticsOfChosenRuns(t *testing.T) {
	folder := t.TempDir()
	s, err := Select("", "1", "statistics")
	require.NoError(t, err)
	d := New(folder, s, nil)
	for range 3 {
		r := d.Run("m")
		r.Add(Value{Name: "x"}, floats(1))
		r.End()
	}
	assert.Equal(t, []string{"m_0"}, names(t, folder))
	assert.Equal(t, []string{Index}, names(t, filepath.Join(folder, "m_0")))
}

// TestDump_ends: what cannot be written is told once, and nothing is written afterwards.
func TestDump_ends(t *testing.T) {
	folder := t.TempDir()
	var lines told
	d := New(folder, Selection{}, lines.tell)
	r := d.Run("m")
	require.NoError(t, os.RemoveAll(folder))
	for range 2 {
		r.Add(Value{Name: "x"}, floats(1))
		r.End()
	}
	assert.True(t, d.Ended())
	assert.Nil(t, d.Run("m"))
	assert.Equal(t, told{filepath.Join(folder, "m_0", "x.npy")}, lines)
	missing := New(filepath.Join(folder, "none"), Selection{}, lines.tell)
	assert.Nil(t, missing.Run("m"))
	assert.Len(t, lines, 2)
	var none *Run
	none.Add(Value{Name: "x"}, floats(1))
	none.End()
}

// TestCreate_fullDisk: /dev/full is a disk without room.
func TestCreate_fullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	assert.Error(t, Create("/dev/full", []byte("x")), "the file is there already")
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, Create(path, []byte("a"), []byte("b")))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "ab", string(text))
	assert.ErrorIs(t, Create(path, nil), os.ErrExist)
}
