package oip

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestREST_binary(t *testing.T) {
	m := request()
	head, tail, err := m.JSON()
	require.NoError(t, err)
	assert.JSONEq(t, `{"id":"7","parameters":{"b":true,"i":-5,"s":"x","d":0.5,"u":18446744073709551615},
		"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"parameters":{"binary_data_size":8}},
			{"name":"y","datatype":"INT8","shape":[300],"parameters":{"binary_data_size":300}},
			{"name":"z","datatype":"FP16","shape":[0],"parameters":{"binary_data_size":0}}],
		"outputs":[{"name":"p","parameters":{"classification":2}},{"name":"q"}]}`, string(head))
	require.Len(t, tail, 3)
	assert.Same(t, &m.Inputs[1].Raw[0], &tail[1][0], "binary tensors are not copied")
	got, err := ParseRequestJSON(head, bytes.Join(tail, nil))
	require.NoError(t, err)
	got.Model, got.Version = m.Model, m.Version
	for i := range got.Inputs {
		assert.Empty(t, got.Inputs[i].Parameters)
		got.Inputs[i].Parameters = nil
	}
	assert.Equal(t, m, got)

	answer := &Response{Outputs: []Tensor{{Name: "a", Datatype: "UINT8", Raw: []byte{1, 2}}, {Name: "b", Datatype: "UINT8",
		Raw: []byte{3}}}}
	text, _, err := answer.JSON(func(name string) bool { return name == "a" })
	require.NoError(t, err)
	begun, sizes, err := ParseResponseHead(text)
	require.NoError(t, err)
	assert.Equal(t, []int64{2, -1}, sizes)
	assert.Nil(t, begun.Outputs[0].Raw)
	assert.Equal(t, []byte{3}, begun.Outputs[1].Raw)

	_, err = ParseRequestJSON(head, bytes.Join(tail, nil)[1:])
	assert.ErrorContains(t, err, `tensor "y": 300 binary bytes where 299 are left`)
	_, err = ParseRequestJSON(head, append(bytes.Join(tail, nil), 0))
	assert.ErrorContains(t, err, "1 bytes behind the last binary tensor")
}

func TestREST_numbers(t *testing.T) {
	const text = `{"model_name":"m","id":"1","outputs":[
		{"name":"f","datatype":"FP32","shape":[2,2],"data":[[1,-2.5],[null,1e-3]]},
		{"name":"i","datatype":"INT8","shape":[2],"data":[-128,127]},
		{"name":"u","datatype":"UINT64","shape":[1],"data":[18446744073709551615]},
		{"name":"b","datatype":"BOOL","shape":[2],"data":[true,false]},
		{"name":"s","datatype":"BYTES","shape":[2],"data":["ab",""]}]}`
	m, err := ParseResponseJSON([]byte(text), nil)
	require.NoError(t, err)
	want := [][]byte{{0, 0, 128, 63, 0, 0, 32, 192, 0, 0, 192, 127, 111, 18, 131, 58}, {128, 127},
		{255, 255, 255, 255, 255, 255, 255, 255}, {1, 0}, {2, 0, 0, 0, 'a', 'b', 0, 0, 0, 0}}
	for i := range want {
		assert.Equal(t, want[i], m.Outputs[i].Raw, m.Outputs[i].Name)
	}
	head, tail, err := m.JSON(func(name string) bool { return name == "i" })
	require.NoError(t, err)
	assert.Equal(t, [][]byte{{128, 127}}, tail)
	assert.JSONEq(t, `{"model_name":"m","id":"1","outputs":[
		{"name":"f","datatype":"FP32","shape":[2,2],"data":[1,-2.5,null,0.001]},
		{"name":"i","datatype":"INT8","shape":[2],"parameters":{"binary_data_size":2}},
		{"name":"u","datatype":"UINT64","shape":[1],"data":[18446744073709551615]},
		{"name":"b","datatype":"BOOL","shape":[2],"data":[true,false]},
		{"name":"s","datatype":"BYTES","shape":[2],"data":["ab",""]}]}`, string(head))

	for data, reason := range map[string]string{
		`{"name":"x","datatype":"INT8","data":[128]}`:                            "128 in data of INT8",
		`{"name":"x","datatype":"INT32","data":[1.5]}`:                           "1.5 in data of INT32",
		`{"name":"x","datatype":"FP16","data":[1]}`:                              "no form in JSON",
		`{"name":"x","datatype":"FP32","data":["1"]}`:                            "a string in data",
		`{"name":"x","datatype":"FP32","data":[{}]}`:                             "in data",
		`{"name":"x","datatype":"FP32","parameters":{"binary_data_size":-1}}`:    "-1 binary bytes",
		`{"name":"x","datatype":"INT32","data":[null]}`:                          "null in data",
		`{"name":"x","datatype":"NONSENSE","data":[1]}`:                          "NONSENSE",
		`{"name":"x","datatype":"BYTES","data":[1]}`:                             "1 in data of BYTES",
		`{"name":"x","shape":[1.5]}`:                                             "infer JSON",
		`{"name":"x","datatype":"BOOL","data":[2]}`:                              "2 in data of BOOL",
		`{"name":"x","datatype":"FP32","data":[1e99]}`:                           "1e99 in data of FP32",
		`{"name":"x","datatype":"FP32","parameters":{"binary_data_size":1}}`:     "1 binary bytes where 0 are left",
		`{"name":"x","datatype":"UINT8","data":true}`:                            "true in data of UINT8",
		`{"name":"x","datatype":"UINT8","parameters":{"binary_data_size":[1,2]}`: "infer JSON",
	} {
		_, err := ParseResponseJSON([]byte(`{"outputs":[`+data+`]}`), nil)
		assert.ErrorContains(t, err, reason, data)
	}
	never := func(string) bool { return false }
	_, _, err = (&Response{Outputs: []Tensor{{Datatype: "BF16", Raw: []byte{0, 0}}}}).JSON(never)
	assert.ErrorIs(t, err, ErrNoNumbers)
	_, _, err = (&Response{Outputs: []Tensor{{Datatype: Bytes, Raw: []byte{9, 0, 0, 0}}}}).JSON(never)
	assert.ErrorContains(t, err, "damaged elements")
}
