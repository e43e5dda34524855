package link

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/tensor"
)

// TestBinary: a run and its answer equal those in JSON; a message that is cut anywhere is refused.
func TestBinary(t *testing.T) {
	request := &Request{Call: 1 << 40, Do: Infer, Model: Model{Name: "net", Version: "3"}, LeftMS: 12.5,
		In: []Tensor{{Name: "x", Type: tensor.Float32, Shape: []int64{1, 3, 224, 224}, Region: 7, Off: 64, Size: 602112},
			{Name: "", Type: tensor.Uint8, Shape: []int64{}, Region: 7, Size: 1}},
		Out: []Place{{Name: "y", Type: tensor.Int8, Region: 7, Off: 1 << 33, Room: 10, Shape: []int64{-1, 10}},
			{Name: "z", Type: tensor.Float64, Shape: []int64{-1}}}}
	answer := &Answer{Call: 9, Out: []Result{{Shape: []int64{1, 10}, Off: 1 << 33, Size: 10},
		{Shape: []int64{0}, Spill: true}}, Spill: 80,
		Done: &Done{Address: "grpc://10.0.0.5:8001", Attempts: 2, Sent: 602200, Received: 120, TookMS: 1.25}}
	for _, message := range []any{request, answer} {
		made, is := appendBinary(nil, message)
		require.True(t, is)
		text, err := json.Marshal(message)
		require.NoError(t, err)
		read := func(b []byte) (any, any, error) {
			if _, is := message.(*Request); is {
				got, want := &Request{Do: "other", Repeat: true}, &Request{}
				require.NoError(t, json.Unmarshal(text, want))
				return got, want, readBinary(b, got)
			}
			got, want := &Answer{Notes: []string{"old"}}, &Answer{}
			require.NoError(t, json.Unmarshal(text, want))
			return got, want, readBinary(b, got)
		}
		got, want, err := read(made)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		for n := range made {
			_, _, err := read(made[:n])
			assert.Error(t, err, "%d of %d bytes", n, len(made))
		}
		_, _, err = read(append(made, 0))
		assert.Error(t, err)
	}
	for _, message := range []any{&Request{Do: Probe}, &Answer{}, &Answer{Done: &Done{}, Failure: &Failure{}},
		&Answer{Done: &Done{}, Notes: []string{"x"}}} {
		_, is := appendBinary(nil, message)
		assert.False(t, is, "%v", message)
	}
}
