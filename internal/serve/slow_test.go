package serve

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/oip"
	"github.com/anynpu/anynpu/internal/serve/queue"
)

// dial opens a connection and writes text to it.
func (f *fixture) dial(text string) net.Conn {
	f.t.Helper()
	c, err := net.Dial("tcp", f.address)
	require.NoError(f.t, err)
	f.t.Cleanup(func() { c.Close() })
	_, err = io.WriteString(c, text)
	require.NoError(f.t, err)
	return c
}

// The preface of HTTP/2, empty settings, and the beginning of a block of headers that does not end.
const halfOfHTTP2 = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\x00\x00\x00\x04\x00\x00\x00\x00\x00" + "\x00\x00\x40\x01\x00\x00\x00"

// What a client begins and does not go on with.
var halves = map[string]string{
	"nothing":          "",
	"half a line":      "POST /v2/models/double/in",
	"half a header":    "POST /v2/models/double/infer HTTP/1.1\r\nHost: x\r\nContent-Le",
	"half a body":      "POST /v2/models/double/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{",
	"half a chunk":     "POST /v2/models/double/infer HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{",
	"half of HTTP/2":   halfOfHTTP2,
	"half a preface":   "PRI * HTTP/2.0\r\n\r\nSM",
	"a settings frame": halfOfHTTP2[:24+9],
}

func TestSlowClients_areCutOff(t *testing.T) {
	f := begin(t, func(c *Config, _ *queue.Config) { c.Client = 200 * time.Millisecond })
	conns := map[string]net.Conn{}
	for name, text := range halves {
		if !strings.Contains(name, "HTTP/2") && name != "a settings frame" { // these are idle, and make room when it is wanted
			conns[name] = f.dial(text)
		}
	}
	_, code, text := f.call(oip.ModelInfer, encoded(request("double", 1, 2)))
	assert.Equal(t, oip.OK, code, text)
	for name, c := range conns {
		rest, _ := io.ReadAll(c) // ends when the server closes
		if strings.Contains(name, "body") || strings.Contains(name, "chunk") {
			assert.Contains(t, string(rest), "408", name)
		}
	}
	// a body over HTTP/2 that does not arrive
	body, in := io.Pipe()
	defer in.Close()
	go func() { _, _ = in.Write([]byte{0, 0, 0}) }()
	a := f.post(oip.ModelInfer, body)
	defer a.Body.Close()
	_, err := io.Copy(io.Discard, a.Body)
	require.NoError(t, err)
	assert.Equal(t, strconv.Itoa(int(oip.DeadlineExceeded)), a.Trailer.Get("Grpc-Status"))
}

func TestSlowClients_doNotKeepOthersOut(t *testing.T) {
	f := begin(t, func(c *Config, _ *queue.Config) { c.Connections = 10 })
	for range 5 {
		for _, text := range halves {
			if !strings.Contains(text, "{") { // a request that has begun is one
				f.dial(text)
			}
		}
		_, code, text := f.call(oip.ModelInfer, encoded(request("double", 1, 2)))
		assert.Equal(t, oip.OK, code, text)
		f.two.CloseIdleConnections()
		status, _, body := f.send("GET", "/v2/health/live", "")
		assert.Equal(t, 200, status, body)
		f.client.CloseIdleConnections()
	}
	assert.LessOrEqual(t, f.server.room.open.Load(), int64(10))
}

// A client that does not take its answer is cut off, and the model serves others meanwhile.
func TestSlowClients_thatDoNotRead(t *testing.T) {
	f := begin(t, func(c *Config, _ *queue.Config) {
		c.Client, c.Rate, c.Message, c.Held = 2*time.Second, 1<<30, 64<<20, 1<<30
	})
	const floats = 4 << 20
	head := fmt.Sprintf(`{"parameters":{"binary_data_output":true},"inputs":[{"name":"x","shape":[%d,2],"datatype":"FP32",`+
		`"parameters":{"binary_data_size":%d}}]}`, floats/2, 4*floats)
	c := f.dial(fmt.Sprintf("POST /v2/models/double/infer HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%s: %d\r\n\r\n%s",
		len(head)+4*floats, oip.HeaderLength, len(head), head))
	_, err := c.Write(make([]byte, 4*floats))
	require.NoError(t, err)
	_, code, text := f.call(oip.ModelInfer, encoded(request("double", 1, 2)))
	assert.Equal(t, oip.OK, code, text)
	for f.server.room.open.Load() > 1 { // that of the call is left
		time.Sleep(time.Millisecond)
	}
}

func TestHeld_boundsWhatRequestsTake(t *testing.T) {
	f := begin(t, func(c *Config, _ *queue.Config) { c.Held, c.Message = 600<<10, 512<<10 })
	part := strings.Repeat(" ", 300<<10)
	c := f.dial("POST /v2/models/double/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 400000\r\n\r\n" + part)
	for f.server.held.Load() < 390000 {
		time.Sleep(time.Millisecond)
	}
	status, header, body := f.send("POST", "/v2/models/double/infer", part)
	assert.Equal(t, 503, status, body)
	assert.Contains(t, body, "try again later")
	assert.Equal(t, "1", header.Get("Retry-After"))
	c.Close()
	for f.server.held.Load() > 0 {
		time.Sleep(time.Millisecond)
	}
	// numbers in JSON take more than their text, and so do typed contents
	status, _, _ = f.send("POST", "/v2/models/double/infer", strings.Repeat(" ", 100<<10))
	assert.Equal(t, 503, status)
	typed := request("double")
	typed.Inputs[0].Raw, typed.Inputs[0].Contents = nil, &oip.Contents{Int64: make([]int64, 100<<10)}
	_, code, text := f.call(oip.ModelInfer, encoded(typed))
	assert.Equal(t, oip.Unavailable, code, text)
	_, code, text = f.call(oip.ModelInfer, encoded(request("double", make([]float32, 80<<10)...)))
	assert.Equal(t, oip.OK, code, text)
}

func TestCompression_ofRequests(t *testing.T) {
	f := begin(t, nil)
	zip := func(data []byte) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, err := w.Write(data)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		return b.Bytes()
	}
	body := `{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","data":[1,2]}]}`
	status, _, text := f.send("POST", "/v2/models/double/infer", string(zip([]byte(body))), "Content-Encoding", "gzip")
	assert.Equal(t, 200, status, text)
	bomb := zip(make([]byte, 16<<20))
	status, _, text = f.send("POST", "/v2/models/double/infer", string(bomb), "Content-Encoding", "gzip")
	assert.Equal(t, 413, status, text)

	message := zip(encoded(request("double", 1, 2)))
	frame := append([]byte{1}, oip.AppendPrefix(nil, len(message))[1:]...)
	a := f.post(oip.ModelInfer, bytes.NewReader(append(frame, message...)), "Grpc-Encoding", "gzip")
	defer a.Body.Close()
	answer, err := io.ReadAll(a.Body)
	require.NoError(t, err)
	assert.Equal(t, "0", a.Trailer.Get("Grpc-Status"), a.Trailer.Get("Grpc-Message"))
	assert.Contains(t, string(answer), string(tensor.Float32s(2, 4)))
}

// TestChunks_damaged: what is wrong is the request, not the connection.
func TestChunks_damaged(t *testing.T) {
	f := begin(t, nil)
	c := f.dial("POST /v2/models/double/infer HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
	line, err := bufio.NewReader(c).ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "HTTP/1.1 400 Bad Request\r\n", line)
}
