package onnx

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
)

func metaField(b []byte, n protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), v)
}

func metaNumber(b []byte, n protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), v)
}

// ownedNode is y = acme.Own(x), x of [height, 3] and y declared as declared, with these metadata.
func ownedNode(declared []byte, meta ...string) []byte {
	tensor := func(name string, dims ...[]byte) []byte {
		var shape []byte
		for _, d := range dims {
			shape = metaField(shape, 1, d)
		}
		return metaField(metaField(nil, 1, []byte(name)), 2, metaField(nil, 1, metaField(metaNumber(nil, 1, 1), 2, shape)))
	}
	height, three := metaField(nil, 2, []byte("height")), metaNumber(nil, 1, 3)
	node := metaField(metaField(metaField(nil, 1, []byte("x")), 2, []byte("y")), 4, []byte("Own"))
	g := metaField(metaField(metaField(nil, 1, metaField(node, 7, []byte("acme"))), 2, []byte("g")), 11,
		tensor("x", height, three))
	if declared == nil {
		declared = metaField(nil, 1, []byte("y"))
	}
	b := metaField(metaField(metaNumber(nil, 1, 8), 7, metaField(g, 12, declared)), 8, metaNumber(nil, 2, 17))
	for i := 0; i < len(meta); i += 2 {
		b = metaField(b, 14, metaField(metaField(nil, 1, []byte(meta[i])), 2, []byte(meta[i+1])))
	}
	return b
}

func importOwned(t *testing.T, data []byte) (*Model, error) {
	w := mem.NewWeights()
	t.Cleanup(w.Release)
	return Import(data, Options{Weights: w})
}

func TestImport_metadataSayWhatACustomOperatorMakes(t *testing.T) {
	_, err := importOwned(t, ownedNode(nil))
	assert.ErrorContains(t, err, "anynpu.value.y.shape")
	for value, want := range map[string]string{`"as input 0"`: "[height,3]", `as input 0`: "[height,3]",
		`["height", 7]`: "[height,7]", `[4]`: "[4]"} {
		m, err := importOwned(t, ownedNode(nil, "anynpu.value.y.shape", value))
		require.NoError(t, err, value)
		f := m.Graph.Fact(m.Graph.Out[0])
		assert.Equal(t, want, m.ShapeText(f.Shape), value)
		assert.Equal(t, "float32", f.DType.String(), "that of the input")
		assert.Empty(t, m.Meta.Warnings)
		o, ok := m.Graph.Nodes[0].Op.(*op.Custom)
		assert.True(t, ok && (len(o.Like) == 1) == (want == "[height,3]"), "%v", o.Like)
	}
	m, err := importOwned(t, ownedNode(nil, "anynpu.value.y.shape", "[2]", "anynpu.value.y.type", "int64"))
	require.NoError(t, err)
	assert.Equal(t, "int64", m.Graph.Fact(m.Graph.Out[0]).DType.String())
}

func TestImport_metadataThatDoNotFit(t *testing.T) {
	for value, want := range map[string]string{
		`"as input 1"`: "input 1 of 1", `["width", 1]`: `"width"; there is: height`, `[0]`: "neither a size nor",
		`"like x"`: "as input 0", `7`: "shape: 7: want ",
	} {
		_, err := importOwned(t, ownedNode(nil, "anynpu.value.y.shape", value))
		assert.ErrorContains(t, err, want, value)
		assert.ErrorContains(t, err, "anynpu.value.y.shape", value)
	}
	_, err := importOwned(t, ownedNode(nil, "anynpu.dim.height", "0"))
	assert.ErrorContains(t, err, "anynpu.dim.height")
}

func TestImport_sizesOfOpenDimensions(t *testing.T) {
	m, err := importOwned(t, ownedNode(nil, "anynpu.dim.height", "5", "anynpu.value.y.shape", `["height"]`))
	require.NoError(t, err)
	assert.Equal(t, "[5,3]", m.ShapeText(m.Graph.Fact(m.Graph.In[0]).Shape))
	assert.Equal(t, "[5]", m.ShapeText(m.Graph.Fact(m.Graph.Out[0]).Shape))
	assert.Empty(t, m.Symbols)

	m, err = importOwned(t, ownedNode(nil, "anynpu.dim.width", "5", "anynpu.value.z.shape", "[1]", "anynpu.value.y.shape",
		"[1]", "anynpu.input.q.mean", "[1]"))
	require.NoError(t, err)
	assert.Equal(t, []string{
		`model: metadata for an input "q", which it does not have; there is: x`,
		`model: metadata for an open dimension "width", which it does not have`,
		`model: metadata for a value "z", which no operator of a foreign domain makes`,
	}, m.Meta.Warnings)
}
