package opcase

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

func TestAll_hasEveryOperator(t *testing.T) {
	count := map[string]int{}
	for _, c := range All() {
		count[graph.NameOf(c.Op)]++
	}
	for _, name := range graph.OpNames() {
		_, excused := Without[name]
		assert.Equal(t, excused, count[name] == 0, "%s has %d cases; listed as without: %v", name, count[name], excused)
		delete(count, name)
	}
	assert.Empty(t, count)
}

// The graphs of all cases are whole: what the reference says of them is for those who run them.
func TestAll_areGraphs(t *testing.T) {
	for _, c := range All() {
		_, _, err := c.Graph()
		require.NoError(t, err, "%s %s", graph.NameOf(c.Op), c.Types())
	}
}

func TestTyped_changesTheMainType(t *testing.T) {
	c := One(nil, Real(2), Integers(2), Bound(1.5))
	list := c.Typed()
	require.Len(t, list, 1+len(realKinds)+len(plainKinds))
	assert.Equal(t, "float32[2] int32[2] =float32[]", list[0].Types())
	assert.Equal(t, "float16[2] int32[2] =float16[]", list[1].Types())
	int8s := list[4]
	assert.Equal(t, "int8[2]q int32[2] =int8[]q", int8s.Types())
	assert.Equal(t, []byte{25}, int8s.In[2].Constant) // 1.5 * 16 + 1
	assert.Equal(t, "float32[2] int32[2] =float32[]", c.Types(), "the case itself is unchanged")
	assert.Len(t, One(nil, Integers(2)).Typed(), len(plainKinds))
	assert.Len(t, One(nil, Bools(2)).Typed(), 1+len(realKinds)+len(plainKinds))
	assert.Equal(t, "bool[2] float16[2]", One(nil, Bools(2), Real(2)).Typed()[1].Types())
	assert.Len(t, One(nil, Of(tensor.Uint8, 2)).Typed(), 1)
}

func TestValues_ofQuantizedTypes(t *testing.T) {
	typ := tensor.T(tensor.Uint8, 3)
	typ.Quant = tensor.PerTensor(0.5, 3)
	assert.Equal(t, []byte{0, 3, 6}, Values(typ, 3, 0)) // -2, -0.25 and 1.5 are -1, 2.5 and 6
}
