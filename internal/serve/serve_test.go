package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/leak"
	"github.com/anynpu/anynpu/internal/oip"
	"github.com/anynpu/anynpu/internal/serve/models"
	"github.com/anynpu/anynpu/internal/serve/queue"
	"github.com/anynpu/anynpu/internal/serve/servetest"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m, mem.LiveCounters)) }

// fixture is a server on loopback whose models are Go functions.
type fixture struct {
	t       testing.TB
	dir     string
	server  *Server
	models  *models.Repository
	address string
	client  *http.Client // HTTP/1.1
	two     *http.Client // HTTP/2
	started chan int64   // is sent to by each run of the model held
	free    chan struct{}
	once    sync.Once

	mu  sync.Mutex
	log []string
}

// program is the model that a file stands for: double, of float32[?,2]; held, the same once free is closed; codes, one
// of each of three types; broken, which does not load.
func (f *fixture) program(_ context.Context, path string) (device.Program, error) {
	in, out := []device.Port{servetest.Port("x", -1, 2)}, []device.Port{servetest.Port("y", -1, 2)}
	switch name := strings.TrimSuffix(filepath.Base(path), ".onnx"); name {
	case "held":
		return servetest.New(in, out, func(ctx context.Context, in []tensor.Tensor) ([]tensor.Tensor, error) {
			f.started <- in[0].Dims[0]
			select {
			case <-f.free:
				return servetest.Double(ctx, in)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}), nil
	case "codes":
		var ports []device.Port
		for _, d := range []tensor.DType{tensor.Int8, tensor.Bool, tensor.Float16} {
			ports = append(ports, device.Port{Name: d.String(), Type: tensor.T(d, 2)})
		}
		return servetest.New(ports, ports, func(_ context.Context, in []tensor.Tensor) ([]tensor.Tensor, error) {
			return append([]tensor.Tensor{}, in...), nil
		}), nil
	case "broken":
		return nil, fault.New(fault.File, "nothing but noise")
	}
	return servetest.New(in, out, servetest.Double), nil
}

func (f *fixture) told(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, text)
}

func (f *fixture) release() { f.once.Do(func() { close(f.free) }) }

// begin serves a folder with the models double, held, codes, and double's version 3 in a folder "many".
func begin(t testing.TB, change func(c *Config, q *queue.Config)) *fixture {
	f := &fixture{t: t, dir: t.TempDir(), started: make(chan int64, 1000), free: make(chan struct{})}
	require.NoError(t, os.MkdirAll(filepath.Join(f.dir, "many", "3"), 0o700))
	for _, name := range []string{"double.onnx", "held.onnx", "codes.onnx", "broken.onnx", "many/3/model.onnx"} {
		require.NoError(t, os.WriteFile(filepath.Join(f.dir, name), []byte("model"), 0o600))
	}
	c := Config{Version: "1.2", Message: 1 << 20, Held: 64 << 20, Timeout: time.Minute, Client: time.Minute,
		Connections: 100, Control: true, Log: f.told}
	q := queue.Config{Limit: 50, Instances: 1}
	if change != nil {
		change(&c, &q)
	}
	f.models = models.New(models.Config{Dir: f.dir, Open: f.program, Queue: q, Log: f.told,
		Known: func(path string) bool { return filepath.Ext(path) == ".onnx" }})
	loaded, all, err := f.models.LoadAll(context.Background())
	require.NoError(t, err)
	assert.Equal(t, [2]int{4, 5}, [2]int{loaded, all})
	c.Models = f.models
	f.server = New(c)
	f.server.SetReady(true)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	f.address = l.Addr().String()
	var two http.Protocols
	two.SetUnencryptedHTTP2(true)
	f.client, f.two = &http.Client{Transport: &http.Transport{}}, &http.Client{Transport: &http.Transport{Protocols: &two}}
	var serving sync.WaitGroup
	serving.Go(func() { assert.NoError(t, f.server.Serve(l)) })
	t.Cleanup(func() {
		f.release()
		f.client.CloseIdleConnections()
		f.two.CloseIdleConnections()
		assert.NoError(t, f.server.Shutdown(context.Background()))
		f.models.Close(context.Background())
		serving.Wait()
		// Requests that were cut off end by themselves.
		assert.Eventually(t, func() bool { return f.server.held.Load() == 0 && f.server.room.open.Load() == 0 },
			time.Minute, time.Millisecond)
		f.mu.Lock()
		defer f.mu.Unlock()
		assert.NotContains(t, strings.Join(f.log, "\n"), "panic")
	})
	return f
}

