package onnx

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// detailed lists the model in data, with files beside it, and gathers the bytes of each constant.
func detailed(t *testing.T, data []byte, known map[string]Port, beside map[string][]byte) (*Detail, map[string]string) {
	dir := t.TempDir()
	for name, b := range beside {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
	path := filepath.Join(dir, "m.onnx")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	bytes := map[string]string{}
	main, _, err := DetailFile(path, known, func(c *Constant, part tensor.Tensor) {
		bytes[c.Name] += string(part.Data)
		assert.Equal(t, len(part.Data), (part.Count()*part.DType.Bits()+7)/8)
	})
	require.NoError(t, err)
	return main, bytes
}

// The body hides "a" of the graph around it and reads "w" there; its operator is unknown, and the order is no
// executable one.
func TestDetailFile_bodies(t *testing.T) {
	body := graphMsg([]msg{nodeMsg("Secret", []string{"a", "w", "x", ""}, []string{"b"}).str(7, "org.x"),
		nodeMsg("Relu", []string{"x"}, []string{"a"})}, output("b"))
	main, bytes := detailed(t, modelMsg(graphMsg([]msg{
		nodeMsg("Neg", []string{"a"}, []string{"y"}).str(3, "last"),
		nodeMsg("If", []string{"c"}, []string{"a"}, graphAttr("then_branch", body), intAttr("n", 7),
			msg(nil).str(1, "s").str(4, strings.Repeat("x", 5000)).num(20, 3), msg(nil).str(1, "old").num(8, 4).num(8, 5),
			msg(nil).str(1, "r").str(21, "alpha").num(20, 1)),
	}, input("x", 2, 3), output("y"), initial(tensorMsg("w", []int64{2}, []byte("12345678"))),
		msg(nil).sub(13, valueMsg("a", 4)))), map[string]Port{"y": {Name: "y", Type: "int8", Dims: []string{"k"}},
		"x": {Name: "x", Type: "bool", Dims: []string{"9"}}}, nil)
	require.Len(t, main.Nodes, 2)
	assert.Equal(t, "12345678", bytes["w"])
	first, second := main.Nodes[0], main.Nodes[1]
	assert.Equal(t, "last", first.Name)
	assert.Equal(t, []Operand{{Port: Port{"a", "float32", []string{"4"}}}}, first.In)
	assert.Equal(t, []Operand{{Port: Port{"y", "int8", []string{"k"}}}}, first.Out, "what the caller knows")
	values := map[string]any{}
	for _, a := range second.Attributes {
		values[a.Name+" "+a.Kind] = a.Value
	}
	assert.Equal(t, int64(7), values["n int"])
	assert.Equal(t, Text{strings.Repeat("x", 4096), 5000}, values["s string"])
	assert.Equal(t, []int64{4, 5}, values["old ints"], "a type that is not said")
	assert.Equal(t, "alpha", values["r reference"])
	inner := values["then_branch graph"].(*Detail)
	require.Len(t, inner.Nodes, 2)
	secret := inner.Nodes[0]
	assert.Equal(t, "org.x.Secret", secret.Operator)
	assert.Equal(t, Port{Name: "a"}, secret.In[0].Port, "not that of the graph around")
	assert.Equal(t, []string{"2"}, secret.In[1].Dims)
	assert.Same(t, main.Initializers[0], secret.In[1].Initializer)
	assert.Equal(t, Port{"x", "float32", []string{"2", "3"}}, secret.In[2].Port, "the file's own word")
	assert.Equal(t, Operand{}, secret.In[3], "left out")
}

// Elements come from every place of a tensor: raw data, typed fields, another file in parts, the tensor of a Constant.
func TestDetailFile_elements(t *testing.T) {
	long := strings.Repeat("abcdefgh", 300_000)
	value := msg(nil).str(1, "value").sub(5, msg(nil).num(1, 2).num(2, 7).num(7, 5).num(7, 6).str(8, "v")).num(20, 4)
	nibbles := msg(nil).num(1, 3).num(2, 22).str(8, "n").str(9, "\x21\x03")
	words := msg(nil).num(1, 2).num(2, 8).str(8, "s").str(6, "one").str(6, "two")
	main, bytes := detailed(t, modelMsg(graphMsg([]msg{nodeMsg("Constant", nil, []string{"k"}, value)},
		initial(external("far", []int64{600_000}, "location", "data", "offset", "4")), initial(nibbles), initial(words),
		initial(external("gone", []int64{2}, "location", "none")),
		initial(external("out", []int64{2}, "location", "../data")),
		initial(tensorMsg("short", []int64{3}, []byte("1234"))), initial(tensorMsg("vast", []int64{1 << 40, 1 << 40}, nil)),
		initial(msg(nil).num(1, 2).num(2, 99).str(8, "odd")))), nil, map[string][]byte{"data": []byte("----" + long)})
	assert.Equal(t, long, bytes["far"])
	assert.Equal(t, "\x21\x03", bytes["n"])
	assert.Equal(t, "\x05\x00\x00\x00\x00\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00", bytes["v"])
	assert.Equal(t, Port{"k", "int64", []string{"2"}}, main.Nodes[0].Out[0].Port)
	says := map[string]string{}
	for _, c := range main.Initializers {
		says[c.Name] = c.Type + ": " + c.Error
	}
	assert.Equal(t, "string: ", says["s"])
	assert.Equal(t, "int4: ", says["n"])
	assert.Contains(t, says["gone"], "no such file")
	assert.Contains(t, says["out"], `without ".."`)
	assert.Contains(t, says["short"], "takes 12 bytes, the file holds 4")
	assert.Contains(t, says["vast"], "has no size")
	assert.Contains(t, says["odd"], "element type 99")
}

// A few bytes of a model can ask for a file again and again.
func TestDetailFile_externalDataHaveALimit(t *testing.T) {
	var again []msg
	for range 10 {
		again = append(again, initial(external("w", []int64{1 << 18}, "location", "data")))
	}
	main, _ := detailed(t, modelMsg(graphMsg(nil, again...)), nil, map[string][]byte{"data": make([]byte, 1<<20)})
	refused := 0
	for _, c := range main.Initializers {
		if c.Error != "" {
			refused++
			assert.Contains(t, c.Error, "have read the file 8 times")
		}
	}
	assert.Equal(t, 2, refused)
	path := filepath.Join(t.TempDir(), "m.onnx")
	require.NoError(t, os.WriteFile(path, []byte("\x08\x08\x3a\x7f"), 0o600))
	_, _, err := DetailFile(path, nil, nil)
	assert.Equal(t, fault.File, fault.KindOf(err))
}
