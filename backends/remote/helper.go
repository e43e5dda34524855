package remote

import (
	"context"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
)

// helperLimit is how much longer than a call's own time the helper may take to answer.
const helperLimit = 2 * time.Second

// longest is how long the helper may take for a call whose caller has a limit of its own.
const longest = time.Hour

// idle is how long calls read no answers before the session's goroutine begins to: it notices the helper's end.
const idle = 100 * time.Millisecond

// pause is how long a helper that could not be started, or ended, is left alone.
const pause = time.Second

// helper is the program that speaks with servers. It starts with the first request, and again after it has ended.
type helper struct {
	start  func(socket *os.File) (end func(), err error)
	device []byte // the manifest
	note   func(text string)

	mu      sync.Mutex
	now     *session
	why     error // of the last start or end
	since   time.Time
	calls   uint64
	regions uint64
	closed  bool
}

// session is a helper that runs.
type session struct {
	conn *link.Conn
	end  func()
	died chan struct{}
	note func(text string)

	turn  chan struct{} // has one while somebody reads
	wake  chan struct{} // has one when the session's goroutine is to read
	quick bool          // a call that is alone reads its answer itself
	reads atomic.Uint64 // answers that calls have read themselves

	mu      sync.Mutex
	pending map[uint64]*call
	known   map[uint64]bool // regions that the helper has
}

// call is a request whose answer has not come.
type call struct {
	answer chan *answered // holds one
	// after is set when the wait has ended, and called when the answer has come.
	after func()
}

func (h *helper) running() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now != nil
}

// session returns the helper that runs, or starts one.
func (h *helper) session() (*session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return nil, fault.New(fault.State, "the device is closed")
	case h.now != nil:
		return h.now, nil
	case h.why != nil && time.Since(h.since) < pause:
		return nil, h.why
	}
	s, err := h.open()
	if err != nil {
		h.why, h.since = fault.As(fault.Device, err, "the program %s", link.HelperName), time.Now()
		return nil, h.why
	}
	h.now = s
	return s, nil
}

// open starts a helper and tells it the manifest.
func (h *helper) open() (*session, error) {
	conn, socket, err := link.Pair()
	if err != nil {
		return nil, err
	}
	end, err := h.start(socket)
	socket.Close()
	if err != nil {
		conn.Close()
		return nil, err
	}
	s := &session{conn: conn, end: end, died: make(chan struct{}), pending: map[uint64]*call{}, known: map[uint64]bool{},
		note: h.note, turn: make(chan struct{}, 1), wake: make(chan struct{}, 1), quick: runtime.GOMAXPROCS(0) > 1}
	c := &call{answer: make(chan *answered, 1)}
	h.calls++
	s.pending[h.calls] = c
	go h.receive(s)
	if err := conn.Send(&link.Request{Call: h.calls, Do: link.Open, Device: h.device}, -1); err != nil {
		conn.Close()
		return nil, err
	}
	select {
	case a := <-c.answer:
		switch {
		case a == nil:
			return nil, fault.New(fault.Device, "it ended at once")
		case a.Failure != nil:
			s.close()
			return nil, fault.New(fault.Device, "%s", a.Failure.Text)
		}
		return s, nil
	case <-time.After(5 * time.Second):
		conn.Close()
		return nil, fault.New(fault.Device, "it does not answer")
	}
}

// receive delivers answers until the connection ends, while more than one call is under way, or one for long, or none.
func (h *helper) receive(s *session) {
	for {
		s.turn <- struct{}{}
		a := &answered{}
		fd, err := s.conn.Receive(&a.Answer)
		<-s.turn
		if err != nil {
			break
		}
		s.deliver(a, fd)
		s.rest()
	}
	h.mu.Lock()
	if h.now == s {
		h.now, h.since = nil, time.Now()
		h.why = fault.As(fault.Device, device.ErrDied, "the program %s has ended", link.HelperName)
	}
	h.mu.Unlock()
	close(s.died)
	s.conn.Close()
	s.end()
	s.mu.Lock()
	left := s.pending
	s.pending = map[uint64]*call{}
	s.mu.Unlock()
	for _, c := range left {
		c.give(nil)
	}
}

// rest waits, while no answer is awaited, until one is, or calls have not read any for a while.
func (s *session) rest() {
	for !s.awaited() {
		had := s.reads.Load()
		timer := time.NewTimer(idle)
		select {
		case <-s.wake:
			timer.Stop()
			return
		case <-timer.C:
		}
		if s.reads.Load() == had {
			return
		}
	}
}

func (s *session) awaited() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending) > 0
}

