package serve

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/oip"
)

var mutated = flag.Int("mutated", 4000, "requests of TestRequests_mutated")

// mutator changes requests that are right.
type mutator struct{ *rand.Rand }

// bytes changes some bytes of b, or cuts, repeats or inserts a part.
func (m mutator) bytes(b []byte) []byte {
	b = bytes.Clone(b)
	for range 1 + m.IntN(3) {
		if len(b) == 0 {
			return []byte{byte(m.Uint32())}
		}
		at := m.IntN(len(b))
		switch m.IntN(6) {
		case 0:
			b[at] ^= 1 << m.IntN(8)
		case 1:
			b[at] = byte(m.Uint32())
		case 2:
			b = b[:at]
		case 3:
			to := at + m.IntN(len(b)-at)
			b = append(b[:to:to], b[at:]...)
		case 4:
			b = append(b[:at:at], append([]byte{byte(m.Uint32())}, b[at:]...)...)
		default:
			b = append(b[:at:at], b[at+m.IntN(len(b)-at):]...)
		}
	}
	return b
}

// request is one whose parts may be wrong.
func (m mutator) request() *oip.Request {
	n := m.IntN(4)
	q := request([]string{"nosuch", "broken", "", "many", "codes", "codes", "double"}[min(m.IntN(16), 6)],
		make([]float32, 2*n)...)
	if q.Model == "codes" {
		q.Inputs = []oip.Tensor{{Name: "int8", Datatype: "INT8", Shape: []int64{2}, Raw: []byte{1, 255}},
			{Name: "bool", Datatype: "BOOL", Shape: []int64{2}, Raw: []byte{1, 0}},
			{Name: "float16", Datatype: "FP16", Shape: []int64{2}, Raw: []byte{0, 60, 0, 64}}}
	}
	if m.IntN(2) == 0 {
		return q
	}
	t := &q.Inputs[m.IntN(len(q.Inputs))]
	switch m.IntN(10) {
	case 0:
		t.Datatype = []string{"INT8", "FP32", "BYTES", "BF16", "", "FLOAT"}[m.IntN(6)]
	case 1:
		t.Shape = append(t.Shape, int64(m.Uint64()))
	case 2:
		t.Shape[m.IntN(len(t.Shape))] = []int64{-1, 0, 1, 2, 1 << 31, 1 << 62, -1 << 63}[m.IntN(7)]
	case 3:
		t.Raw = t.Raw[:m.IntN(len(t.Raw)+1)]
	case 4:
		t.Raw, t.Contents = nil, &oip.Contents{FP32: make([]float32, m.IntN(5)), Int: make([]int32, m.IntN(2))}
	case 5:
		q.Inputs = append(q.Inputs, *t)
	case 6:
		q.Outputs = []oip.Requested{{Name: []string{"y", "int8", "z"}[m.IntN(3)], Parameters: oip.Parameters{
			oip.BinaryData: m.IntN(2) == 0}}}
	case 7:
		t.Parameters = oip.Parameters{oip.SharedMemoryRegion: "r", "n": int64(m.Uint64())}
	case 8:
		t.Parameters, t.Raw = place("r", m.Int64N(70)-3, []int64{8, 16, 2, int64(m.Uint64())}[m.IntN(4)]), nil
		q.Outputs = []oip.Requested{{Name: "y", Parameters: place("r", m.Int64N(70)-3, m.Int64N(40)-3)}}
	default:
		q.Version = []string{"1", "3", "01", "-1", "x"}[m.IntN(5)]
	}
	return q
}