// send sends a request of HTTP/1.1 and returns status, header and body of the answer.
func (f *fixture) send(method, path, body string, header ...string) (int, http.Header, string) {
	f.t.Helper()
	q, err := http.NewRequest(method, "http://"+f.address+path, strings.NewReader(body))
	require.NoError(f.t, err)
	for i := 0; i < len(header); i += 2 {
		q.Header.Set(header[i], header[i+1])
	}
	a, err := f.client.Do(q)
	require.NoError(f.t, err)
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	require.NoError(f.t, err)
	return a.StatusCode, a.Header, string(text)
}

// post begins a call of gRPC with a body.
func (f *fixture) post(path string, body io.Reader, header ...string) *http.Response {
	f.t.Helper()
	q, err := http.NewRequest("POST", "http://"+f.address+path, body)
	require.NoError(f.t, err)
	q.Header.Set("Content-Type", "application/grpc")
	q.Header.Set("Te", "trailers")
	for i := 0; i < len(header); i += 2 {
		q.Header.Set(header[i], header[i+1])
	}
	a, err := f.two.Do(q)
	require.NoError(f.t, err)
	return a
}

// call makes a unary call of gRPC and returns the message and the status of the answer.
func (f *fixture) call(path string, message []byte, header ...string) ([]byte, oip.Code, string) {
	f.t.Helper()
	a := f.post(path, bytes.NewReader(append(oip.AppendPrefix(nil, len(message)), message...)), header...)
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	require.NoError(f.t, err)
	assert.Equal(f.t, 200, a.StatusCode)
	code, err := strconv.Atoi(a.Trailer.Get("Grpc-Status"))
	require.NoError(f.t, err, "%v %v", a.Header, a.Trailer)
	if code != 0 {
		assert.Empty(f.t, text)
		return nil, oip.Code(code), oip.DecodeMessage(a.Trailer.Get("Grpc-Message"))
	}
	require.GreaterOrEqual(f.t, len(text), oip.PrefixSize)
	size, compressed := oip.ParsePrefix([5]byte([]byte(text[:5])))
	assert.False(f.t, compressed)
	assert.EqualValues(f.t, len(text)-5, size)
	return text[5:], oip.OK, ""
}

// request is one for a model of float32[?,2].
func request(model string, v ...float32) *oip.Request {
	return &oip.Request{Model: model, ID: "7", Inputs: []oip.Tensor{{Name: "x", Datatype: "FP32",
		Shape: []int64{int64(len(v) / 2), 2}, Raw: tensor.Float32s(v...)}}}
}

func encoded(q *oip.Request) []byte {
	parts, _ := q.Parts()
	return bytes.Join(parts, nil)
}

func TestREST_describes(t *testing.T) {
	f := begin(t, nil)
	for path, want := range map[string]string{
		"/v2":              `{"name":"anynpu","version":"1.2","extensions":["binary_tensor_data","statistics","model_repository"]}`,
		"/v2/health/live":  `{"live":true}`,
		"/v2/health/ready": `{"ready":true}`,
		"/v2/models":       `{"models":["codes","double","held","many"]}`,
		"/v2/models/double": `{"name":"double","versions":["1"],"platform":"anynpu",` +
			`"inputs":[{"name":"x","datatype":"FP32","shape":[-1,2]}],"outputs":[{"name":"y","datatype":"FP32","shape":[-1,2]}]}`,
		"/v2/models/double/ready":          `{"name":"double","ready":true}`,
		"/v2/models/many/versions/3/ready": `{"name":"many","ready":true}`,
	} {
		status, header, body := f.send("GET", path, "")
		assert.Equal(t, 200, status, path)
		assert.Equal(t, "application/json", header.Get("Content-Type"))
		assert.JSONEq(t, want, body, path)
	}
	status, _, body := f.send("GET", "/v2/models/codes", "")
	assert.Equal(t, 200, status)
	for _, typ := range []string{"INT8", "BOOL", "FP16"} {
		assert.Contains(t, body, typ)
	}
	f.server.SetReady(false)
	for _, path := range []string{"/v2/health/ready", "/v2/models/double/ready"} {
		status, _, _ = f.send("GET", path, "")
		assert.Equal(t, 503, status, path)
	}
}

