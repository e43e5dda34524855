package networks

import (
	"archive/zip"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m, mem.LiveCounters)) }

func TestModel_completeAndTheSameEachTime(t *testing.T) {
	c, err := Open("../../../bench/networks.zip")
	require.NoError(t, err)
	defer c.Close()
	assert.Len(t, c.Names(), 26)
	for _, name := range []string{"lenet_28", "encoder_256x4_s128", "mobilenet_v2_224_qdq"} {
		model, err := c.Model(name)
		require.NoError(t, err)
		again, err := c.Model(name)
		require.NoError(t, err)
		assert.Equal(t, model, again, name)
		w := mem.NewWeights()
		m, err := onnx.Import(model, onnx.Options{Weights: w})
		require.NoError(t, err, name)
		for _, v := range m.Graph.Values {
			k := v.Fact.Const
			if k == nil || v.Fact.DType != tensor.Float32 {
				continue
			}
			n, _ := v.Fact.Shape.Count()
			x, err := tensor.ReadFloat32s(k.Data, int(n))
			require.NoError(t, err)
			for _, f := range x {
				require.False(t, math.IsNaN(float64(f)) || math.Abs(float64(f)) > 10, "%s %q: %v", name, v.Name, f)
			}
		}
		w.Release()
	}
	_, err = c.Model("absent")
	assert.Equal(t, fault.File, fault.KindOf(err))
}

func TestModel_damaged(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name   string
		tensor string
		kind   fault.Kind
	}{
		{"cut off", "\x08\x40\x10\x01\x42\x7f", fault.File},
		{"no tag", "\xff", fault.File},
		{"sizes cut off", "\x0a\x01\xff\x10\x01", fault.File},
		{"negative size", "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x01", fault.File},
		{"huge", "\x08\xff\xff\xff\xff\x0f\x10\x01", fault.File},
		{"strings", "\x08\x40\x10\x08", fault.Unsupported},
	} {
		_, err := filled([]byte(c.tensor), rnd)
		assert.Equal(t, c.kind, fault.KindOf(err), "%s: %v", c.name, err)
	}
	path := filepath.Join(t.TempDir(), "x.zip")
	f, err := os.Create(path)
	require.NoError(t, err)
	z := zip.NewWriter(f)
	w, err := z.Create("bad.onnx")
	require.NoError(t, err)
	_, err = w.Write([]byte("\x3a\x05\x2a\x03\x08"))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, f.Close())
	c, err := Open(path)
	require.NoError(t, err)
	defer c.Close()
	_, err = c.Model("bad")
	assert.ErrorContains(t, err, "network bad")
	_, err = Open(filepath.Join(t.TempDir(), "none.zip"))
	assert.Equal(t, fault.File, fault.KindOf(err))
}

func TestFilled_keepsValuesAndMakesVectorsSmall(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	whole := []byte("\x08\x01\x10\x01\x4a\x04abcd") // one float32 with raw data
	got, err := filled(whole, rnd)
	require.NoError(t, err)
	assert.Equal(t, whole, got)
	data, err := values(1, []int64{100}, rnd)
	require.NoError(t, err)
	x, err := tensor.ReadFloat32s(data, 100)
	require.NoError(t, err)
	for _, f := range x {
		assert.True(t, f >= 0.01 && f <= 0.02, "%v", f)
	}
	data, err = values(3, []int64{70}, rnd)
	require.NoError(t, err)
	assert.Equal(t, make([]byte, 70), data, "zero points")
}
