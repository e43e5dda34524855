package oip

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/anynpu/anynpu/core/tensor"
)

// agree checks that wire is the message of that name whose JSON form, protobuf's own, is want.
func agree(t *testing.T, name string, wire []byte, want string) {
	t.Helper()
	m := message(t, name)
	require.NoError(t, proto.Unmarshal(wire, m))
	got, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	require.NoError(t, err)
	assert.JSONEq(t, want, string(got))
	assert.Empty(t, m.GetUnknown())
}

// written returns the wire form that protobuf's own library gives to a message in JSON.
func written(t testing.TB, name, text string) []byte {
	t.Helper()
	m := message(t, name)
	require.NoError(t, protojson.Unmarshal([]byte(text), m))
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	require.NoError(t, err)
	return b
}

var requestJSON = `{"model_name":"digits","model_version":"3","id":"7",
	"parameters":{"b":{"bool_param":true},"i":{"int64_param":"-5"},"s":{"string_param":"x"},"d":{"double_param":0.5},
		"u":{"uint64_param":"18446744073709551615"}},
	"inputs":[{"name":"x","datatype":"FP32","shape":["1","2"]},{"name":"y","datatype":"INT8","shape":["300"]},
		{"name":"z","datatype":"FP16","shape":["0"]}],
	"outputs":[{"name":"p","parameters":{"classification":{"int64_param":"2"}}},{"name":"q"}],
	"raw_input_contents":["AACAPwAAAEA=","` + // 1, 2 as float32
	strings.Repeat("AQEB", 100) + `",""]}` // 300 bytes of 1; none

func request() *Request {
	ones := bytes.Repeat([]byte{1}, 300)
	return &Request{Model: "digits", Version: "3", ID: "7",
		Parameters: Parameters{"b": true, "i": int64(-5), "s": "x", "d": 0.5, "u": uint64(math.MaxUint64)},
		Inputs: []Tensor{{Name: "x", Datatype: "FP32", Shape: []int64{1, 2}, Raw: []byte{0, 0, 128, 63, 0, 0, 0, 64}},
			{Name: "y", Datatype: "INT8", Shape: []int64{300}, Raw: ones},
			{Name: "z", Datatype: "FP16", Shape: []int64{0}, Raw: []byte{}}},
		Outputs: []Requested{{Name: "p", Parameters: Parameters{"classification": int64(2)}}, {Name: "q"}}}
}

func TestRequest_asProtobufHasIt(t *testing.T) {
	m := request()
	parts, size := m.Parts()
	wire := bytes.Join(parts, nil)
	assert.Len(t, wire, size)
	agree(t, "ModelInferRequest", wire, requestJSON)
	assert.Same(t, &m.Inputs[1].Raw[0], &parts[3][0], "raw contents are not copied")

	for name, b := range map[string][]byte{"own": wire, "protobuf's": written(t, "ModelInferRequest", requestJSON)} {
		got, err := ParseRequest(b)
		require.NoError(t, err, name)
		assert.Equal(t, m, got, name)
		got, err = ReadRequest(iotestOneByte{bytes.NewReader(b)}, int64(len(b)), anywhere)
		require.NoError(t, err, name)
		assert.Equal(t, m, got, name)
	}
}

// iotestOneByte gives one byte a read.
type iotestOneByte struct{ r io.Reader }

func (r iotestOneByte) Read(p []byte) (int, error) { return r.r.Read(p[:min(1, len(p))]) }

func anywhere(_ []Tensor, _ int, n int64) ([]byte, error) { return make([]byte, n), nil }

const typedJSON = `{"model_name":"m","id":"1","outputs":[
	{"name":"b","datatype":"BOOL","shape":["2"],"contents":{"bool_contents":[true,false]}},
	{"name":"i8","datatype":"INT8","shape":["2"],"contents":{"int_contents":[-1,127]}},
	{"name":"i16","datatype":"INT16","shape":["1"],"contents":{"int_contents":[-2]}},
	{"name":"i32","datatype":"INT32","shape":["1"],"contents":{"int_contents":[-3]}},
	{"name":"i64","datatype":"INT64","shape":["1"],"contents":{"int64_contents":["-4"]}},
	{"name":"u8","datatype":"UINT8","shape":["1"],"contents":{"uint_contents":[255]}},
	{"name":"u16","datatype":"UINT16","shape":["1"],"contents":{"uint_contents":[65534]}},
	{"name":"u32","datatype":"UINT32","shape":["1"],"contents":{"uint_contents":[4294967295]}},
	{"name":"u64","datatype":"UINT64","shape":["1"],"contents":{"uint64_contents":["1"]}},
	{"name":"f","datatype":"FP32","shape":["1"],"contents":{"fp32_contents":[1]}},
	{"name":"d","datatype":"FP64","shape":["1"],"contents":{"fp64_contents":[1]}},
	{"name":"s","datatype":"BYTES","shape":["2"],"contents":{"bytes_contents":["AP8=",""]}}]}`