func TestREST_infers(t *testing.T) {
	f := begin(t, nil)
	const path = "/v2/models/double/infer"
	status, header, body := f.send("POST", path,
		`{"id":"a","inputs":[{"name":"x","shape":[2,2],"datatype":"FP32","data":[[1,2],[3,-4.5]]}]}`)
	assert.Equal(t, 200, status)
	assert.JSONEq(t, `{"id":"a","model_name":"double","model_version":"1",
		"outputs":[{"name":"y","shape":[2,2],"datatype":"FP32","data":[2,4,6,-9]}]}`, body)
	assert.Regexp(t, `^queue;dur=[0-9.]+, compute;dur=[0-9.]+$`, header.Get("Server-Timing"))

	head := `{"parameters":{"binary_data_output":true},"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32",` +
		`"parameters":{"binary_data_size":8}}]}`
	status, header, body = f.send("POST", path, head+string(tensor.Float32s(5, 6)), oip.HeaderLength,
		strconv.Itoa(len(head)))
	assert.Equal(t, 200, status)
	n, err := strconv.Atoi(header.Get(oip.HeaderLength))
	require.NoError(t, err)
	assert.JSONEq(t, `{"model_name":"double","model_version":"1","outputs":[{"name":"y","shape":[1,2],"datatype":"FP32",
		"parameters":{"binary_data_size":8}}]}`, body[:n])
	assert.Equal(t, string(tensor.Float32s(10, 12)), body[n:])

	// one output of three, as bytes: half precision has no other form
	all := `"inputs":[{"name":"int8","shape":[2],"datatype":"INT8","data":[-1,5]},` +
		`{"name":"bool","shape":[2],"datatype":"BOOL","data":[true,false]},` +
		`{"name":"float16","shape":[2],"datatype":"FP16","parameters":{"binary_data_size":4}}]`
	head = `{"outputs":[{"name":"float16","parameters":{"binary_data":true}},{"name":"int8"}],` + all + `}`
	status, header, body = f.send("POST", "/v2/models/codes/infer", head+"abcd", oip.HeaderLength, strconv.Itoa(len(head)))
	require.Equal(t, 200, status, body)
	n, err = strconv.Atoi(header.Get(oip.HeaderLength))
	require.NoError(t, err)
	assert.Equal(t, "abcd", body[n:])
	assert.Contains(t, body[:n], `[-1,5]`)
	head = `{` + all + `}`
	status, _, body = f.send("POST", "/v2/models/codes/infer", head+"abcd", oip.HeaderLength, strconv.Itoa(len(head)))
	assert.Equal(t, 400, status)
	assert.Contains(t, body, "use binary data")
}

func TestGRPC_sixCalls(t *testing.T) {
	f := begin(t, nil)
	for _, path := range []string{oip.ServerLive, oip.ServerReady} {
		b, code, _ := f.call(path, nil)
		assert.Equal(t, oip.OK, code)
		assert.Equal(t, "\x08\x01", string(b))
	}
	name := oip.ModelName{Name: "double", Version: "1"}
	b, _, _ := f.call(oip.ModelReady, name.Append(nil))
	assert.Equal(t, "\x08\x01", string(b))
	b, code, _ := f.call(oip.ModelReady, oip.ModelName{Name: "nosuch"}.Append(nil))
	assert.Equal(t, oip.OK, code)
	assert.Empty(t, b)
	b, _, _ = f.call(oip.ServerMetadata, nil)
	about, err := oip.ParseServer(b)
	require.NoError(t, err)
	assert.Equal(t, "anynpu 1.2", about.Name+" "+about.Version)
	b, _, _ = f.call(oip.ModelMetadata, oip.ModelName{Name: "many"}.Append(nil))
	m, err := oip.ParseModel(b)
	require.NoError(t, err)
	assert.Equal(t, []string{"3"}, m.Versions)
	assert.Equal(t, []oip.Port{{Name: "x", Datatype: "FP32", Shape: []int64{-1, 2}}}, m.Inputs)

	for _, extra := range [][]string{nil, {"Grpc-Timeout", "10S"}} {
		b, code, text := f.call(oip.ModelInfer, encoded(request("double", 1, 2, 3, 4)), extra...)
		require.Equal(t, oip.OK, code, text)
		a, err := oip.ParseResponse(b)
		require.NoError(t, err)
		assert.Equal(t, "double 1 7", a.Model+" "+a.Version+" "+a.ID)
		require.Len(t, a.Outputs, 1)
		assert.Equal(t, "y FP32 [2 2]", fmt.Sprint(a.Outputs[0].Name, " ", a.Outputs[0].Datatype, " ", a.Outputs[0].Shape))
		assert.Equal(t, tensor.Float32s(2, 4, 6, 8), a.Outputs[0].Raw)
	}
	typed := request("double")
	typed.Inputs[0].Raw, typed.Inputs[0].Shape = nil, []int64{1, 2}
	typed.Inputs[0].Contents = &oip.Contents{FP32: []float32{1.5, -2}}
	b, code, text := f.call(oip.ModelInfer, encoded(typed))
	require.Equal(t, oip.OK, code, text)
	a, err := oip.ParseResponse(b)
	require.NoError(t, err)
	assert.Equal(t, tensor.Float32s(3, -4), a.Outputs[0].Raw)
	b, code, text = f.call(oip.ModelInfer, encoded(request("double")))
	require.Equal(t, oip.OK, code, text)
	a, err = oip.ParseResponse(b)
	require.NoError(t, err)
	assert.Equal(t, []int64{0, 2}, a.Outputs[0].Shape)
}

