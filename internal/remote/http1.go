package remote

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/backends/remote/link"
)

// The limits of http1.
const (
	mostIdle    = 64      // connections that wait for a request
	together    = 4 << 10 // a first piece of a body up to this size goes out with the headers
	aside       = 1 << 20 // a larger body is sent while the answer is awaited: a server may refuse it before its end
	readSize    = 4 << 10 // larger reads go to where the bytes belong
	refusalTime = time.Second
	writeTime   = 100 * time.Millisecond // for the rest of a request whose answer is there
)

// http1 is HTTP/1.1 to one address, as a http.RoundTripper. It sends a request in one write from where its tensors lie,
// and reads an answer on the caller's goroutine to where it belongs. The transport of net/http has two goroutines for
// each connection, which costs more than the kernel's share of a run with 150 kB. Bodies of requests are of type *body
// or nil.
type http1 struct {
	dial func(ctx context.Context) (net.Conn, error)
	mu   sync.Mutex
	idle []*conn1 // by the time since when they wait
	old  *time.Timer
}

// conn1 is a connection, of one request at a time.
type conn1 struct {
	net  net.Conn
	in   *bufio.Reader
	left int // bytes that may still be read of headers; negative: no headers are read
	head bytes.Buffer
	out  net.Buffers
	idle time.Time // since when it waits
}

// newHTTP1 opens nothing. Without a config there is no TLS.
func newHTTP1(dialer *net.Dialer, host string, config *tls.Config) *http1 {
	if config != nil {
		config = config.Clone()
		config.NextProtos = []string{"http/1.1"}
		if name, _, err := net.SplitHostPort(host); err == nil && config.ServerName == "" {
			config.ServerName = name
		}
	}
	dial := dialSocket(dialer)
	return &http1{dial: func(ctx context.Context) (net.Conn, error) {
		c, err := dial(ctx, "tcp", host)
		if err != nil || config == nil {
			return c, err
		}
		ctx, cancel := context.WithTimeout(ctx, dialLimit)
		defer cancel()
		secure := tls.Client(c, config)
		if err := secure.HandshakeContext(ctx); err != nil {
			c.Close()
			return nil, err
		}
		return secure, nil
	}}
}

// RoundTrip implements http.RoundTripper. When it has returned an error, or the body of the answer is closed, nobody
// reads the request's body.
func (t *http1) RoundTrip(r *http.Request) (*http.Response, error) {
	c, err := t.take(r.Context())
	if err != nil {
		return nil, err
	}
	a := &answer1{of: t, conn: c, sent: true}
	a.stop = context.AfterFunc(r.Context(), func() { _ = c.net.SetDeadline(time.Unix(1, 0)) })
	size := c.request(r)
	if size > aside {
		written := make(chan error, 1)
		a.written = written
		go func() { written <- c.send() }()
	} else if err := c.send(); err != nil {
		a.sent = false
		if r.Context().Err() == nil { // it may have said why it does not read on
			_ = c.net.SetReadDeadline(time.Now().Add(refusalTime))
		}
		if resp, e := c.response(r); e == nil && resp.StatusCode != http.StatusOK {
			a.body, resp.Body = resp.Body, a
			return resp, nil
		}
		a.Close()
		return nil, err
	}
	resp, err := c.response(r)
	if err != nil {
		a.Close()
		return nil, err
	}
	a.last = resp.Close
	a.body, resp.Body = resp.Body, a
	return resp, nil
}

// request prepares a request, of so many bytes.
func (c *conn1) request(r *http.Request) (size int) {
	h := &c.head
	h.Reset()
	fmt.Fprintf(h, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.Method, r.URL.RequestURI(), r.URL.Host)
	var list [][]byte
	if b, is := r.Body.(*body); is {
		list = b.of.pieces()
		h.WriteString("Content-Length: ")
		h.Write(strconv.AppendInt(h.AvailableBuffer(), r.ContentLength, 10))
		h.WriteString("\r\n")
	}
	_ = r.Header.Write(h) // to memory
	h.WriteString("\r\n")
	if len(list) > 0 && len(list[0]) <= together {
		h.Write(list[0])
		list = list[1:]
	}
	c.out = append(append(c.out[:0], h.Bytes()), list...)
	for _, b := range c.out {
		size += len(b)
	}
	return size
}

