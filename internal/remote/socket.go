package remote

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/backends/remote/link"
)

type dialing func(ctx context.Context, network, address string) (net.Conn, error)

// socket is a connection whose reads and writes cost no more than their system calls (package link).
type socket struct {
	*net.TCPConn
	raw syscall.RawConn
}

// dialSocket makes connections that are sockets.
func dialSocket(d *net.Dialer) dialing {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := d.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		t, is := c.(*net.TCPConn)
		if !is {
			return c, nil
		}
		raw, err := t.SyscallConn()
		if err != nil {
			c.Close()
			return nil, err
		}
		return &socket{t, raw}, nil
	}
}

// Read implements io.Reader.
func (s *socket) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	var failed error
	err = s.raw.Read(func(fd uintptr) bool {
		n, failed = link.ReceiveInto(fd, p)
		return !errors.Is(failed, unix.EAGAIN)
	})
	switch {
	case err != nil || failed != nil:
		return 0, s.failure("read", err, failed)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// Write implements io.Writer.
func (s *socket) Write(p []byte) (n int, err error) { return s.send([][]byte{p}) }

// send writes slices, which it takes apart.
func (s *socket) send(pieces [][]byte) (sent int, err error) {
	var failed error
	err = s.raw.Write(func(fd uintptr) bool {
		for {
			for len(pieces) > 0 && len(pieces[0]) == 0 {
				pieces = pieces[1:]
			}
			if len(pieces) == 0 {
				return true
			}
			var n int
			if n, failed = link.SendPieces(fd, pieces); failed != nil {
				return !errors.Is(failed, unix.EAGAIN)
			}
			for sent += n; n > 0; {
				m := min(n, len(pieces[0]))
				pieces[0], n = pieces[0][m:], n-m
				if len(pieces[0]) == 0 {
					pieces = pieces[1:]
				}
			}
		}
	})
	if err != nil || failed != nil {
		return sent, s.failure("write", err, failed)
	}
	return sent, nil
}

// failure is an error as package net has it: err of waiting, or failed of the call.
func (s *socket) failure(do string, err, failed error) error {
	if err == nil {
		err = os.NewSyscallError(do, failed)
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return &net.OpError{Op: do, Net: "tcp", Source: s.LocalAddr(), Addr: s.RemoteAddr(), Err: err}
}
