package operations

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/conformance/nnapi/model"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// seen is what the cases of an operation show.
type seen map[string]bool

// covered notes what one case shows.
func (s seen) covered(c *Case) {
	m, op := c.spec()
	f := nnapi.FormOf(m, op)
	if f == nil {
		return
	}
	row := [3]string{}
	note := func(a *nnapi.Arguments, of []model.Operand) {
		for i := range of {
			arg, o := a.At(i, len(of)), &of[i]
			if v := arg.Type.Variable; v >= 0 && !o.None {
				row[v] = o.Type
			}
			s[fmt.Sprint(arg.Name, " given ", !o.None)] = true
			if model.Types[o.Type].Scalar && len(o.Data) == 1 {
				s[fmt.Sprint(arg.Name, " ", o.Data[0])] = true
			}
		}
		s[fmt.Sprint(f.Name, " ", a == &f.Inputs, " ", len(of))] = true
	}
	note(&f.Inputs, c.In)
	note(&f.Outputs, c.Out)
	s[fmt.Sprint(row)] = true
}

// Every operation is judged in each choice of types, in each form with each number of optional arguments, with and
// without arguments that may have no value, with both layouts, and with each fused activation.
func TestCases_coverTheSignatures(t *testing.T) {
	cases, err := Cases()
	require.NoError(t, err)
	of := map[string]seen{}
	for _, c := range cases {
		if of[c.Op] == nil {
			of[c.Op] = seen{}
		}
		if c.Telling() || c.Op == "CAST" { // to the same type: the result is the input
			of[c.Op].covered(c)
		}
	}
	for code := range nnapi.OperationCode(nnapi.Operations) {
		s, sig := of[code.String()], nnapi.SignatureOf(code)
		if code == nnapi.If || code == nnapi.While {
			continue
		}
		for _, row := range sig.Types {
			assert.True(t, s[fmt.Sprint(words(row.Of))], "%v: types %v", code, words(row.Of))
		}
		for i := range sig.Forms {
			f := &sig.Forms[i]
			for inputs, a := range map[bool]*nnapi.Arguments{true: &f.Inputs, false: &f.Outputs} {
				for _, n := range a.Counts {
					shown := slices.ContainsFunc([]int{n, n + 1, n + 2}, func(k int) bool {
						return s[fmt.Sprint(f.Name, " ", inputs, " ", k)] && (k == n || a.Repeated >= 0)
					})
					assert.True(t, shown, "%v %s: %d arguments (inputs %v)", code, f.Name, n, inputs)
				}
				for _, arg := range a.List {
					switch {
					case arg.Omitted:
						both := s[arg.Name+" given false"] && s[arg.Name+" given true"]
						assert.True(t, both, "%v: %s given and omitted", code, arg.Name)
					case arg.Name == "layout" || arg.Name == "time major" || arg.Name == "merge outputs":
						assert.True(t, s[arg.Name+" 0"] && s[arg.Name+" 1"], "%v: %s false and true", code, arg.Name)
					case arg.Name == "activation":
						for k := range 4 {
							assert.True(t, s[fmt.Sprint(arg.Name, " ", k)] || k == 2 && s[arg.Name+" 4"], "%v: activation %d", code, k)
						}
					}
				}
			}
		}
	}
}