func TestRefusals(t *testing.T) {
	f := begin(t, nil)
	with := func(change func(q *oip.Request)) []byte {
		q := request("double", 1, 2)
		change(q)
		return encoded(q)
	}
	codes := request("codes")
	codes.Inputs = []oip.Tensor{{Name: "int8", Datatype: "INT8", Shape: []int64{2}, Raw: []byte{1, 2}},
		{Name: "bool", Datatype: "BOOL", Shape: []int64{2}, Raw: []byte{1, 2}},
		{Name: "float16", Datatype: "FP16", Shape: []int64{2}, Raw: []byte{1, 2, 3, 4}}}
	for _, c := range []struct {
		message []byte
		code    oip.Code
		says    string
	}{
		{with(func(q *oip.Request) { q.Model = "nosuch" }), oip.NotFound, `unknown model: "nosuch"`},
		{with(func(q *oip.Request) { q.Version = "77" }), oip.NotFound, `version "77"`},
		{with(func(q *oip.Request) { q.Model = "broken" }), oip.Unavailable, "nothing but noise"},
		{with(func(q *oip.Request) { q.Inputs[0].Shape[0] = 2 }), oip.InvalidArgument, "Expected 16, got 8"},
		{with(func(q *oip.Request) { q.Inputs[0].Shape[0] = -1 }), oip.InvalidArgument, "[-1 2]"},
		{with(func(q *oip.Request) { q.Inputs[0].Shape[0] = 1 << 62 }), oip.InvalidArgument, "no size"},
		{with(func(q *oip.Request) { q.Inputs[0].Shape = []int64{2, 1} }), oip.InvalidArgument,
			`unexpected shape for input "x" for model "double". Expected [-1 2], got [2 1]`},
		{with(func(q *oip.Request) { q.Inputs[0].Datatype = "INT32" }), oip.InvalidArgument, `"INT32", but model "double"`},
		{with(func(q *oip.Request) { q.Inputs[0].Name = "z" }), oip.InvalidArgument, `unexpected inference input "z"`},
		{with(func(q *oip.Request) { q.Inputs = nil }), oip.InvalidArgument, "expected 1 inputs but got 0"},
		{with(func(q *oip.Request) { q.Inputs[0].Raw = nil }), oip.InvalidArgument, "Expected 8, got 0"},
		{with(func(q *oip.Request) { q.Outputs = []oip.Requested{{Name: "q"}} }), oip.InvalidArgument, `output "q"`},
		{with(func(q *oip.Request) { q.Outputs = []oip.Requested{{Name: "y"}, {Name: "y"}} }), oip.InvalidArgument, "twice"},
		{with(func(q *oip.Request) {
			q.Inputs[0].Raw = nil
			q.Inputs[0].Contents = &oip.Contents{Int: []int32{1, 2}}
		}), oip.InvalidArgument, "FP32"},
		{encoded(codes), oip.InvalidArgument, "element 1 is 2, want 0 or 1"},
		{[]byte("\xff\xff"), oip.InvalidArgument, "damaged"},
		{make([]byte, 1<<20+1), oip.ResourceExhausted, "received message larger than max (1048577 vs. 1048576)"},
	} {
		_, code, text := f.call(oip.ModelInfer, c.message)
		assert.Equal(t, c.code, code, text)
		assert.Contains(t, text, c.says)
	}
	_, code, text := f.call(oip.Service+"Frobnicate", nil)
	assert.Equal(t, oip.Unimplemented, code, text)
	_, code, text = f.call(oip.ModelInfer, encoded(request("double", 1, 2)), "Grpc-Timeout", "soon")
	assert.Equal(t, oip.InvalidArgument, code, text)

	good := `{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","data":[1,2]}]}`
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
		header             []string
	}{
		{"POST", "/v2/models/nosuch/infer", good, 404, "nosuch", nil},
		{"POST", "/v2/models/double/versions/9/infer", good, 404, "9", nil},
		{"POST", "/v2/models/broken/infer", good, 503, "nothing but noise", nil},
		{"POST", "/v2/models/double/infer", "", 400, "JSON", nil},
		{"POST", "/v2/models/double/infer", "[1,2]", 400, "JSON", nil},
		{"POST", "/v2/models/double/infer", good, 400, oip.HeaderLength, []string{oip.HeaderLength, "9999"}},
		{"POST", "/v2/models/double/infer", good, 400, oip.HeaderLength, []string{oip.HeaderLength, "-1"}},
		{"POST", "/v2/models/double/infer", good, 415, "br", []string{"Content-Encoding", "br"}},
		{"POST", "/v2/models/double/infer", good, 400, "damaged", []string{"Content-Encoding", "gzip"}},
		{"POST", "/v2/models/double/infer", strings.Repeat(" ", 1<<20+1), 413, "larger than max", nil},
		{"POST", "/v2/models/double/infer", good, 403, "cross-origin", []string{"Sec-Fetch-Site", "cross-site"}},
		{"GET", "/v2/models/double/infer", "", 405, "", nil},
		{"GET", "/v2/models/nosuch", "", 404, "nosuch", nil},
		{"GET", "/v2/models/nosuch/ready", "", 404, "nosuch", nil},
		{"GET", "/elsewhere", "", 404, "no such path", nil},
	} {
		status, _, body := f.send(c.method, c.path, c.body, c.header...)
		assert.Equal(t, c.status, status, "%s %s: %s", c.method, c.path, body)
		assert.Contains(t, body, c.says)
	}
}

