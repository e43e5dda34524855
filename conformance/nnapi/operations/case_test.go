package operations

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/anynpu/anynpu/conformance/nnapi"
	"github.com/anynpu/anynpu/conformance/nnapi/model"
	"github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/internal/leak"
)

// fewest is the number of counting cases that every operation must have.
const fewest = 8

func TestCases_coverEveryOperation(t *testing.T) {
	cases, err := Cases()
	require.NoError(t, err)
	ids := map[string]bool{}
	for _, c := range cases {
		assert.False(t, ids[c.ID()], "two cases %s", c.ID())
		ids[c.ID()] = true
		assert.Contains(t, api.Operations, c.Op)
		for _, o := range append(c.In, c.Out...) {
			assert.Contains(t, model.Types, o.Type, c.ID())
		}
	}
	counts := Counts(cases)
	for op := range api.Operations {
		assert.GreaterOrEqual(t, counts[op], fewest, "%s", op)
	}
}

func TestMain(m *testing.M) { os.Exit(leak.Run(m, nil)) }

// What the signature table has no word for is refused for every operation, and each choice of types is taken by the
// first feature level that has it.
func TestVariations_coverEveryOperation(t *testing.T) {
	cases, err := Cases()
	require.NoError(t, err)
	ids := map[string]bool{}
	for _, of := range byOperation(cases) {
		op, refused, levels := of[0].Op, 0, 0
		for _, v := range variations(of) {
			assert.False(t, ids[v.ID()], "two variations %s", v.ID())
			ids[v.ID()] = true
			switch {
			case v.Level == 0:
				refused++
			case !v.Refused:
				levels++
			}
		}
		if op == "IF" || op == "WHILE" {
			continue
		}
		code, _ := codeOf(op)
		sig := nnapi.SignatureOf(code)
		assert.GreaterOrEqual(t, refused, 2+len(sig.Forms[0].Inputs.List), op)
		assert.Equal(t, len(sig.Types), levels, "%s: a case for each choice of types at its level", op)
	}
}