// send sends what request has prepared.
func (c *conn1) send() error {
	var err error
	if s, is := c.net.(*socket); is {
		_, err = s.send(c.out)
	} else {
		out := c.out // which WriteTo takes apart
		_, err = out.WriteTo(c.net)
	}
	clear(c.out[:cap(c.out)])
	return err
}

// response reads the headers of an answer.
func (c *conn1) response(r *http.Request) (*http.Response, error) {
	c.left = maxHeaders
	defer func() { c.left = -1 }()
	for {
		resp, err := http.ReadResponse(c.in, r)
		if err != nil || resp.StatusCode >= http.StatusOK || resp.StatusCode == http.StatusSwitchingProtocols {
			return resp, err
		}
	}
}

// Read implements io.Reader, for the buffer.
func (c *conn1) Read(p []byte) (n int, err error) {
	if c.left < 0 {
		return c.net.Read(p)
	}
	if c.left == 0 {
		return 0, fmt.Errorf("headers of more than %d bytes", maxHeaders)
	}
	n, err = c.net.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

// answer1 is the body of an answer.
type answer1 struct {
	of      *http1
	conn    *conn1
	body    io.Reader   // nil: there is no answer
	stop    func() bool // of the end of the request's context
	written chan error  // nil: the request is not being sent
	sent    bool        // the request is, or is being sent
	last    bool        // the server closes the connection
	ended   bool        // all of the body has been read
	closed  bool
}

// Read implements io.Reader.
func (a *answer1) Read(p []byte) (n int, err error) {
	n, err = a.body.Read(p)
	a.ended = a.ended || errors.Is(err, io.EOF)
	return n, err
}

// Close implements io.Closer. A connection whose answer has been read to its end takes another request.
func (a *answer1) Close() error {
	if a.closed {
		return nil
	}
	a.closed = true
	c, again := a.conn, a.body != nil && a.ended && !a.last && a.sent && a.conn.in.Buffered() == 0
	if again && a.written != nil {
		_ = c.net.SetWriteDeadline(time.Now().Add(writeTime))
		again = <-a.written == nil && c.net.SetWriteDeadline(time.Time{}) == nil
		a.written = nil
	}
	if a.stop() && again {
		a.of.put(c)
		return nil
	}
	c.net.Close()
	if a.written != nil {
		<-a.written
	}
	return nil
}

// take is a connection that waits, or a new one.
func (t *http1) take(ctx context.Context) (*conn1, error) {
	for {
		t.mu.Lock()
		n := len(t.idle)
		if n == 0 {
			t.mu.Unlock()
			break
		}
		c := t.idle[n-1]
		t.idle[n-1], t.idle = nil, t.idle[:n-1]
		t.mu.Unlock()
		if c.open() {
			return c, nil
		}
		c.net.Close()
	}
	n, err := t.dial(ctx)
	if err != nil {
		return nil, err
	}
	c := &conn1{net: n, left: -1}
	c.in = bufio.NewReaderSize(c, readSize)
	return c, nil
}

// open says that the server has not closed a connection that waits, nor said anything: it was not asked.
func (c *conn1) open() bool {
	n, secure := c.net, false
	if t, is := n.(*tls.Conn); is {
		n, secure = t.NetConn(), true
	}
	s, is := n.(syscall.Conn)
	if !is {
		return true
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return false
	}
	open := false
	err = raw.Control(func(fd uintptr) {
		n, err := link.Peek(fd)
		open = errors.Is(err, unix.EAGAIN) || err == nil && n > 0 && secure // TLS has messages of its own
	})
	return err == nil && open
}

// put has a connection wait for a request.
func (t *http1) put(c *conn1) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.idle) >= mostIdle {
		c.net.Close()
		return
	}
	c.idle = time.Now()
	t.idle = append(t.idle, c)
	if t.old == nil {
		t.old = time.AfterFunc(idleLimit, t.sweep)
	}
}

// sweep closes the connections that have waited for long.
func (t *http1) sweep() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.idle) > 0 && time.Since(t.idle[0].idle) >= idleLimit {
		t.idle[0].net.Close()
		t.idle = t.idle[1:]
	}
	t.old = nil
	if len(t.idle) > 0 {
		t.old = time.AfterFunc(idleLimit-time.Since(t.idle[0].idle), t.sweep)
	}
}

// CloseIdleConnections closes the connections that wait; http.Client calls it.
func (t *http1) CloseIdleConnections() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.idle {
		c.net.Close()
	}
	t.idle = nil
	if t.old != nil {
		t.old.Stop()
		t.old = nil
	}
}