// limits are those of a server on which one request is computed and one waits.
func limits(_ *Config, q *queue.Config) { q.Limit, q.Instances = 1, 1 }

func TestOverload_isAnsweredAtOnce(t *testing.T) {
	f := begin(t, limits)
	var all sync.WaitGroup
	body := `{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","data":[1,2]}]}`
	for i := range 2 {
		all.Go(func() {
			b, code, text := f.call(oip.ModelInfer, encoded(request("held", 1, 2)))
			assert.Equal(t, oip.OK, code, text)
			assert.Contains(t, string(b), string(tensor.Float32s(2, 4)))
		})
		if i == 0 {
			<-f.started
		}
	}
	v, err := f.models.Find("held", "")
	require.NoError(t, err)
	for n, _ := v.Waiting(); n == 0; n, _ = v.Waiting() {
		time.Sleep(time.Millisecond)
	}
	status, header, text := f.send("POST", "/v2/models/held/infer", body)
	assert.Equal(t, 429, status)
	assert.Equal(t, "1", header.Get("Retry-After"))
	assert.Contains(t, text, "exceeds maximum queue size")
	_, code, text := f.call(oip.ModelInfer, encoded(request("held", 1, 2)))
	assert.Equal(t, oip.ResourceExhausted, code, text)
	status, _, _ = f.send("POST", "/v2/models/double/infer", body)
	assert.Equal(t, 200, status, "other models are not held up")
	_, code, text = f.call(oip.ModelInfer, encoded(request("held", 1, 2)), "Grpc-Timeout", "1m")
	assert.Contains(t, []oip.Code{oip.ResourceExhausted, oip.DeadlineExceeded}, code, text)
	f.release()
	all.Wait()
	_, _, page := f.send("GET", "/metrics", "")
	for _, want := range []string{
		`anynpu_requests_total{model="held",version="1",protocol="grpc",code="OK"} 2`,
		`anynpu_requests_total{model="held",version="1",protocol="http",code="ResourceExhausted"} 1`,
		`anynpu_refused_requests_total{model="held",version="1"} `,
		`anynpu_compute_seconds_count{model="held",version="1"} 2`,
	} {
		assert.Contains(t, page, want)
	}
}

