package rknn

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	"github.com/anynpu/anynpu/core/model"
	"github.com/anynpu/anynpu/core/op"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
	"github.com/anynpu/anynpu/core/tensor"
)

func TestCustom_unregisteredOperatorFailsTheRunByName(t *testing.T) {
	m := (&onnxtest.Model{}).Foreign("cstSigmoid", "a", nil, "x").Node("Relu", "y", "a").Declare("a", onnxtest.Float, 1, 4)
	c := open(t, m.Input("x", onnxtest.Float, 1, 4).Output("y", onnxtest.Float, 1, 4), 0)
	require.NoError(t, inputsSet(c, []Input{inputOf(t, spec.Float32, spec.Undefined, make([]float32, 4))}))
	requireCode(t, spec.ErrFail, run(c, nil), `cstSigmoid`, "rknn_register_custom_ops")
	requireCode(t, spec.ErrFail, run(c, nil), `cstSigmoid`)
}

func TestCustom_shapesAreTheModels(t *testing.T) {
	undeclared := (&onnxtest.Model{}).Foreign("cstX", "a", nil, "x").Node("Relu", "y", "a").Input("x", onnxtest.Float, 1,
		4).Output("y", onnxtest.Float, 1, 4)
	_, err := load(undeclared.Bytes(), "", 0)
	requireCode(t, spec.ErrModel, err, `cstX`, `"a"`, "value_info")

	open1 := (&onnxtest.Model{}).Foreign("cstX", "a", nil, "x").Node("Relu", "y", "a").Declare("a", onnxtest.Float, -1, 4)
	c := open(t, open1.Input("x", onnxtest.Float, -1, 4).Output("y", onnxtest.Float, -1, 4), 0)
	require.Equal(t, []int64{1, 4}, c.outDims(0), "the open size of the input is the result's")
}

func TestCustom_replaceKeepsShapes(t *testing.T) {
	m := (&onnxtest.Model{}).Node("Neg", "a", "x").Node("Relu", "b", "a").Node("Neg", "y", "b")
	c := open(t, m.Input("x", onnxtest.Float, 1, 4).Output("y", onnxtest.Float, 1, 4), 0)
	g, err := c.model.base.replace(c.model.base.weights, map[string]CustomOp{"Neg": {}, "Tanh": {}}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"Neg"}, customs(g))
	own, err := model.WithSizes(g, c.model.shapes[0].In)
	require.NoError(t, err)
	require.NoError(t, checkCustoms(own, &model.Model{}), "the replaced operators say what they make")
	var instances []int64
	for i := range own.Nodes {
		if o, ok := own.Nodes[i].Op.(*op.Custom); ok {
			require.NotNil(t, o.Body)
			instances = append(instances, o.Instance)
		}
	}
	require.Len(t, instances, 2)
	require.NotEqual(t, instances[0], instances[1])

	g, err = c.model.base.replace(c.model.base.weights, map[string]CustomOp{"Neg": {}}, map[int64]bool{instances[0]: true})
	require.NoError(t, err)
	count := 0
	for i := range g.Nodes {
		if _, ok := g.Nodes[i].Op.(*op.Custom); ok {
			count++
		}
	}
	require.Equal(t, 1, count, "a node that was left to the library")
}

func TestCustomAttributes(t *testing.T) {
	one := binary.LittleEndian.AppendUint32([]byte{2<<3 | 5}, math.Float32bits(float32(math.Inf(-1))))
	attrs := onnxtest.Attribute("f", 1, one)
	attrs = append(attrs, onnxtest.Attribute("i", 2, onnxtest.Number(3, math.MinInt64))...)
	attrs = append(attrs, onnxtest.Attribute("empty", 7, nil)...)
	m := (&onnxtest.Model{}).Foreign("cstX", "y", attrs, "x").Input("x", onnxtest.Float, 1).Output("y", onnxtest.Float, 1)
	c := open(t, m, 0)
	g, err := c.model.base.graph(c.model.base.weights)
	require.NoError(t, err)
	o := g.Nodes[0].Op.(*op.Custom)
	s, err := newOpState(CustomOp{}, o, "node")
	require.NoError(t, err)
	defer s.end()
	ctx := &CustomOpContext{id: s.id}
	var a CustomOpAttr
	require.NoError(t, customOpGetOpAttr(ctx, "f", &a))
	require.Equal(t, spec.Float32, a.kind)
	require.EqualValues(t, 1, a.elems)
	require.True(t, math.IsInf(float64(*(*float32)(cPointer(a.data))), -1))
	require.NoError(t, customOpGetOpAttr(ctx, "i", &a))
	require.Equal(t, int64(math.MinInt64), *(*int64)(cPointer(a.data)))
	require.NoError(t, customOpGetOpAttr(ctx, "empty", &a))
	require.Equal(t, [2]uint32{uint32(spec.Int64), 0}, [2]uint32{uint32(a.kind), a.elems})
	require.ErrorContains(t, customOpGetOpAttr(ctx, "none", &a), `["empty" "f" "i"]`)
	requireCode(t, spec.ErrParam, customOpGetOpAttr(&CustomOpContext{id: 1 << 60}, "f", &a), "op_ctx",
		"0x1000000000000000")
}

func TestCustom_replacesAfterConstantsWerePacked(t *testing.T) {
	const k, n = 256, 300
	data := make([]byte, 4*k*n)
	for i := range k * n {
		binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(float32(i%97)/97-0.5))
	}
	m := (&onnxtest.Model{}).Constant("w", onnxtest.Float, data, k, n)
	m.Node("MatMul", "a", "x", "w").Node("Relu", "y", "a").Input("x", onnxtest.Float, 8, k).
		Output("y", onnxtest.Float, 8, n)
	c := open(t, m, 0)
	x := make([]float32, 8*k)
	for i := range x {
		x[i] = float32(i%11) - 5
	}
	require.NoError(t, inputsSet(c, []Input{inputOf(t, spec.Float32, spec.Undefined, x)}))
	want := floats(t, c)
	h := tensor.HashOf(data)
	_, err := c.model.base.weights.Get(h, "", nil)
	require.Error(t, err, "the packed form alone is kept")

	w, err := c.model.base.constants(c.model.run.program)
	require.NoError(t, err)
	defer w.Release()
	got, err := w.Get(h, "", nil)
	require.NoError(t, err)
	require.Equal(t, data, got)
	g, err := c.model.base.replace(w, map[string]CustomOp{"Nothing": {}}, nil)
	require.NoError(t, err)
	r, err := newRunnable(g, c.model.in, w, c.model.shapes, nil)
	require.NoError(t, err)
	defer r.program.Release()
	c.model.retain()
	d, err := newContext(c.model, 0, r)
	require.NoError(t, err)
	defer d.release()
	require.NoError(t, inputsSet(d, []Input{inputOf(t, spec.Float32, spec.Undefined, x)}))
	require.Equal(t, want, floats(t, d))
}