// awaken has the session's goroutine read.
func (s *session) awaken() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// own reads the answer of a call that was alone when it began, so that no other goroutine is woken for it; nil if it
// does not come soon, or another goroutine reads.
func (s *session) own(id uint64) (a *answered) {
	select {
	case s.turn <- struct{}{}:
	default:
		return nil
	}
	for a == nil {
		got := &answered{}
		fd, err := s.conn.ReceiveSoon(&got.Answer)
		if err != nil { // an end, too, is for the session's goroutine
			break
		}
		if got.Call != id {
			s.deliver(got, fd)
			continue
		}
		a = got
		s.take(a, fd)
		s.reads.Add(1)
	}
	<-s.turn
	if s.awaited() { // by this call, or by one that has begun meanwhile
		s.awaken()
	}
	return a
}

// take takes note of an answer and returns its call, nil if no call waits for it.
func (s *session) take(a *answered, fd int) *call {
	a.spill = fd
	for _, n := range a.Notes {
		s.note(n)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.pending[a.Call]
	delete(s.pending, a.Call)
	return c
}

// deliver gives an answer to who waits for it.
func (s *session) deliver(a *answered, fd int) {
	c := s.take(a, fd)
	if c == nil {
		a.drop()
		return
	}
	c.give(a)
}

func (c *call) give(a *answered) {
	c.answer <- a
	if c.after != nil {
		(<-c.answer).drop()
		c.after()
	}
}

// close has the session's goroutine find the end of the connection.
func (s *session) close() {
	s.conn.Close()
	s.awaken()
}

// close ends the helper.
func (h *helper) close() {
	h.mu.Lock()
	s := h.now
	h.closed = true
	h.mu.Unlock()
	if s != nil {
		s.close()
		<-s.died
	}
}

// ask sends a request without memory and waits for its answer.
func (h *helper) ask(ctx context.Context, r *link.Request) (*answered, error) {
	s, err := h.session()
	if err != nil {
		return nil, err
	}
	a, _, err := h.call(ctx, s, r, longest, nil)
	if err == nil {
		a.drop()
	}
	return a, err
}

// call sends a request to a session and waits for its answer. When ctx is done first, or the limit has passed, the call
// is given up: after, if it is not nil, is called once the helper has let go of it, and pending is true.
func (h *helper) call(ctx context.Context, s *session, r *link.Request, limit time.Duration,
	after func()) (a *answered, pending bool, err error) {
	h.mu.Lock()
	h.calls++
	r.Call = h.calls
	h.mu.Unlock()
	c := &call{answer: make(chan *answered, 1)}
	s.mu.Lock()
	s.pending[r.Call] = c
	alone := len(s.pending) == 1
	s.mu.Unlock()
	if err := s.conn.Send(r, -1); err != nil {
		s.mu.Lock()
		delete(s.pending, r.Call)
		s.mu.Unlock()
		s.awaken()
		return nil, false, fault.As(fault.Device, device.ErrDied, "the program %s has ended", link.HelperName)
	}
	if s.quick && alone {
		if a = s.own(r.Call); a != nil {
			return a, false, nil
		}
	} else {
		s.awaken()
	}
	timer := time.NewTimer(limit) // a context of its own would cost a goroutine
	defer timer.Stop()
	gone := error(nil)
	select {
	case a = <-c.answer:
	case <-s.died:
		return nil, false, fault.As(fault.Device, device.ErrDied, "the program %s has ended", link.HelperName)
	case <-ctx.Done():
		gone = ctx.Err()
	case <-timer.C:
		gone = fault.New(fault.Timeout, "the program %s does not answer", link.HelperName)
	}
	if gone != nil {
		s.mu.Lock()
		_, pending = s.pending[r.Call]
		if pending {
			c.after = func() {
				if after != nil {
					after()
				}
			}
		}
		s.mu.Unlock()
		if pending {
			target := r.Call
			_ = s.conn.Send(&link.Request{Do: link.Cancel, Target: &target}, -1)
			return nil, true, gone
		}
		a = <-c.answer
	}
	if a == nil {
		return nil, false, fault.As(fault.Device, device.ErrDied, "the program %s has ended", link.HelperName)
	}
	return a, false, nil
}

// newRegion is the id of a piece of shared memory.
func (h *helper) newRegion() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.regions++
	return h.regions
}

// share has the session know a region.
func (s *session) share(r *region) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[r.id] {
		return nil
	}
	fd, _, ok := r.buf.FD()
	if !ok {
		return fault.New(fault.Memory, "shared memory without a descriptor")
	}
	err := s.conn.Send(&link.Request{Do: link.Region, Region: link.Extent{ID: r.id, Size: r.buf.Size()}}, fd)
	if err != nil {
		s.awaken()
		return fault.As(fault.Device, device.ErrDied, "the program %s has ended", link.HelperName)
	}
	s.known[r.id] = true
	return nil
}

// forget has the running session let go of a region that no call uses.
func (h *helper) forget(id uint64) {
	h.mu.Lock()
	s := h.now
	h.mu.Unlock()
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[id] {
		delete(s.known, id)
		_ = s.conn.Send(&link.Request{Do: link.Drop, Region: link.Extent{ID: id}}, -1)
	}
}