func TestDeadline_endsARunThatNobodyWaitsFor(t *testing.T) {
	f := begin(t, nil)
	_, code, text := f.call(oip.ModelInfer, encoded(request("held", 1, 2)), "Grpc-Timeout", "20m")
	assert.Equal(t, oip.DeadlineExceeded, code, text)
	f.release() // a run that was not stopped would hold up the next one
	_, code, text = f.call(oip.ModelInfer, encoded(request("held", 1, 2)))
	assert.Equal(t, oip.OK, code, text)
}

func TestShutdown_answersWhatThereIs(t *testing.T) {
	f := begin(t, nil)
	var all sync.WaitGroup
	all.Go(func() {
		_, code, text := f.call(oip.ModelInfer, encoded(request("held", 1, 2)))
		assert.Equal(t, oip.OK, code, text)
	})
	<-f.started
	all.Go(func() { assert.NoError(t, f.server.Shutdown(context.Background())) })
	for f.server.isReady() {
		time.Sleep(time.Millisecond)
	}
	for { // no new connections
		c, err := net.Dial("tcp", f.address)
		if err != nil {
			break
		}
		c.Close()
	}
	f.release()
	all.Wait()
}

func TestShutdown_cutsOffWhenItsTimeIsOver(t *testing.T) {
	f := begin(t, nil)
	var all sync.WaitGroup
	all.Go(func() {
		q, err := http.NewRequest("POST", "http://"+f.address+"/v2/models/held/infer",
			strings.NewReader(`{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","data":[1,2]}]}`))
		assert.NoError(t, err)
		a, err := f.client.Do(q)
		if err == nil {
			a.Body.Close()
		}
		assert.Error(t, err)
	})
	<-f.started
	over, cancel := context.WithCancel(context.Background())
	cancel()
	assert.Error(t, f.server.Shutdown(over))
	f.models.Close(over)
	all.Wait()
}

func TestREST_repository(t *testing.T) {
	f := begin(t, nil)
	index := func(body string) (list []models.Entry) {
		status, _, text := f.send("POST", "/v2/repository/index", body)
		assert.Equal(t, 200, status)
		require.NoError(t, json.Unmarshal([]byte(text), &list))
		return list
	}
	state := func(name string) string {
		for _, e := range index("") {
			if e.Name == name {
				return e.Version + " " + e.State + " " + e.Reason
			}
		}
		return ""
	}
	assert.Len(t, index(""), 5)
	assert.Len(t, index(`{"ready":true}`), 4)
	assert.Equal(t, "1 UNAVAILABLE nothing but noise", state("broken"))
	status, _, text := f.send("POST", "/v2/repository/models/double/unload", "")
	assert.Equal(t, 200, status, text)
	for state("double") != "1 UNAVAILABLE unloaded" {
		time.Sleep(time.Millisecond)
	}
	status, _, _ = f.send("GET", "/v2/models/double/ready", "")
	assert.Equal(t, 503, status)
	status, _, text = f.send("POST", "/v2/repository/models/double/load", "{}")
	assert.Equal(t, 200, status, text)
	assert.Equal(t, "1 READY ", state("double"))
	status, _, text = f.send("POST", "/v2/repository/models/broken/load", "")
	assert.Equal(t, 400, status)
	assert.Contains(t, text, "nothing but noise")
	status, _, _ = f.send("POST", "/v2/repository/models/nosuch/load", "")
	assert.Equal(t, 404, status)
	status, _, text = f.send("POST", "/v2/repository/models/double/load", `{"parameters":{"config":"{}"}}`)
	assert.Equal(t, 400, status, text)

	// the forms of Triton and MLServer, and of KServe
	_, code, text := f.call(repositoryLoad, appendText(appendText(nil, 2, "double"), 3, "parameters"))
	assert.Equal(t, oip.InvalidArgument, code, text)
	b, code, text := f.call(repositoryUnload, appendText(appendText(nil, 2, "double"), 3, "unload_dependents"))
	assert.Equal(t, oip.OK, code, text)
	assert.Empty(t, b)
	b, code, text = f.call(repositoryLoad, appendText(nil, 1, "double"))
	assert.Equal(t, oip.OK, code, text)
	assert.Equal(t, "\x0a\x06double\x10\x01", string(b))
	b, code, _ = f.call(repositoryIndex, nil)
	assert.Equal(t, oip.OK, code)
	assert.Contains(t, string(b), "\x0a\x06double\x12\x011\x1a\x05READY")

	// a new version, while requests come
	require.NoError(t, os.MkdirAll(filepath.Join(f.dir, "many", "4"), 0o700))
	require.NoError(t, os.Rename(filepath.Join(f.dir, "many/3/model.onnx"), filepath.Join(f.dir, "many/4/model.onnx")))
	stop := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_, code, text := f.call(oip.ModelInfer, encoded(request("many", 1, 2)))
				assert.Equal(t, oip.OK, code, text)
			}
		}
	})
	for range 20 {
		status, _, text := f.send("POST", "/v2/repository/models/many/load", "")
		assert.Equal(t, 200, status, text)
	}
	close(stop)
	all.Wait()
	assert.Equal(t, "4 READY ", state("many"))

	g := begin(t, func(c *Config, _ *queue.Config) { c.Control = false })
	status, _, _ = g.send("POST", "/v2/repository/models/double/unload", "")
	assert.Equal(t, 403, status)
	status, _, body := g.send("GET", "/v2", "")
	assert.Equal(t, 200, status)
	assert.NotContains(t, body, "model_repository")
}

