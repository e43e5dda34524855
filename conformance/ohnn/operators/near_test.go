package operators

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/ohnn/model"
	"github.com/anynpu/anynpu/conformance/suite/numbers"
)

// loaded reads the cases once for all tests, which do not change them.
var loaded = sync.OnceValues(Cases)

// operator is a row of the table that gen/operators.py writes.
type operator struct {
	Op      string
	Inputs  []string
	Outputs int
	Params  []struct {
		Name, Type string
		// what the absence means: a value; nil, a meaning of its own; "required" or "advised", that the absence is refused
		Default any
		Only    bool // no value but the default has a meaning
		Values  []float64
	}
}

func operatorTable(t *testing.T) []operator {
	t.Helper()
	text, err := os.ReadFile("operators.json")
	require.NoError(t, err)
	var table []operator
	require.NoError(t, json.Unmarshal(text, &table))
	return table
}

func TestOperatorTable_namesEveryOperatorAndParameter(t *testing.T) {
	params := map[string]bool{"TENSOR": true, "LAYER_NORM_ELEMENTWISE_AFFINE": true} // no operator takes the latter
	table := operatorTable(t)
	for _, o := range table {
		assert.Contains(t, ohnn.Operators, o.Op)
		for _, p := range o.Params {
			assert.Contains(t, model.DataTypes, p.Type)
			params[o.Op+"_"+p.Name] = true
		}
	}
	assert.Len(t, table, len(ohnn.Operators))
	for name := range ohnn.TensorTypes {
		assert.True(t, params[name], "the table has no parameter %s", name)
	}
	assert.Len(t, params, len(ohnn.TensorTypes))
}

// tensorOf returns the tensor of the parameter in the case, nil if the case leaves it out.
func (c *Case) tensorOf(param string) *model.Tensor {
	for _, i := range c.Params {
		if c.Tensors[i].Param == c.Op+"_"+param {
			return &c.Tensors[i]
		}
	}
	return nil
}

// Every input, output and parameter of every operator has a case that differs in it alone and must be refused.
func TestNear_refusalsCoverEveryInputAndParameter(t *testing.T) {
	cases, err := loaded()
	require.NoError(t, err)
	refused := map[string]int{}
	for _, c := range cases {
		if c.Of != "" && c.Reject != nil {
			refused[c.Op+" "+c.About]++
		}
	}
	for _, o := range operatorTable(t) {
		about := []string{"inputs", "outputs", "parameters", "output 0"}
		for i := range o.Inputs {
			about = append(about, fmt.Sprintf("input %d", i))
		}
		for _, p := range o.Params {
			about = append(about, p.Name)
		}
		for _, a := range about {
			assert.Positive(t, refused[o.Op+" "+a], "%s has no refused case about %s", o.Op, a)
		}
		for _, p := range o.Params { // wrong type, no data, and a wrong count, value or absence
			assert.GreaterOrEqual(t, refused[o.Op+" "+p.Name], 3, "refused cases about %s of %s", p.Name, o.Op)
		}
	}
}

// A case that differs from a judged one does so in what it says it is about.
func TestNear_changesWhatItIsAbout(t *testing.T) {
	cases, err := loaded()
	require.NoError(t, err)
	byID := map[string]*Case{}
	for _, c := range cases {
		byID[c.ID()] = c
	}
	for _, c := range cases {
		if c.Of == "" {
			assert.Empty(t, c.Changed, c.ID())
			continue
		}
		base := byID[c.Op+"/"+c.Of]
		require.NotNil(t, base, c.ID())
		assert.Nil(t, base.Reject, c.ID())
		differs := func(i uint32) bool { return slices.Contains(c.Changed, int(i)) }
		var n int
		switch {
		case c.About == "inputs":
			assert.NotEqual(t, base.In, c.In, c.ID())
		case c.About == "outputs":
			assert.NotEqual(t, base.Out, c.Out, c.ID())
		case c.About == "parameters":
			assert.NotEqual(t, base.Params, c.Params, c.ID())
		case matches(c.About, "input %d", &n):
			assert.True(t, differs(base.In[n]), c.ID())
		case matches(c.About, "output %d", &n):
			assert.True(t, differs(base.Out[n]) || !slices.Equal(base.Out, c.Out), c.ID())
		default:
			assert.Contains(t, ohnn.TensorTypes, c.Op+"_"+c.About, c.ID())
			assert.False(t, reflect.DeepEqual(base.tensorOf(c.About), c.tensorOf(c.About)) &&
				slices.Equal(base.Params, c.Params), c.ID())
		}
	}
}

// What refuses a model decides the code: the API's rules at AddOperation and Finish, the device when it builds, the
// device when it runs.
func TestCases_refusalsHaveOneStageAndItsCode(t *testing.T) {
	cases, err := loaded()
	require.NoError(t, err)
	codes := map[string][]int{"add": {2}, "finish": {1}, "build": {1}, "run": {14}}
	for _, c := range cases {
		if c.Reject != nil {
			assert.Contains(t, codes, c.Reject.Stage, c.ID())
			assert.Equal(t, codes[c.Reject.Stage], c.Reject.Codes, c.ID())
		}
	}
}

func matches(s, format string, n *int) bool {
	k, err := fmt.Sscanf(s, format, n)
	return err == nil && k == 1
}

