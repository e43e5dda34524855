package remote

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/internal/oip"
)

// source is the body of a request, which lies in several pieces of memory. Once it is stopped nobody touches them any
// more, whoever still reads.
type source struct {
	mu   sync.Mutex
	list [][]byte
}

func (s *source) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = nil
}

// pieces are what is sent, nil once the source is stopped.
func (s *source) pieces() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list
}

// body reads a source from its beginning.
type body struct {
	of    *source
	k, at int // the next byte: at of piece k
}

func (b *body) Read(p []byte) (n int, err error) {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	if b.of.list == nil {
		return 0, errors.New("the call has ended")
	}
	for b.k < len(b.of.list) && n < len(p) {
		m := copy(p[n:], b.of.list[b.k][b.at:])
		n, b.at = n+m, b.at+m
		if b.at == len(b.of.list[b.k]) {
			b.k, b.at = b.k+1, 0
		}
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (b *body) Close() error { return nil }

// request makes a request whose body is the slices one after the other, size bytes in all. It can be sent again until
// the source is stopped.
func (e *endpoint) request(ctx context.Context, path string, list [][]byte, size int) (*http.Request, *source, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.base+path, nil)
	if err != nil {
		return nil, nil, err
	}
	s := &source{list: list}
	req.GetBody = func() (io.ReadCloser, error) { return &body{of: s}, nil }
	req.Body = &body{of: s}
	req.ContentLength = int64(size)
	req.Header.Set("User-Agent", "anynpu")
	return req, s, e.authorize(req.Header)
}

// call makes a unary call of gRPC. list are the slices of the message, size their bytes; read gets the answer's message
// of n bytes, which it need not read to the end. there gets what the server tells of times, unless it is nil.
func (e *endpoint) call(ctx context.Context, method string, list [][]byte, size int, largest int64, there *timing,
	read func(r io.Reader, n int64) error) error {
	prefix := oip.AppendPrefix(nil, size)
	req, sent, err := e.request(ctx, method, append([][]byte{prefix}, list...), len(prefix)+size)
	if err != nil {
		return failed(link.Denied, "%v", err)
	}
	defer sent.stop()
	req.Header.Set("Content-Type", "application/grpc")
	req.Header.Set("Te", "trailers")
	if deadline, ok := ctx.Deadline(); ok {
		req.Header.Set("Grpc-Timeout", oip.Timeout(time.Until(deadline)))
	}
	resp, err := e.client().Transport.RoundTrip(req)
	if err != nil {
		return ofError(ctx, err)
	}
	defer resp.Body.Close()
	if resp.Header.Get("Grpc-Status") != "" { // no message, its headers are the trailers
		return status(resp.Header)
	}
	if resp.StatusCode != http.StatusOK {
		return ofStatus(oip.CodeOfHTTP(resp.StatusCode), "HTTP "+resp.Status)
	}
	if t := resp.Header.Get("Content-Type"); !strings.HasPrefix(t, "application/grpc") {
		return failed(link.Garbled, "an answer of type %q, want application/grpc", t)
	}
	if there != nil {
		there.read(resp.Header)
	}
	var head [oip.PrefixSize]byte
	got := false
	if _, err = io.ReadFull(resp.Body, head[:]); err == nil {
		n, compressed := oip.ParsePrefix(head)
		switch {
		case compressed:
			return failed(link.Garbled, "a compressed answer, which was not asked for")
		case n > largest:
			return failed(link.TooLarge, "an answer of %d bytes, at most %d are read (largest_message)", n, largest)
		}
		if err = read(resp.Body, n); err == nil {
			got = true
			_, err = io.CopyN(io.Discard, resp.Body, 1)
		}
	}
	switch {
	case err == nil:
		return failed(link.Garbled, "more than one message in an answer")
	case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return ofError(ctx, err)
	}
	if f := status(resp.Trailer); f != nil {
		return f
	}
	if !got {
		return failed(link.Garbled, "half an answer")
	}
	return nil
}

// status reads the trailers; nil when all is well.
func status(h http.Header) error {
	text := h.Get("Grpc-Status")
	code, err := strconv.ParseUint(text, 10, 32)
	switch {
	case text == "":
		return failed(link.Down, "the answer ended without a status")
	case err != nil:
		return failed(link.Garbled, "grpc-status %q", text)
	}
	if f := ofStatus(oip.Code(code), oip.DecodeMessage(h.Get("Grpc-Message"))); f != nil {
		return f
	}
	return nil
}

// small makes a call without tensors.
func (e *endpoint) small(ctx context.Context, method string, message []byte) (answer []byte, err error) {
	err = e.call(ctx, method, [][]byte{message}, len(message), maxMetadata, nil, func(r io.Reader, n int64) (err error) {
		answer, err = io.ReadAll(io.LimitReader(r, n))
		if err == nil && int64(len(answer)) != n {
			err = io.ErrUnexpectedEOF
		}
		return err
	})
	return answer, err
}

// grpcInfer makes a run. place is asked where outputs belong.
func (e *endpoint) grpcInfer(ctx context.Context, r *oip.Request, largest int64, place oip.Placer,
	there *timing) (*oip.Response, int64, int64, error) {
	list, size := r.Parts()
	if int64(size) > largest {
		return nil, 0, 0, failed(link.TooLarge, "a request of %d bytes, at most %d are sent (largest_message)", size, largest)
	}
	var out *oip.Response
	received := int64(0)
	err := e.call(ctx, oip.ModelInfer, list, size, largest, there, func(body io.Reader, n int64) (err error) {
		received = n
		out, err = oip.ReadResponse(body, n, place)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			var f *failure
			if !errors.As(err, &f) && ctx.Err() == nil && !network(err) {
				return garbled(err)
			}
		}
		return err
	})
	return out, int64(size), received, err
}

// network says that an error of reading is the connection's, not of what was read.
func network(err error) bool {
	text := err.Error()
	return strings.Contains(text, "stream error") || strings.Contains(text, "http2:") ||
		strings.Contains(text, "connection") || strings.Contains(text, "read tcp")
}
