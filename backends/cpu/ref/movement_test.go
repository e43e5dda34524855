package ref

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

type moveTensor struct {
	DType string        `json:"dtype"`
	Dims  []int64       `json:"dims"`
	Data  []json.Number `json:"data"`
}

type moveCase struct {
	Op     string          `json:"op"`
	Note   string          `json:"note"`
	Attrs  json.RawMessage `json:"attrs"`
	In     []*moveTensor   `json:"in"`
	Out    []*moveTensor   `json:"out"`
	Tol    float64         `json:"tol"`
	Retype []int           `json:"retype"`
	Fail   string          `json:"fail"`
}

// name says which case failed: the operator and its place in the file.
func (c moveCase) name(i int) string { return fmt.Sprintf("%d %s %s %s", i, c.Op, c.Attrs, c.Note) }

// outputs is how many outputs the node has; a failing case does not list them.
func (c moveCase) outputs() int {
	if c.Op == "detection_post_process" {
		return 4
	}
	return max(1, len(c.Out))
}

func (c moveCase) op(t *testing.T) graph.Op {
	t.Helper()
	o, ok := graph.NewOp(c.Op)
	require.True(t, ok, c.Op)
	d := json.NewDecoder(bytes.NewReader(c.Attrs))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(o))
	return o
}

var dtypeByName = func() map[string]tensor.DType {
	m := map[string]tensor.DType{}
	for d := tensor.Bool; d <= tensor.Complex128; d++ {
		m[d.String()] = d
	}
	return m
}()

// tensor returns the vector in its own type, or in d when that is a type; bool takes the lowest bit.
func (v *moveTensor) tensor(t *testing.T, d tensor.DType) tensor.Tensor {
	t.Helper()
	if v == nil {
		return tensor.Tensor{}
	}
	lowest := d == tensor.Bool
	if d == tensor.Invalid {
		d = dtypeByName[strings.Replace(v.DType, "bool_", "bool", 1)]
	}
	y := tensor.New(d, v.Dims...)
	require.Equal(t, y.Count(), len(v.Data))
	for i, n := range v.Data {
		s := string(n)
		switch {
		case d.IsFloat():
			f, err := n.Float64()
			require.NoError(t, err)
			tensor.PutFloat(d, y.Data, i, f, true)
		default:
			k, err := strconv.ParseInt(s, 10, 64)
			require.NoError(t, err)
			if lowest {
				k &= 1
			}
			tensor.PutInt(d, y.Data, i, k)
		}
	}
	return y
}

func readMoves(t *testing.T, path string) []moveCase {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var cases []moveCase
	require.NoError(t, json.Unmarshal(data, &cases))
	require.NotEmpty(t, cases)
	return cases
}

// assertMoved compares exactly, or within tol relative to the larger of 1 and the expected number.
func assertMoved(t *testing.T, want, got tensor.Tensor, tol float64, msg string) {
	t.Helper()
	require.Equal(t, want.DType, got.DType, msg)
	require.Equal(t, append([]int64{}, want.Dims...), append([]int64{}, got.Dims...), msg)
	if tol == 0 || !want.DType.IsFloat() {
		require.Equal(t, want.Data, got.Data, msg)
		return
	}
	for i := range want.Count() {
		w, g := tensor.FloatAt(want.DType, want.Data, i), tensor.FloatAt(got.DType, got.Data, i)
		require.LessOrEqual(t, math.Abs(w-g), tol*max(1, math.Abs(w)), "%s: element %d: want %v, got %v", msg, i, w, g)
	}
}

// Every vector gives its expected result, in every element type where it only moves elements.
func TestMovement_vectors(t *testing.T) {
	for i, c := range readMoves(t, "testdata/movement/movement.json") {
		t.Run(fmt.Sprintf("%d/%s", i, c.Op), func(t *testing.T) { checkMoves(t, c, c.name(i)) })
	}
}

func checkMoves(t *testing.T, c moveCase, msg string) {
	t.Helper()
	o := c.op(t)
	in := make([]tensor.Tensor, len(c.In))
	for k, v := range c.In {
		in[k] = v.tensor(t, tensor.Invalid)
	}
	got, err := Compute(o, in, make([]tensor.Type, c.outputs()))
	if c.Fail != "" {
		require.Error(t, err, msg)
		require.Equal(t, c.Fail, fault.KindOf(err).String(), "%s: %v", msg, err)
		return
	}
	require.NoError(t, err, msg)
	require.Len(t, got, len(c.Out), msg)
	for k, v := range c.Out {
		assertMoved(t, v.tensor(t, tensor.Invalid), got[k], c.Tol, msg)
	}
	if len(c.Retype) > 0 {
		retyped(t, c, o, in, msg)
	}
}