// over makes the HTTP request, of gRPC or REST, whose bytes may be wrong, too.
func (m mutator) over(q *oip.Request) *http.Request {
	if m.IntN(2) == 0 {
		message := encoded(q)
		if m.IntN(2) == 0 {
			message = m.bytes(message)
		}
		path := oip.ModelInfer
		switch m.IntN(20) {
		case 0:
			path = oip.ModelMetadata
		case 1:
			path = oip.ModelReady
		case 2:
			path = repositoryIndex
		case 3:
			path = healthCheck
		case 4:
			path = string(m.bytes([]byte(oip.ModelInfer)[1:]))
		case 5:
			path = sharedRegister
		case 6:
			path = sharedStatus
		}
		body := append(oip.AppendPrefix(nil, len(message)), message...)
		if m.IntN(10) == 0 {
			body = m.bytes(body)
		}
		r := httptest.NewRequest("POST", "/", bytes.NewReader(body))
		r.URL.Path = path
		r.ProtoMajor, r.ProtoMinor = 2, 0
		r.Header.Set("Content-Type", "application/grpc")
		if m.IntN(10) == 0 {
			r.Header.Set("Grpc-Timeout", string(m.bytes([]byte("9S"))))
		}
		if m.IntN(10) == 0 {
			r.Header.Set("Grpc-Encoding", []string{"gzip", "deflate", "snappy"}[m.IntN(3)])
		}
		return r
	}
	for i := range q.Inputs {
		if q.Inputs[i].Raw == nil {
			q.Inputs[i].Raw = []byte{}
		}
	}
	head, tail, err := q.JSON()
	if err != nil {
		head = []byte("{}")
	}
	if m.IntN(2) == 0 {
		head = m.bytes(head)
	}
	n := len(head)
	if m.IntN(20) == 0 {
		n += m.IntN(5) - 2
	}
	r := httptest.NewRequest("POST", "/", bytes.NewReader(append(head, bytes.Join(tail, nil)...)))
	r.URL.Path = "/v2/models/" + q.Model + "/infer"
	r.Header.Set(oip.HeaderLength, strconv.Itoa(n))
	if m.IntN(20) == 0 {
		r.Header.Set("Content-Encoding", []string{"gzip", "deflate", "br"}[m.IntN(3)])
	}
	return r
}

// Whatever a request holds, it gets an answer that says what is wrong with it; none of them is the server's fault.
func TestRequests_mutated(t *testing.T) {
	f := begin(t, offers)
	_, key := memory(t, make([]byte, 64))
	require.NoError(t, f.server.register(&sharedRegion{name: "r", key: key, size: 64}))
	handler := f.server.http.Handler
	m := mutator{rand.New(rand.NewPCG(40, 6))}
	counts := map[oip.Code]int{}
	for range *mutated {
		r := m.over(m.request())
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		a := w.Result()
		code := oip.OK
		if r.ProtoMajor == 2 {
			n, err := strconv.Atoi(a.Trailer.Get("Grpc-Status"))
			require.NoError(t, err, "%v", a.Header)
			code = oip.Code(n)
		} else if a.StatusCode != http.StatusOK {
			code = map[int]oip.Code{400: oip.InvalidArgument, 404: oip.NotFound, 415: oip.Unimplemented,
				413: oip.ResourceExhausted, 503: oip.Unavailable, 405: oip.Unimplemented, 307: oip.Unimplemented,
				408: oip.DeadlineExceeded, 504: oip.DeadlineExceeded, 499: oip.Canceled}[a.StatusCode]
			require.NotZero(t, code, "%d %s", a.StatusCode, w.Body)
		}
		require.NotContains(t, []oip.Code{oip.Internal, oip.Unknown, oip.DataLoss}, code, w.Body.String())
		counts[code]++
	}
	t.Log(*mutated, counts)
	assert.Greater(t, counts[oip.OK], *mutated/10)
	assert.Greater(t, counts[oip.InvalidArgument], *mutated/10)
	_, code, text := f.call(oip.ModelInfer, encoded(request("double", 1, 2)))
	assert.Equal(t, oip.OK, code, text)
}

// FuzzInfer feeds bytes to ModelInfer as a message, and to its REST twin as a body whose JSON ends at a place.
func FuzzInfer(f *testing.F) {
	f.Add(encoded(request("double", 1, 2)), uint16(0))
	f.Add([]byte(`{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","data":[1,2]}]}`), uint16(1000))
	head := `{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","parameters":{"binary_data_size":8}}]}`
	f.Add(append([]byte(head), tensor.Float32s(1, 2)...), uint16(len(head)))
	handler := begin(f, nil).server.http.Handler
	f.Fuzz(func(t *testing.T, data []byte, at uint16) {
		r := httptest.NewRequest("POST", oip.ModelInfer, bytes.NewReader(append(oip.AppendPrefix(nil, len(data)), data...)))
		r.ProtoMajor, r.ProtoMinor = 2, 0
		r.Header.Set("Content-Type", "application/grpc")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if code := w.Result().Trailer.Get("Grpc-Status"); code == "" || code == strconv.Itoa(int(oip.Internal)) {
			t.Fatalf("status %q: %s", code, w.Result().Trailer.Get("Grpc-Message"))
		}
		r = httptest.NewRequest("POST", "/v2/models/double/infer", bytes.NewReader(data))
		r.Header.Set(oip.HeaderLength, strconv.Itoa(min(int(at), len(data))))
		w = httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code >= 500 && w.Code != 503 && w.Code != 504 {
			t.Fatal(w.Body)
		}
	})
}
