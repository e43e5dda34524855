package serve

import (
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// room bounds the open connections: one more is let in by closing the one that has been without a request for longest,
// so that clients that connect and send nothing do not keep others out. Without such a one, the new one is closed.
type room struct {
	most int

	open    atomic.Int64
	refused atomic.Int64

	mu   sync.Mutex
	idle map[net.Conn]time.Time // without a request since then
}

// note is http.Server.ConnState.
func (r *room) note(c net.Conn, state http.ConnState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch state {
	case http.StateNew, http.StateIdle:
		if r.idle == nil {
			r.idle = map[net.Conn]time.Time{}
		}
		r.idle[c] = time.Now()
	default:
		delete(r.idle, c)
	}
}

// longest closes the connection that has been without a request for longest; false: there is none.
func (r *room) longest() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	var oldest net.Conn
	for c, since := range r.idle {
		if oldest == nil || since.Before(r.idle[oldest]) {
			oldest = c
		}
	}
	if oldest == nil {
		return false
	}
	delete(r.idle, oldest)
	oldest.Close()
	return true
}

// listener is l with the bound.
func (r *room) listener(l net.Listener) net.Listener { return &roomListener{l, r} }

type roomListener struct {
	net.Listener
	room *room
}

// Accept implements net.Listener.
func (l *roomListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.room.open.Load() >= int64(l.room.most) && !l.room.longest() {
			l.room.refused.Add(1)
			c.Close()
			continue
		}
		l.room.open.Add(1)
		return &roomConn{Conn: c, room: l.room}, nil
	}
}

// roomConn takes its place in the room until it is closed.
type roomConn struct {
	net.Conn
	room *room
	once sync.Once
}

// Close implements net.Conn.
func (c *roomConn) Close() error {
	c.once.Do(func() { c.room.open.Add(-1) })
	return c.Conn.Close()
}

// CloseWrite tells the other side that there is no more, so that it reads an answer before the connection is closed.
func (c *roomConn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return nil
}
