package graphs

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/anynpu/anynpu/core/op" // registers the operators
	"github.com/anynpu/anynpu/core/tensor"
)

func TestCases_readBackAndCompare(t *testing.T) {
	cases, err := Cases()
	require.NoError(t, err)
	open, wider := 0, 0
	for _, c := range cases {
		if c.Rel > StandardRel || c.Abs > StandardAbs {
			wider++
			assert.NotEmpty(t, c.Why, "%s: the tolerance %v + %v x |expected| is wider than the standard one without an "+
				"argument", c.Name, c.Abs, c.Rel)
		} else {
			assert.Empty(t, c.Why, "%s argues for the standard tolerance", c.Name)
		}
		assert.NoError(t, c.Compare(c.Want), c.Name)
		assert.LessOrEqual(t, len(c.Graph.Nodes), 30, c.Name)
		for _, v := range c.Graph.In {
			if !c.Graph.Fact(v).Shape.Static() {
				open++
				break
			}
		}
		b, err := c.Encode()
		require.NoError(t, err, c.Name)
		d, err := Decode(b)
		require.NoError(t, err, c.Name)
		assert.Equal(t, c.Want, d.Want, c.Name)
		assert.Equal(t, []any{c.Rel, c.Abs, c.Why}, []any{d.Rel, d.Abs, d.Why}, c.Name)
	}
	assert.Greater(t, open, 50, "graphs with an open dimension")
	assert.Less(t, 10*wider, len(cases), "graphs with a wider tolerance")
}

func TestCompare_findsAWrongElement(t *testing.T) {
	cases, err := Cases()
	require.NoError(t, err)
	c := *cases[0]
	wrong := c.Want[0]
	wrong.Data = append([]byte(nil), wrong.Data...)
	wrong.Data[len(wrong.Data)-1] ^= 0x40 // an exponent bit of the last element
	assert.ErrorContains(t, c.Compare(append([]tensor.Tensor{wrong}, c.Want[1:]...)), "element")
	assert.Error(t, c.Compare(nil))
}

func TestDecode_refusesDamage(t *testing.T) {
	cases, err := Cases()
	require.NoError(t, err)
	b, err := cases[0].Encode()
	require.NoError(t, err)
	for _, n := range []int{0, 8, 24, len(b) / 2, len(b) - 1} {
		_, err := Decode(b[:n])
		assert.Error(t, err, "%d bytes", n)
	}
}
