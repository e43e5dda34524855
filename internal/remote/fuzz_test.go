package remote

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/oip"
)

// said is a server that says what it is told to.
type said struct {
	status  int
	header  http.Header
	body    []byte
	trailer http.Header
}

func (s *said) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
	}
	return &http.Response{StatusCode: s.status, Status: "?", Header: s.header, Trailer: s.trailer,
		Body: io.NopCloser(bytes.NewReader(s.body)), Request: r}, nil
}

// FuzzAnswer has a server say anything: a run fails with a class and a line, or its outputs are as they were wanted.
func FuzzAnswer(f *testing.F) {
	parts, size := (&oip.Response{Outputs: []oip.Tensor{{Name: "y", Datatype: "FP32", Shape: []int64{2},
		Raw: make([]byte, 8)},
		{Name: "z", Datatype: "UINT8", Shape: []int64{1}, Raw: []byte{7}}}}).Parts()
	good := append(oip.AppendPrefix(nil, size), bytes.Join(parts, nil)...)
	f.Add(false, 200, "application/grpc", "", "0", good)
	f.Add(false, 200, "application/grpc", "", "0", good[:20])
	f.Add(false, 200, "application/grpc", "", "13", []byte{})
	f.Add(true, 200, "application/json", "", "", []byte(`{"outputs":[{"name":"y","datatype":"FP32","shape":[2],"data":[1,2]},`+
		`{"name":"z","datatype":"UINT8","shape":[1],"data":[3]}]}`))
	head := `{"outputs":[{"name":"y","datatype":"FP32","shape":[2],"parameters":{"binary_data_size":8}},` +
		`{"name":"z","datatype":"UINT8","shape":[1],"parameters":{"binary_data_size":1}}]}`
	f.Add(true, 200, "application/octet-stream", "171", "", []byte(head+"123456789"))
	f.Fuzz(func(t *testing.T, rest bool, status int, content, length, code string, body []byte) {
		scheme := "grpc"
		if rest {
			scheme = "http"
		}
		p, err := NewPool(&dl.Remote{Addresses: []string{scheme + "://h:1"}, Largest: 1 << 20, Connections: 1,
			DeadlineMS: 1000})
		require.NoError(t, err)
		s := &said{status: status, header: http.Header{"Content-Type": {content}}, body: body,
			trailer: http.Header{"Grpc-Status": {code}}}
		if length != "" {
			s.header.Set(oip.HeaderLength, length)
		}
		p.list[0].clients[0].Transport = s
		region := make([]byte, 64)
		at := func(_ uint64, off, size int64) ([]byte, error) { return region[off : off+size], nil }
		out, spill, _, err := p.Infer(context.Background(), &link.Request{Model: link.Model{Name: "m"},
			Out: []link.Place{{Name: "y", Type: tensor.Float32, Off: 8, Room: 8, Shape: []int64{2}},
				{Name: "z", Type: tensor.Uint8, Shape: []int64{-1}}}}, at)
		if err != nil {
			fail := ofError(context.Background(), err)
			assert.NotEmpty(t, fail.class)
			assert.NotContains(t, fail.text, "\n")
			assert.NotContains(t, fail.text, "\x1b")
		} else {
			require.Len(t, out, 2)
			assert.Equal(t, link.Result{Shape: []int64{2}, Off: 8, Size: 8}, out[0])
			require.Len(t, spill, 1)
			assert.Equal(t, int64(len(spill[0])), out[1].Size)
			assert.Equal(t, []int64{out[1].Size}, out[1].Shape)
		}
		assert.Equal(t, make([]byte, 8), region[:8], "nothing else is written")
		assert.Equal(t, make([]byte, 48), region[16:])
		_, _ = p.Describe(context.Background(), link.Model{Name: "m"})
	})
}
