package device

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
)

// named is a device of which only the id matters.
type named struct {
	Device
	id string
}

func (n named) Info() Info { return Info{ID: n.id} }

func TestRegistry_keepsOrderAndIDs(t *testing.T) {
	var r Registry
	assert.Empty(t, r.List())
	for _, id := range []string{"b", "a", "c"} {
		require.NoError(t, r.Register(named{id: id}))
	}
	assert.Equal(t, fault.Argument, fault.KindOf(r.Register(named{id: "a"})))
	assert.Equal(t, fault.Argument, fault.KindOf(r.Register(named{})))
	before := r.List()
	require.NoError(t, r.Register(named{id: "d"}))
	assert.Len(t, before, 3, "a list handed out never changes")
	var ids []string
	for _, d := range r.List() {
		ids = append(ids, d.Info().ID)
	}
	assert.Equal(t, []string{"b", "a", "c", "d"}, ids)
}

func TestPlacement_textAndJSON(t *testing.T) {
	p := &Placement{
		Model: "m",
		Parts: []PartPlacement{{Device: "npu", Nodes: 1}, {Device: "cpu", Nodes: 2}},
		Nodes: []NodePlacement{
			{Origin: 0, Op: "conv", Name: "stem", Device: "npu"},
			{Origin: 1, Op: "mul", Within: "gelu", Device: "cpu", Part: 1, Refused: []Refusal{{"npu", "no kernel"},
				{"dsp", "float32"}}},
			{Origin: -1, Op: "transpose", Device: "cpu", Part: 1},
		},
	}
	assert.Equal(t, "3 nodes in 2 parts (npu: 1, cpu: 2), 1 fallback", p.Summary())
	for i, want := range []string{`operator 0 conv "stem": npu`,
		"operator 1 mul of gelu: cpu (npu: no kernel; dsp: float32)", "transpose: cpu"} {
		assert.Equal(t, want, p.Nodes[i].String())
	}
	var back Placement
	require.NoError(t, json.Unmarshal(p.JSON(), &back))
	assert.Equal(t, *p, back)
}
