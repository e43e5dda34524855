package lower

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/proto"
)

// A row for each operator, with attributes from the schemas; the versions are in ONNX's changelog.
func TestOperators_rows(t *testing.T) {
	seen := map[operatorKey]*Operator{}
	for _, o := range Operators() {
		key := operatorKey{o.Domain, o.Name}
		require.Nil(t, seen[key], "%s has two rows", o.Name)
		seen[key] = &o
		assert.Positive(t, o.Since, o.Name)
		_, listed := proto.AttributesOf()[o.key()]
		if o.Domain == "ai.onnx.preview" { // its operators look at their attributes themselves
			assert.False(t, listed, o.key())
			continue
		}
		assert.True(t, listed, "%s: not in zattributes.txt or zmicrosoft.txt", o.key())
	}
	for name, since := range map[string]int64{"Relu": 6, "Conv": 1, "Add": 7, "Reshape": 5, "Acosh": 9, "Gelu": 20,
		"RMSNormalization": 23, "SequenceMap": 17, "Split": 2, "Upsample": 7, "Scan": 8} {
		o := seen[operatorKey{"", name}]
		require.NotNil(t, o, name)
		assert.Equal(t, since, o.Since, name)
	}
	softmax := seen[operatorKey{"", "Softmax"}].Attributes()["axis"]
	require.Len(t, softmax, 1)
	assert.EqualValues(t, proto.AttrInt, softmax[0].Type)
}
