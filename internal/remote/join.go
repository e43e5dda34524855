package remote

import (
	"context"
	"net"
	"sync"
	"time"
)

// holdTime is how long the headers of a request wait for its body. Only a server without room for it has them wait that
// long.
const holdTime = time.Millisecond

// The head of a frame of HTTP/2: its length in three bytes, its type, its flags, and its stream.
const (
	frameHead    = 9
	frameHeaders = 1
	endStream    = 1
	endHeaders   = 4
)

// joining makes connections that are joined.
func joining(dial dialing) dialing {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		t, is := c.(*socket)
		if !is {
			return c, nil
		}
		j := &joined{socket: t}
		j.timer = time.AfterFunc(time.Hour, j.flush)
		return j, nil
	}
}

// joined is a connection of HTTP/2 that sends the headers of a request together with the beginning of its body. The
// transport writes them one by one, which wakes a server twice.
type joined struct {
	*socket
	timer *time.Timer
	mu    sync.Mutex // of writing
	held  []byte
}

// Write implements io.Writer. An error of held bytes is that of the next call.
func (j *joined) Write(p []byte) (n int, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.held) == 0 && bodyFollows(p) {
		j.held = append(j.held, p...)
		j.timer.Reset(holdTime)
		return len(p), nil
	}
	if len(j.held) == 0 {
		return j.socket.Write(p)
	}
	j.timer.Stop()
	had := len(j.held)
	sent, err := j.send([][]byte{j.held, p})
	j.held = j.held[:0]
	return max(sent-had, 0), err
}

func (j *joined) flush() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.held) > 0 {
		_, _ = j.socket.Write(j.held) // the next call fails, too
		j.held = j.held[:0]
	}
}

// Close implements io.Closer.
func (j *joined) Close() error {
	j.timer.Stop()
	return j.socket.Close()
}

// bodyFollows says that p is the headers of a request that has a body, and nothing else.
func bodyFollows(p []byte) bool {
	return len(p) > frameHead && p[3] == frameHeaders && p[4]&endHeaders != 0 && p[4]&endStream == 0 &&
		int(p[0])<<16|int(p[1])<<8|int(p[2]) == len(p)-frameHead
}
