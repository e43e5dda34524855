package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pair are the ends of a connection, of which dial makes the first.
func pair(t *testing.T, dial dialing) (own, peer net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	own, err = dial(context.Background(), "tcp", l.Addr().String())
	require.NoError(t, err)
	peer, err = l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { own.Close(); peer.Close() })
	return own, peer
}

// TestSocket_pieces sends more than one call takes, and has it sent back.
func TestSocket_pieces(t *testing.T) {
	own, peer := pair(t, dialSocket(&net.Dialer{}))
	data := make([]byte, 5<<20+7)
	for i := range data {
		data[i] = byte(i * 7 >> 3)
	}
	go func() { _, _ = io.Copy(peer, peer); peer.Close() }()
	sent := make(chan error, 1)
	go func() {
		n, err := own.(*socket).send([][]byte{data[:3], {}, data[3 : 1<<20], data[1<<20 : 1<<20+1], data[1<<20+1:]})
		if n != len(data) {
			err = errors.Join(err, io.ErrShortWrite)
		}
		sent <- errors.Join(err, own.(*socket).CloseWrite())
	}()
	got, err := io.ReadAll(own)
	require.NoError(t, err)
	require.NoError(t, <-sent)
	assert.True(t, bytes.Equal(data, got))
}

func TestSocket_errors(t *testing.T) {
	own, peer := pair(t, dialSocket(&net.Dialer{}))
	require.NoError(t, own.SetReadDeadline(time.Now().Add(10*time.Millisecond)))
	_, err := own.Read(make([]byte, 1))
	assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
	assert.Contains(t, err.Error(), "read tcp 127.0.0.1:")
	require.NoError(t, own.SetReadDeadline(time.Time{}))
	require.NoError(t, peer.(*net.TCPConn).SetLinger(0))
	peer.Close() // which resets the connection
	_, err = own.Read(make([]byte, 1))
	assert.ErrorContains(t, err, "connection reset by peer")
	own.Close()
	_, err = own.Write([]byte{1})
	assert.ErrorIs(t, err, net.ErrClosed)
}

// TestJoined: headers go out together with what follows, in one segment; alone if nothing does.
func TestJoined(t *testing.T) {
	own, peer := pair(t, joining(dialSocket(&net.Dialer{})))
	j := own.(*joined)
	headers := []byte{0, 0, 2, 1, 4, 0, 0, 0, 1, 'a', 'b'}
	data := []byte{0, 0, 3, 0, 1, 0, 0, 0, 1, 'c', 'd', 'e'}
	both := append(bytes.Clone(headers), data...)
	b := make([]byte, 100)
	write := func(p []byte) {
		n, err := own.Write(p)
		require.NoError(t, err)
		require.Equal(t, len(p), n)
	}
	for range 20 {
		write(headers)
		if j.timer.Stop() { // a slow machine has sent them
			assert.Equal(t, headers, j.held)
		}
		write(data)
		assert.Empty(t, j.held)
		_, err := io.ReadFull(peer, b[:len(both)])
		require.NoError(t, err)
		assert.Equal(t, both, b[:len(both)])
	}
	write(headers)
	_, err := io.ReadFull(peer, b[:len(headers)])
	require.NoError(t, err)
	assert.Equal(t, headers, b[:len(headers)])
}

func TestBodyFollows(t *testing.T) {
	for _, c := range []struct {
		frame string
		want  bool
	}{
		{"\x00\x00\x01\x01\x04\x00\x00\x00\x01x", true},
		{"\x00\x00\x01\x01\x05\x00\x00\x00\x01x", false},                                     // the end of its stream
		{"\x00\x00\x01\x01\x00\x00\x00\x00\x01x", false},                                     // more headers follow
		{"\x00\x00\x01\x00\x04\x00\x00\x00\x01x", false},                                     // data
		{"\x00\x00\x02\x01\x04\x00\x00\x00\x01x", false},                                     // a part of it
		{"\x00\x00\x01\x01\x04\x00\x00\x00\x01x\x00\x00\x00\x04\x01\x00\x00\x00\x00", false}, // and another frame
		{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", false},                                          // the preface
		{"", false},
	} {
		assert.Equal(t, c.want, bodyFollows([]byte(c.frame)), "%q", c.frame)
	}
}

// TestProcessors: calls at the same time get them all.
func TestProcessors(t *testing.T) {
	had := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(had)
	p := processors{all: 3}
	p.begin()
	p.end()
	p.begin()
	assert.Equal(t, 1, runtime.GOMAXPROCS(0), "one by one")
	p.begin()
	assert.Equal(t, 3, runtime.GOMAXPROCS(0), "two at once")
	p.end()
	p.end()
	for end := time.Now().Add(20 * time.Second); runtime.GOMAXPROCS(0) != 1; time.Sleep(10 * time.Millisecond) {
		require.True(t, time.Now().Before(end), "one is enough again")
	}
	p.begin()
	p.begin()
	assert.Equal(t, 3, runtime.GOMAXPROCS(0), "two at once again")
	p.end()
	p.end()
	for end := time.Now().Add(20 * time.Second); runtime.GOMAXPROCS(0) != 1; time.Sleep(10 * time.Millisecond) {
		require.True(t, time.Now().Before(end), "one is enough again")
	}
}