func TestResponse_typed(t *testing.T) {
	wire := written(t, "ModelInferResponse", typedJSON)
	m, err := ParseResponse(wire)
	require.NoError(t, err)
	require.Len(t, m.Outputs, 12)
	want := [][]byte{{1, 0}, {255, 127}, {254, 255}, {253, 255, 255, 255}, {252, 255, 255, 255, 255, 255, 255, 255}, {255},
		{254, 255}, {255, 255, 255, 255}, {1, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 128, 63}, {0, 0, 0, 0, 0, 0, 240, 63},
		{2, 0, 0, 0, 0, 255, 0, 0, 0, 0}}
	for i := range m.Outputs {
		o := &m.Outputs[i]
		raw, err := o.Contents.AppendRaw(nil, o.Datatype)
		require.NoError(t, err, o.Name)
		assert.Equal(t, want[i], raw, o.Name)
		assert.Nil(t, o.Raw)
	}
	parts, size := m.Parts()
	require.Len(t, parts, 1)
	assert.Len(t, parts[0], size)
	agree(t, "ModelInferResponse", parts[0], typedJSON)

	_, err = (&Contents{Int: []int32{128}}).AppendRaw(nil, "INT8")
	assert.ErrorContains(t, err, "128 does not fit INT8")
	_, err = (&Contents{Uint: []uint32{1 << 16}}).AppendRaw(nil, "UINT16")
	assert.ErrorContains(t, err, "65536 does not fit UINT16")
	_, err = (&Contents{FP32: []float32{1}}).AppendRaw(nil, "INT8")
	assert.ErrorContains(t, err, "another type")
	_, err = (&Contents{}).AppendRaw(nil, "FP16")
	assert.ErrorContains(t, err, "no typed contents")
}

func TestResponse_raw(t *testing.T) {
	const text = `{"outputs":[{"name":"a","datatype":"FP32","shape":["1"]},{"name":"b","datatype":"UINT8","shape":["3"]}],
		"raw_output_contents":["AACAPw==","AQID"]}`
	wire := written(t, "ModelInferResponse", text)
	home := [][]byte{make([]byte, 4), make([]byte, 3)}
	m, err := ReadResponse(bytes.NewReader(wire), int64(len(wire)), func(had []Tensor, i int, n int64) ([]byte, error) {
		assert.Len(t, had, 2)
		assert.Len(t, home[i], int(n))
		return home[i], nil
	})
	require.NoError(t, err)
	assert.Equal(t, []byte{0, 0, 128, 63}, home[0])
	assert.Same(t, &home[1][0], &m.Outputs[1].Raw[0])
	parts, _ := m.Parts()
	agree(t, "ModelInferResponse", bytes.Join(parts, nil), text)

	for n := range wire {
		_, err := ReadResponse(bytes.NewReader(wire[:n]), int64(len(wire)), anywhere)
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF, "cut after %d bytes", n)
	}
	refused := errors.New("no room")
	_, err = ReadResponse(bytes.NewReader(wire), int64(len(wire)),
		func([]Tensor, int, int64) ([]byte, error) { return nil, refused })
	assert.ErrorIs(t, err, refused)
	_, err = ParseResponse(written(t, "ModelInferResponse", `{"outputs":[{"name":"a"}],"raw_output_contents":["",""]}`))
	assert.ErrorContains(t, err, "2 raw contents for 1 tensors")
}

