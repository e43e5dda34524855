package operations

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// TestScalars_ofEveryOperation: every argument of the API's table that is a scalar gets other values as an input, and a
// wrong one unless it takes every value.
func TestScalars_ofEveryOperation(t *testing.T) {
	cases, err := Cases()
	require.NoError(t, err)
	tried := map[string]bool{}
	for _, list := range byOperation(cases) {
		for _, s := range scalarForms(list) {
			for _, p := range s.places() {
				tried[p.key()] = true
				_, wrong := wrongOf(p.c.Op, p.name)
				assert.True(t, wrong || anyScalars[p.name] || anyScalars[p.key()], "%s has no wrong value", p.key())
			}
		}
	}
	for code := range nnapi.OperationCode(nnapi.Operations) {
		if code == nnapi.If || code == nnapi.While {
			continue // whose scalars are models
		}
		for _, f := range nnapi.SignatureOf(code).Forms {
			for _, a := range f.Inputs.List {
				single := a.Type.Variable == nnapi.FloatScalar || a.Type.Variable == nnapi.FixedType && a.Type.Fixed.IsScalar()
				if single {
					assert.True(t, tried[code.String()+"/"+a.Name], "%v, %s: %s is no input", code, f.Name, a.Name)
				}
			}
		}
	}
}
