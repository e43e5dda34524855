package onnx

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
)

func entry(key, value string) []byte {
	return metaField(nil, 14, metaField(metaField(nil, 1, []byte(key)), 2, []byte(value)))
}

func edited(t *testing.T, model []byte, edits map[string]*string) []byte {
	var b bytes.Buffer
	require.NoError(t, EditMetadata(&b, bytes.NewReader(model), int64(len(model)), edits))
	return b.Bytes()
}

// TestEditMetadata_otherBytesStay composes a model of parts, of which the order, fields that ONNX does not have and
// lengths that are written longer than need be would not survive being parsed and written anew.
func TestEditMetadata_otherBytesStay(t *testing.T) {
	a, b, c := "1", "2", ""
	// a long varint, fixed 32, fixed 64
	strange := []byte{0xf8, 0x3f, 0x81, 0x00, 0xfd, 0x3f, 1, 2, 3, 4, 0xf9, 0x3f, 1, 2, 3, 4, 5, 6, 7, 8}
	graph := metaField(nil, 7, bytes.Repeat([]byte{0xc5}, 100000))
	// a length of two bytes
	author := []byte{14<<3 | 2, 0x8c, 0x00, 0x0a, 6, 'a', 'u', 't', 'h', 'o', 'r', 0x12, 2, 'm', 'e'}
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	model := join(entry("k", "old"), strange, graph, author, entry("gone", "x"), entry("k", "older"))
	for name, test := range map[string]struct {
		edits map[string]*string
		want  []byte
	}{
		"nothing":  {nil, model},
		"replaced": {map[string]*string{"k": &a}, join(entry("k", "1"), strange, graph, author, entry("gone", "x"))},
		"removed":  {map[string]*string{"gone": nil}, join(entry("k", "old"), strange, graph, author, entry("k", "older"))},
		"all":      {map[string]*string{"k": nil, "gone": nil, "none": nil}, join(strange, graph, author)},
		"added": {map[string]*string{"z": &a, "y": &b, "e": &c}, join(model, entry("e", ""), entry("y", "2"),
			entry("z", "1"))},
	} {
		assert.Equal(t, test.want, edited(t, model, test.edits), name)
	}
}

func TestEditMetadata_isReadBack(t *testing.T) {
	v := "[1, 2]"
	data := edited(t, ownedNode(nil, "anynpu.value.y.shape", "[1]"), map[string]*string{"anynpu.value.y.shape": &v,
		"anynpu.name": &v})
	s, err := Survey(data)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"anynpu.value.y.shape": v, "anynpu.name": v}, s.Meta)
}

func TestEditMetadata_refusesDamage(t *testing.T) {
	v := "v"
	model := ownedNode(nil, "k", "v")
	for name, data := range map[string][]byte{
		"cut off": model[:len(model)-2], "a group": append(bytes.Clone(model), 0x0b, 0x0c),
		"a tag of 0":              append(bytes.Clone(model), 0),
		"a length beyond the end": append(bytes.Clone(model), 0x3a, 0xff, 0xff, 0xff, 0xff, 0x7f),
		"a damaged entry":         append(bytes.Clone(model), 0x72, 1, 0x0a),
		"a length that is no number": append(bytes.Clone(model), 0x3a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
			0xff, 0xff),
	} {
		err := EditMetadata(&bytes.Buffer{}, bytes.NewReader(data), int64(len(data)), map[string]*string{"k": &v})
		assert.Equal(t, fault.File, fault.KindOf(err), "%s: %v", name, err)
	}
	err := EditMetadata(&bytes.Buffer{}, bytes.NewReader(model), int64(len(model))+5, map[string]*string{"k": &v})
	assert.Error(t, err, "shorter than it was said to be")
}

func FuzzEditMetadata(f *testing.F) {
	f.Add(ownedNode(nil, "k", "v"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var b, again bytes.Buffer
		v := "new"
		if EditMetadata(&b, bytes.NewReader(data), int64(len(data)), map[string]*string{"k": &v}) != nil {
			return
		}
		require.NoError(t, EditMetadata(&again, bytes.NewReader(b.Bytes()), int64(b.Len()), map[string]*string{"k": &v}))
		require.Equal(t, b.Bytes(), again.Bytes(), "an edit that is made twice")
	})
}