// retyped runs a case with the moved elements in each type, and with quantized ones.
func retyped(t *testing.T, c moveCase, o graph.Op, in []tensor.Tensor, msg string) {
	t.Helper()
	for d := tensor.Bool; d.Valid(); d++ {
		if d == tensor.Complex64 || d == tensor.Complex128 || d == tensor.Float8E8M0 {
			continue // written otherwise
		}
		small := d.IsFloat() && d.Bits() < 8
		if small && !fitsFloat4(c) || (d == tensor.Bool || d.Bits() == 2) && c.Op == "unique" {
			continue // the values would become others
		}
		args := append([]tensor.Tensor(nil), in...)
		for _, k := range c.Retype {
			if k < len(args) && !args[k].Absent() {
				args[k] = c.In[k].tensor(t, d)
			}
		}
		got, err := Compute(o, args, make([]tensor.Type, len(c.Out)))
		require.NoError(t, err, "%s: %v", msg, d)
		for k, v := range c.Out {
			if v.DType == c.In[c.Retype[0]].DType {
				assertMoved(t, v.tensor(t, d), got[k], 0, fmt.Sprintf("%s: %v", msg, d))
			}
		}
		if d != tensor.Int8 && d != tensor.Uint8 {
			continue
		}
		q := tensor.PerTensor(0.5, 3)
		switch c.Op {
		case "pad", "trilu", "space_to_batch", "center_crop_pad":
			q.Zero[0] = 0 // they fill with the real 0, in the vectors with the number 0
		}
		for _, k := range c.Retype {
			if k < len(args) && !args[k].Absent() {
				args[k].Quant = q
			}
		}
		got, err = Compute(o, args, make([]tensor.Type, len(c.Out)))
		require.NoError(t, err, "%s: quantized", msg)
		for k, v := range c.Out {
			if v.DType == c.In[c.Retype[0]].DType {
				assertMoved(t, v.tensor(t, d), got[k], 0, msg+": quantized")
				require.Equal(t, q, got[k].Quant, msg)
			}
		}
	}
}

// fitsFloat4 reports whether all values exist in float4: 5 and 7 do not.
func fitsFloat4(c moveCase) bool {
	for _, k := range c.Retype {
		if k < len(c.In) && c.In[k] != nil {
			for _, n := range c.In[k].Data {
				if n == "5" || n == "7" {
					return false
				}
			}
		}
	}
	return true
}

// What inference says before values, sizes, ranks or types are known must hold for the result.
func TestMovement_inferenceIsSound(t *testing.T) {
	for i, c := range readMoves(t, "testdata/movement/movement.json") {
		if c.Fail != "" {
			continue
		}
		o, msg := c.op(t), c.name(i)
		for level := range 5 {
			in := make([]tensor.Fact, len(c.In))
			for k, v := range c.In {
				if v == nil {
					continue
				}
				x := v.tensor(t, tensor.Invalid)
				in[k] = tensor.Fact{Type: x.Type(), Const: tensor.NewConst(x.Data)}
				switch level {
				case 1: // values unknown
					in[k].Const = nil
				case 2: // sizes unknown
					in[k].Const, in[k].Shape = nil, tensor.AnyOfRank(len(x.Dims))
				case 3: // rank unknown
					in[k].Const, in[k].Shape = nil, tensor.AnyShape()
				case 4: // the data's sizes are unknown, the values of the others known
					if k == 0 {
						in[k].Const, in[k].Shape = nil, tensor.AnyOfRank(len(x.Dims))
					}
				}
			}
			facts, err := o.Infer(in, make([]tensor.Type, len(c.Out)))
			require.NoError(t, err, "%s: level %d", msg, level)
			require.Len(t, facts, len(c.Out), msg)
			for k, v := range c.Out {
				want := v.tensor(t, tensor.Invalid)
				require.Equal(t, want.DType, facts[k].DType, "%s: level %d", msg, level)
				_, ok := facts[k].Shape.Merge(tensor.Of(want.Dims...))
				require.True(t, ok, "%s: level %d: %v is not %v", msg, level, facts[k].Shape, want.Dims)
				if level == 0 && !graph.TraitsOf(o).DataDependent {
					require.True(t, facts[k].Shape.Static(), "%s: %v", msg, facts[k].Shape)
				}
				soundValues(t, facts[k], want, fmt.Sprintf("%s: level %d", msg, level))
			}
		}
	}
}

// soundValues checks the small integer values of a fact against the result.
func soundValues(t *testing.T, f tensor.Fact, want tensor.Tensor, msg string) {
	t.Helper()
	if f.Ints == nil {
		return
	}
	v, err := tensor.ReadInts(want.DType, want.Data, want.Count())
	require.NoError(t, err, msg)
	require.Len(t, f.Ints, len(v), msg)
	for i, d := range f.Ints {
		if d.Known() {
			require.Equal(t, v[i], d.N, msg)
		}
	}
}

// TestDetectionPostProcess_allColumns: without a number of classes every column but the first is one.
func TestDetectionPostProcess_allColumns(t *testing.T) {
	compared := 0
	for i, c := range readMoves(t, "testdata/movement/movement.json") {
		if c.Op != "detection_post_process" || c.Fail != "" {
			continue
		}
		o := c.op(t).(*op.DetectionPostProcess)
		if o.Classes+1 != c.In[1].Dims[2] {
			continue
		}
		o.Classes = 0
		var in []tensor.Tensor
		for _, v := range c.In {
			in = append(in, v.tensor(t, tensor.Invalid))
		}
		got, err := Compute(o, in, make([]tensor.Type, 4))
		require.NoError(t, err)
		for k, v := range c.Out {
			assertMoved(t, v.tensor(t, tensor.Invalid), got[k], c.Tol, c.name(i))
		}
		compared++
	}
	require.Greater(t, compared, 5)
	one := tensor.New(tensor.Float32, 1, 2, 1)
	_, err := Compute(&op.DetectionPostProcess{MaxDetections: 1, MaxClasses: 1, Scale: []float32{1, 1, 1, 1}},
		[]tensor.Tensor{tensor.New(tensor.Float32, 1, 2, 4), one, tensor.New(tensor.Float32, 2, 4)}, make([]tensor.Type, 4))
	require.ErrorContains(t, err, "2 or more")
	require.Equal(t, fault.Shape, fault.KindOf(err))
}
