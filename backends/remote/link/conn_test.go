package link

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func ends(t *testing.T) (a, b *Conn) {
	a, file, err := Pair()
	require.NoError(t, err)
	fd, err := unix.Dup(int(file.Fd()))
	require.NoError(t, err)
	file.Close()
	b, err = NewConn(fd)
	require.NoError(t, err)
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

func TestConn_messagesAndDescriptors(t *testing.T) {
	a, b := ends(t)
	shared, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer shared.Close()
	_, err = shared.WriteString("what is shared")
	require.NoError(t, err)
	long := strings.Repeat("x", 3<<20) // more than the socket holds
	sent := make(chan error, 1)
	go func() {
		for i := range 3 {
			fd := -1
			if i == 1 {
				fd = int(shared.Fd())
			}
			if err := a.Send(Request{Call: uint64(i), Do: Describe, Model: Model{Name: long}}, fd); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	for i := range 3 {
		var r Request
		fd, err := b.Receive(&r)
		require.NoError(t, err)
		assert.Equal(t, uint64(i), r.Call)
		assert.Equal(t, Describe, r.Do)
		assert.True(t, long == r.Model.Name)
		if i != 1 {
			assert.Equal(t, -1, fd)
			continue
		}
		require.GreaterOrEqual(t, fd, 0)
		got := make([]byte, 14)
		_, err = unix.Pread(fd, got, 0)
		require.NoError(t, err)
		assert.Equal(t, "what is shared", string(got))
		unix.Close(fd)
	}
	require.NoError(t, <-sent)
	a.Close()
	_, err = b.Receive(&Request{})
	assert.ErrorIs(t, err, io.EOF)
	assert.Error(t, b.Send(Answer{}, -1))
}

func TestConn_refusesWhatIsNoMessage(t *testing.T) {
	for name, data := range map[string][]byte{
		"too long":               {0xFF, 0xFF, 0xFF, 0xFF, 0},
		"not JSON":               {2, 0, 0, 0, 0, '{', 'x'},
		"without its descriptor": {2, 0, 0, 0, 1, '{', '}'},
	} {
		a, b := ends(t)
		_, err := a.file.Write(data)
		require.NoError(t, err)
		_, err = b.Receive(&Answer{})
		assert.Error(t, err, name)
		assert.NotErrorIs(t, err, io.EOF, name)
	}
}

// TestReceiveSoon reads some messages so, and some by Receive: each comes once, in order.
func TestReceiveSoon(t *testing.T) {
	a, b := ends(t)
	_, err := a.ReceiveSoon(&Answer{})
	assert.ErrorIs(t, err, ErrLater)
	sent := make(chan error, 1)
	const count = 300
	go func() {
		for i := range count {
			if i%20 == 19 {
				time.Sleep(2 * Patience)
			}
			if err := b.Send(&Answer{Call: uint64(i)}, -1); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	for i := range count {
		var m Answer
		err := ErrLater
		if i%3 > 0 {
			_, err = a.ReceiveSoon(&m)
		}
		if err == ErrLater {
			_, err = a.Receive(&m)
		}
		require.NoError(t, err)
		require.Equal(t, uint64(i), m.Call)
	}
	require.NoError(t, <-sent)
	b.Close()
	for range 2 {
		_, err = a.ReceiveSoon(&Answer{})
		assert.ErrorIs(t, err, io.EOF)
	}
}

// TestClose_endsReceive at the same end.
func TestClose_endsReceive(t *testing.T) {
	a, _ := ends(t)
	ended := make(chan error, 1)
	go func() {
		_, err := a.Receive(&Answer{})
		ended <- err
	}()
	time.Sleep(10 * time.Millisecond) // it most likely waits
	a.Close()
	assert.Error(t, <-ended)
}
