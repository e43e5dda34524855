package serve

import (
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/anynpu/anynpu/internal/oip"
)

// call is one request that is being answered.
type call struct {
	server *Server
	w      http.ResponseWriter
	r      *http.Request
	rc     *http.ResponseController
	held   int64
	begin  time.Time
	model  modelVersion // that it computes, for metrics
}

func (s *Server) call(w http.ResponseWriter, r *http.Request) *call {
	c := &call{server: s, w: w, r: r, rc: http.NewResponseController(w), begin: time.Now()}
	// Where there are no deadlines, in tests, both fail.
	_ = c.rc.SetWriteDeadline(time.Time{}) // the connection's last answer has left one
	_ = c.rc.SetReadDeadline(c.patience(0))
	return c
}

// hold counts n bytes of memory that the request takes until end.
func (c *call) hold(n int64) error {
	c.held += n
	if have := c.server.held.Add(n); have > c.server.config.Held {
		return refuse(oip.Unavailable, http.StatusServiceUnavailable,
			"requests hold %d bytes, the server's limit is %d: try again later", have, c.server.config.Held)
	}
	return nil
}

// end gives back what the request holds.
func (c *call) end() {
	c.server.held.Add(-c.held)
	c.held = 0
}

// arrived takes away the limit on the time in which a request arrives when it has, in whole. Of one that has not, the
// rest is read for some time so that the client can read the answer.
func (c *call) arrived(n int64, err error) {
	c.server.metrics.received.Add(n)
	if err == nil {
		_ = c.rc.SetReadDeadline(time.Time{})
	}
}

// tooLarge is the error of a message of size bytes, -1: of more than may be. Clients know its words from other servers.
func (c *call) tooLarge(size int64) error {
	if size < 0 {
		return refuse(oip.ResourceExhausted, http.StatusRequestEntityTooLarge, "received message larger than max (%d)",
			c.server.config.Message)
	}
	return refuse(oip.ResourceExhausted, http.StatusRequestEntityTooLarge, "received message larger than max (%d vs. %d)",
		size, c.server.config.Message)
}

// patience is until when a client has time for n bytes that are sent to it.
func (c *call) patience(n int64) time.Time {
	return time.Now().Add(c.allowed(n))
}

// allowed is how long a client may take for n bytes.
func (c *call) allowed(n int64) time.Duration {
	return c.server.config.Client + time.Duration(n/c.server.config.Rate)*time.Second
}

// firstPart is how much memory a message gets before more of it has arrived: a length that is only said costs nothing.
const firstPart = 256 << 10

// arriving reads the request's body within the time that a client has.
type arriving struct {
	call *call
	got  int64
	mark int64
}

// Read implements io.Reader.
func (a *arriving) Read(b []byte) (int, error) {
	if a.got-a.mark >= a.call.server.config.Rate {
		a.mark = a.got
		_ = a.call.rc.SetReadDeadline(a.call.begin.Add(a.call.allowed(a.got)))
	}
	n, err := a.call.r.Body.Read(b)
	a.got += int64(n)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = refuse(oip.DeadlineExceeded, http.StatusRequestTimeout, "the request arrives too slowly: %d bytes in %.0f s",
			a.got, time.Since(a.call.begin).Seconds())
	}
	return n, err
}

// message reads a message of size bytes, -1: up to the end of r. Memory is taken as it arrives.
func (c *call) message(r io.Reader, size int64) ([]byte, error) {
	most := c.server.config.Message
	if size > most {
		return nil, c.tooLarge(size)
	}
	first := int64(firstPart)
	if size >= 0 {
		first = min(first, size)
	}
	if err := c.hold(first); err != nil {
		return nil, err
	}
	b := make([]byte, 0, first)
	for {
		if int64(len(b)) == size {
			return b, nil
		}
		if len(b) == cap(b) {
			next := min(2*int64(cap(b)), most+1)
			if size >= 0 {
				next = min(next, size)
			}
			if err := c.hold(next - int64(len(b))); err != nil {
				return nil, err
			}
			b = append(make([]byte, 0, next), b...)
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case int64(len(b)) > most:
			return nil, c.tooLarge(-1)
		case err == io.EOF && size < 0:
			return b, nil
		case err == io.EOF && int64(len(b)) < size:
			return nil, invalid("the message ends after %d of %d bytes", len(b), size)
		case err != nil && err != io.EOF:
			return nil, received(err)
		}
	}
}

// received is the error of a body that could not be read.
func received(err error) error {
	var own *status
	if errors.As(err, &own) {
		return own
	}
	if strings.Contains(err.Error(), "chunk") { // net/http has no type for the errors of a damaged encoding
		return invalid("the request cannot be read: %v", err)
	}
	return refuse(oip.Canceled, clientClosed, "the request cannot be read: %v", err)
}

// expand returns what a compressed message holds.
func (c *call) expand(encoding string, r io.Reader) ([]byte, error) {
	var open io.ReadCloser
	var err error
	switch encoding {
	case "gzip":
		open, err = gzip.NewReader(r)
	case "deflate":
		open, err = zlib.NewReader(r)
	default:
		return nil, refuse(oip.Unimplemented, http.StatusUnsupportedMediaType,
			"compression %q is not offered; there is: identity, gzip, deflate", encoding)
	}
	if err == nil {
		defer open.Close()
		return c.message(expanding{open}, -1)
	}
	return nil, damaged(err)
}

// expanding has damaged data be the client's fault.
type expanding struct{ io.Reader }

// Read implements io.Reader.
func (e expanding) Read(b []byte) (int, error) {
	n, err := e.Reader.Read(b)
	if err != nil && err != io.EOF {
		err = damaged(err)
	}
	return n, err
}

func damaged(err error) error {
	var own *status
	if errors.As(err, &own) {
		return own
	}
	return invalid("the compressed message is damaged: %v", err)
}

// write writes an answer of the given parts within the time that a client has to take it.
func (c *call) write(parts ...[]byte) {
	size := int64(0)
	for _, p := range parts {
		size += int64(len(p))
	}
	_ = c.rc.SetWriteDeadline(c.patience(size))
	for _, p := range parts {
		if _, err := c.w.Write(p); err != nil {
			return // the client is gone
		}
	}
	c.server.metrics.sent.Add(size)
}