func TestMetadata(t *testing.T) {
	const text = `{"name":"m","versions":["1","2"],"platform":"python",
		"inputs":[{"name":"x","datatype":"FP32","shape":["-1","3"]}],"outputs":[{"name":"y","datatype":"BF16"},{"name":"z"}]}`
	m := &Model{Name: "m", Versions: []string{"1", "2"}, Platform: "python",
		Inputs: []Port{{"x", "FP32", []int64{-1, 3}}}, Outputs: []Port{{"y", "BF16", nil}, {"z", "", nil}}}
	agree(t, "ModelMetadataResponse", m.Append(nil), text)
	got, err := ParseModel(written(t, "ModelMetadataResponse", text))
	require.NoError(t, err)
	assert.Equal(t, m, got)

	const server = `{"name":"triton","version":"2.51.0","extensions":["statistics","trace"]}`
	s := &Server{"triton", "2.51.0", []string{"statistics", "trace"}}
	agree(t, "ServerMetadataResponse", s.Append(nil), server)
	gotServer, err := ParseServer(written(t, "ServerMetadataResponse", server))
	require.NoError(t, err)
	assert.Equal(t, s, gotServer)

	agree(t, "ModelReadyRequest", ModelName{"m", "1"}.Append(nil), `{"name":"m","version":"1"}`)
	name, err := ParseModelName(written(t, "ModelMetadataRequest", `{"name":"m","version":"1"}`))
	require.NoError(t, err)
	assert.Equal(t, ModelName{"m", "1"}, name)
	agree(t, "ModelReadyResponse", Flag{true}.Append(nil), `{"ready":true}`)
	flag, err := ParseFlag(written(t, "ServerLiveResponse", `{"live":true}`))
	require.NoError(t, err)
	assert.True(t, flag.Value)
	assert.Empty(t, Flag{}.Append(nil))
}

func TestMetadata_bounded(t *testing.T) {
	var b []byte
	for range MaxTensors + 1 {
		b = appendMessage(b, 4, nil)
	}
	_, err := ParseModel(b)
	assert.ErrorContains(t, err, "more than 4096 tensors")
	_, err = ParseModel(appendText(nil, 1, strings.Repeat("x", MaxText+1)))
	assert.ErrorContains(t, err, "65537 bytes")
	_, err = ParseModel(appendMessage(nil, 4, appendShape(nil, 3, make([]int64, MaxRank+1))))
	assert.ErrorContains(t, err, "more than 64 numbers")
	_, err = ParseModel([]byte{0x0A, 0x7F})
	assert.ErrorContains(t, err, "field 1 is damaged")
	_, err = ParseFlag([]byte{0x0A, 0x00})
	assert.ErrorContains(t, err, "wire type 2, want 0")
}

func TestDatatype(t *testing.T) {
	bits := map[string]int{"BOOL": 8, "UINT8": 8, "UINT16": 16, "UINT32": 32, "UINT64": 64, "INT8": 8, "INT16": 16,
		"INT32": 32, "INT64": 64, "FP16": 16, "FP32": 32, "FP64": 64, "BF16": 16}
	for name, want := range bits {
		d, ok := DType(name)
		require.True(t, ok, name)
		assert.Equal(t, want, d.Bits(), name)
		back, ok := Datatype(d)
		assert.True(t, ok)
		assert.Equal(t, name, back)
	}
	_, ok := DType(Bytes)
	assert.False(t, ok)
	_, ok = Datatype(tensor.Int4)
	assert.False(t, ok)
}

func TestTimeout(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0n", -1: "0n", 1: "1n", 300 * time.Millisecond: "300000u",
		99999999: "99999999n", 100000001: "100001u", time.Hour: "3600000m", 100000 * time.Hour: "6000000M",
		math.MaxInt64: "2562048H"} {
		got := Timeout(d)
		assert.Equal(t, want, got)
		back, err := ParseTimeout(got)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, back, max(d, 0))
	}
	for _, s := range []string{"", "1", "m", "123456789m", "-1m", "1x", "1.5S"} {
		_, err := ParseTimeout(s)
		assert.Error(t, err, s)
	}
	d, err := ParseTimeout("99999999H")
	require.NoError(t, err)
	assert.Equal(t, time.Duration(math.MaxInt64), d)
}

func TestStatus(t *testing.T) {
	assert.Equal(t, "Unavailable", Code(14).String())
	assert.Equal(t, "code 99", Code(99).String())
	assert.Equal(t, Unavailable, CodeOfHTTP(503))
	assert.Equal(t, "a%25b%0Ac%C3%A4", EncodeMessage("a%b\nc\u00e4"))
	assert.Equal(t, "a%b\nc\u00e4", DecodeMessage("a%25b%0Ac%C3%A4"))
	assert.Equal(t, "100% sure%2", DecodeMessage("100% sure%2"))
	assert.Equal(t, "\uFFFD", DecodeMessage("%FF"))
	assert.Equal(t, []byte{0, 0, 1, 0, 2}, AppendPrefix(nil, 65538))
	size, compressed := ParsePrefix([PrefixSize]byte{1, 0xFF, 0, 0, 1})
	assert.Equal(t, int64(0xFF000001), size)
	assert.True(t, compressed)
}
