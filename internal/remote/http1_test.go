package remote

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// scripted is a server whose connections are answered by script, the first by its first entry.
func scripted(t *testing.T, script ...func(c net.Conn, in *bufio.Reader)) (host string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, f := range script {
			c, err := l.Accept()
			if err != nil {
				return
			}
			f(c, bufio.NewReader(c))
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String()
}

// asked reads a request.
func asked(t *testing.T, in *bufio.Reader) []byte {
	r, err := http.ReadRequest(in)
	if !assert.NoError(t, err) {
		return nil
	}
	b, err := io.ReadAll(r.Body)
	assert.NoError(t, err)
	return b
}

// post sends pieces and returns the answer's status and body.
func post(ctx context.Context, h *http1, host string, pieces ...[]byte) (int, string, error) {
	e := &endpoint{base: "http://" + host, token: func() (string, error) { return "", nil }}
	size := 0
	for _, p := range pieces {
		size += len(p)
	}
	r, s, err := e.request(ctx, "/v2", pieces, size)
	if err != nil {
		return 0, "", err
	}
	defer s.stop()
	resp, err := h.RoundTrip(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

func client(t *testing.T, host string) *http1 {
	h := newHTTP1(&net.Dialer{}, host, nil)
	t.Cleanup(h.CloseIdleConnections)
	return h
}

// TestHTTP1_answers: requests of every size arrive whole, answers of each form are read, by one connection.
func TestHTTP1_answers(t *testing.T) {
	var connections sync.Map
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connections.Store(r.RemoteAddr, true)
		b, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		if len(b) > 10 { // in chunks
			w.WriteHeader(http.StatusEarlyHints)
			_, _ = w.Write(b[:1])
			_ = http.NewResponseController(w).Flush()
			_, _ = w.Write(b[1:])
			return
		}
		_, _ = fmt.Fprintf(w, "%s %s", r.URL.Path, b)
	}))
	defer s.Close()
	host := s.Listener.Addr().String()
	h := client(t, host)
	for _, n := range []int{0, 1, together, together + 1, 150528, 5 << 20} {
		pieces := [][]byte{bytes.Repeat([]byte{'a'}, n/3), bytes.Repeat([]byte{'b'}, n-n/3)}
		status, got, err := post(context.Background(), h, host, pieces...)
		require.NoError(t, err, n)
		want := string(pieces[0]) + string(pieces[1])
		if n <= 10 {
			want = "/v2 " + want
		}
		assert.Equal(t, http.StatusOK, status)
		assert.True(t, want == got, "%d bytes", n)
	}
	count := 0
	connections.Range(func(any, any) bool { count++; return true })
	assert.Equal(t, 1, count)
}

// TestHTTP1_closed: a connection that the server has closed while it waited, or announced to, is not used again.
func TestHTTP1_closed(t *testing.T) {
	for _, header := range []string{"", "Connection: close\r\n"} {
		one := func(c net.Conn, in *bufio.Reader) {
			asked(t, in)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"+header+"\r\nok")
		}
		host := scripted(t, one, one, one)
		h := client(t, host)
		for range 3 {
			_, got, err := post(context.Background(), h, host, []byte("x"))
			require.NoError(t, err)
			assert.Equal(t, "ok", got)
			if header == "" {
				h.mu.Lock()
				waits := h.idle[0]
				h.mu.Unlock()
				assert.Eventually(t, func() bool { return !waits.open() }, 5*time.Second, time.Millisecond)
			}
		}
	}
}

// TestHTTP1_refused: a server that answers before it has read a large request, and reads no further.
func TestHTTP1_refused(t *testing.T) {
	for _, n := range []int{150528, 64 << 20} {
		host := scripted(t, func(c net.Conn, in *bufio.Reader) {
			_, _ = in.ReadString('\n')
			_, _ = io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 5\r\n\r\nlarge")
			time.Sleep(50 * time.Millisecond) // the client reads it before the connection is reset
		})
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		status, got, err := post(ctx, client(t, host), host, make([]byte, n))
		require.NoError(t, err, n)
		assert.Equal(t, 413, status)
		assert.Equal(t, "large", got)
	}
}

// TestHTTP1_givenUp: a call that is given up returns at once, whether it is sent or its answer awaited.
func TestHTTP1_givenUp(t *testing.T) {
	for _, n := range []int{1, 64 << 20} {
		over := make(chan struct{})
		host := scripted(t, func(net.Conn, *bufio.Reader) { <-over })
		ctx, cancel := context.WithCancel(context.Background())
		h := client(t, host)
		ended := make(chan error, 1)
		go func() {
			_, _, err := post(ctx, h, host, make([]byte, n))
			ended <- err
		}()
		select {
		case err := <-ended:
			t.Fatal("ended:", err)
		case <-time.After(20 * time.Millisecond):
		}
		cancel()
		select {
		case err := <-ended:
			require.Error(t, err)
		case <-time.After(10 * time.Second):
			t.Error("goes on")
		}
		close(over)
		assert.Empty(t, h.idle)
	}
}

// TestHTTP1_nonsense: headers without an end, bytes behind an answer, the end of the connection.
func TestHTTP1_nonsense(t *testing.T) {
	host := scripted(t, func(c net.Conn, in *bufio.Reader) {
		asked(t, in)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n")
		for i := 0; ; i++ {
			if _, err := fmt.Fprintf(c, "x-%d: %s\r\n", i, strings.Repeat("y", 1000)); err != nil {
				return
			}
		}
	}, func(c net.Conn, in *bufio.Reader) {
		asked(t, in)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"+
			"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad")
		_, _ = io.Copy(io.Discard, in)
	}, func(_ net.Conn, in *bufio.Reader) { asked(t, in) })
	h := client(t, host)
	_, _, err := post(context.Background(), h, host, []byte("x"))
	require.ErrorContains(t, err, "headers of more than 65536 bytes")
	_, got, err := post(context.Background(), h, host, []byte("x"))
	require.NoError(t, err)
	assert.Equal(t, "ok", got)
	assert.Empty(t, h.idle)
	_, _, err = post(context.Background(), h, host, []byte("x"))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}