// Every parameter has a judged case that gives it another value than its default, and one that leaves it out; where its
// absence is refused, a case that is.
func TestCases_everyParameterGivenAndAbsent(t *testing.T) {
	cases, err := loaded()
	require.NoError(t, err)
	given, absent, refused := map[string]bool{}, map[string]bool{}, map[string]bool{}
	byOp := map[string][]*Case{}
	for _, c := range cases {
		byOp[c.Op] = append(byOp[c.Op], c)
	}
	for _, o := range operatorTable(t) {
		for _, p := range o.Params {
			name := o.Op + "_" + p.Name
			for _, c := range byOp[o.Op] {
				x := c.tensorOf(p.Name)
				switch {
				case c.Reject != nil && x == nil:
					refused[name] = refused[name] || c.About == p.Name
				case c.Reject != nil || c.Of != "":
				case x == nil:
					absent[name] = true
				case !sameValue(x.Data, p.Default):
					given[name] = true
				}
			}
			if p.Default == "required" || p.Default == "advised" {
				assert.True(t, refused[name], "%s is left out by no case that must be refused", name)
			} else {
				assert.True(t, absent[name], "%s is left out by no judged case", name)
			}
			assert.True(t, given[name] != p.Only, "%s: judged with another value than %v: %t", name, p.Default, given[name])
		}
	}
}

// A parameter that is given with its default is shown to mean what its absence means, and every value of an enumeration
// is judged.
func TestCases_everyDefaultAndEnumeratedValue(t *testing.T) {
	cases, err := loaded()
	require.NoError(t, err)
	byID := map[string]*Case{}
	shown, judged := map[string]bool{}, map[string]bool{}
	for _, c := range cases {
		byID[c.ID()] = c
	}
	for _, o := range operatorTable(t) {
		for _, c := range cases {
			if c.Op != o.Op || c.Reject != nil {
				continue
			}
			for _, p := range o.Params {
				x := c.tensorOf(p.Name)
				if x == nil {
					continue
				}
				judged[o.Op+"_"+p.Name+x.Data[0].String()] = true
				if c.Of != "" && c.About == p.Name && sameValue(x.Data, p.Default) && byID[c.Op+"/"+c.Of].tensorOf(p.Name) == nil {
					shown[o.Op+"_"+p.Name] = true
				}
			}
		}
		for _, p := range o.Params {
			name := o.Op + "_" + p.Name
			_, word := p.Default.(string)
			list, _ := p.Default.([]any)
			if p.Default != nil && !word && (list == nil || len(list) > 0) { // an empty list cannot be given
				assert.True(t, shown[name], "no case gives %s its default %v where a judged case leaves it out", name, p.Default)
			}
			for _, v := range p.Values {
				assert.True(t, judged[name+numbers.Real(v).String()], "%s: no case is judged with %v", name, v)
			}
		}
	}
}

// sameValue compares a parameter's data with a default of the table.
func sameValue(data []numbers.Number, value any) bool {
	switch v := value.(type) {
	case []any:
		return len(data) == len(v) && slices.EqualFunc(data, v, func(n numbers.Number, x any) bool { return n.Real == x })
	case float64:
		return len(data) == 1 && float32(data[0].Real) == float32(v)
	case bool:
		return len(data) == 1 && (data[0].Real != 0) == v
	}
	return false
}

// The standard tolerances; a case with a wider one must argue for it, and no other case argues.
func TestCases_widerTolerancesAreArgued(t *testing.T) {
	cases, err := loaded()
	require.NoError(t, err)
	for _, c := range cases {
		if c.Reject != nil {
			continue
		}
		rel, abs := 1e-5, 1e-6
		if slices.ContainsFunc(c.Out, func(o uint32) bool { return c.Tensors[o].Type == "float16" }) {
			rel, abs = 1e-3, 1e-3
		}
		if c.Rel > rel || c.Abs > abs || c.Steps > 1 {
			assert.Greater(t, len(strings.Fields(c.Why)), 5, "%s: tolerance %v relative, %v absolute, %d steps without an "+
				"argument", c.ID(), c.Rel, c.Abs, c.Steps)
		} else {
			assert.Empty(t, c.Why, "%s argues for the standard tolerance", c.ID())
		}
	}
}

func TestNear_apply(t *testing.T) {
	base := &Case{Op: "ADD", Name: "plain", In: []uint32{0},
		Tensors: []model.Tensor{{Type: "int8", Dims: []int32{2}, Feed: &model.Body{Dims: []int32{2},
			Data: []numbers.Number{numbers.Int(1), numbers.Int(2)}}}}}
	n := &near{Op: "ADD", Of: "plain", Name: "x", In: &[]uint32{0, 1}, Tensors: map[int]map[string]json.RawMessage{
		0: {"type": json.RawMessage(`"int16"`), "feed": json.RawMessage("null")}, 1: {"data": json.RawMessage("[7]")}}}
	c, err := n.apply(base)
	require.NoError(t, err)
	assert.Equal(t, "ADD/plain/x", c.ID())
	assert.Equal(t, []model.Tensor{{Type: "int16", Dims: []int32{2}}, {Data: []numbers.Number{numbers.Int(7)}}}, c.Tensors)
	assert.Equal(t, []uint32{0, 1}, c.In)
	assert.Equal(t, []int{0, 1}, c.Changed)
	assert.Equal(t, []model.Tensor{{Type: "int8", Dims: []int32{2},
		Feed: &model.Body{Dims: []int32{2}, Data: []numbers.Number{numbers.Int(1), numbers.Int(2)}}}}, base.Tensors,
		"the base stays as it is")
	n.Tensors = map[int]map[string]json.RawMessage{3: {}}
	_, err = n.apply(base)
	assert.ErrorContains(t, err, "tensor 3")
	n.Tensors = map[int]map[string]json.RawMessage{0: {"size": json.RawMessage("1")}}
	_, err = n.apply(base)
	assert.ErrorContains(t, err, "size")
}