func TestHealth_ofGRPC(t *testing.T) {
	f := begin(t, nil)
	check := func(service string) (string, oip.Code) {
		b, code, _ := f.call(healthCheck, appendText(nil, 1, service))
		return string(b), code
	}
	for _, service := range []string{"", "inference.GRPCInferenceService", "double"} {
		b, code := check(service)
		assert.Equal(t, oip.OK, code)
		assert.Equal(t, "\x08\x01", b, service)
	}
	_, code := check("nosuch")
	assert.Equal(t, oip.NotFound, code)

	body, in := io.Pipe()
	go func() { _, _ = in.Write(oip.AppendPrefix(nil, 0)) }()
	a := f.post(healthWatch, body)
	defer a.Body.Close()
	next := func() string {
		b := make([]byte, 7)
		_, err := io.ReadFull(a.Body, b)
		require.NoError(t, err)
		return string(b)
	}
	assert.Equal(t, "\x00\x00\x00\x00\x02\x08\x01", next())
	f.server.SetReady(false)
	assert.Equal(t, "\x00\x00\x00\x00\x02\x08\x02", next())
	in.Close()
	assert.NoError(t, f.server.Shutdown(context.Background()))
	_, err := io.Copy(io.Discard, a.Body)
	require.NoError(t, err)
	assert.Equal(t, "14", a.Trailer.Get("Grpc-Status"))
}

func TestToken_isAskedFor(t *testing.T) {
	f := begin(t, func(c *Config, _ *queue.Config) { c.Token = "secret" })
	status, header, _ := f.send("GET", "/v2/models/double", "")
	assert.Equal(t, 401, status)
	assert.Equal(t, "Bearer", header.Get("WWW-Authenticate"))
	for _, wrong := range []string{"Bearer secre", "Bearer secrets", "Basic secret", "secret", "Bearer "} {
		status, _, _ = f.send("GET", "/v2/models/double", "", "Authorization", wrong)
		assert.Equal(t, 401, status, wrong)
	}
	status, _, _ = f.send("GET", "/v2/models/double", "", "Authorization", "bearer secret")
	assert.Equal(t, 200, status)
	status, _, _ = f.send("GET", "/v2/health/ready", "")
	assert.Equal(t, 200, status, "what asks for health has no token")
	_, code, _ := f.call(oip.ModelInfer, encoded(request("double", 1, 2)))
	assert.Equal(t, oip.Unauthenticated, code)
	_, code, _ = f.call(oip.ModelInfer, encoded(request("double", 1, 2)), "Authorization", "Bearer secret")
	assert.Equal(t, oip.OK, code)
	_, code, _ = f.call(healthCheck, nil)
	assert.Equal(t, oip.OK, code)
}
