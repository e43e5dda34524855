package oip

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzResponse reads whatever a server may answer: both readers take or refuse the same, and what they take is written
// as the same message again.
func FuzzResponse(f *testing.F) {
	f.Add([]byte{})
	f.Add(written(f, "ModelInferResponse", typedJSON))
	f.Add(written(f, "ModelInferResponse",
		`{"outputs":[{"name":"a","datatype":"FP32"}],"raw_output_contents":["AACAPw=="]}`))
	f.Add([]byte{0x32, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F})
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ParseResponse(b)
		streamed, streamErr := ReadResponse(bytes.NewReader(b), int64(len(b)), anywhere)
		if streamErr == nil {
			require.NoError(t, err)
			assert.Equal(t, m, streamed)
		}
		if err != nil {
			return
		}
		for i := range m.Outputs {
			if c := m.Outputs[i].Contents; c != nil {
				_, _ = c.AppendRaw(nil, m.Outputs[i].Datatype)
			}
		}
		parts, size := m.Parts()
		wire := bytes.Join(parts, nil)
		require.Len(t, wire, size)
		again, err := ParseResponse(wire)
		require.NoError(t, err)
		parts, _ = again.Parts()
		assert.Equal(t, wire, bytes.Join(parts, nil))
		_, _ = ParseModel(b)
		_, _ = ParseServer(b)
	})
}

// FuzzResponseJSON reads whatever a server may answer over HTTP.
func FuzzResponseJSON(f *testing.F) {
	f.Add([]byte(`{"outputs":[{"name":"x","datatype":"FP32","shape":[1],"data":[[1]]}]}`), []byte{})
	f.Add([]byte(`{"outputs":[{"name":"x","datatype":"FP32","parameters":{"binary_data_size":4}}]}`),
		[]byte{0, 0, 128, 63})
	f.Fuzz(func(t *testing.T, head, tail []byte) {
		m, err := ParseResponseJSON(head, tail)
		if err != nil {
			return
		}
		if head, tail, err := m.JSON(func(string) bool { return true }); err == nil {
			_, err = ParseResponseJSON(head, bytes.Join(tail, nil))
			require.NoError(t, err)
		}
	})
}
