package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/backends/remote/link"
)

// Serve answers the process at the other end until it closes the connection, and then ends all calls. An error says
// what was wrong with what it sent.
func Serve(c *link.Conn) error {
	s := &server{conn: c, calls: map[uint64]context.CancelFunc{}, regions: map[uint64]*region{},
		turn: make(chan struct{}, 1), over: make(chan struct{})}
	all, cancel := context.WithCancel(context.Background())
	defer s.end()
	defer s.wait.Wait()
	defer cancel()
	ended := make(chan error, 1)
	go s.receive(all, ended)
	err := <-ended
	close(s.over)
	return err
}

// mostSpare is how many goroutines wait for their turn to read, at most.
const mostSpare = 16

// receive takes requests until the connection ends; ended then gets why. A call is answered by the goroutine that has
// read it, which need not be woken, while another one waits for the next request. Goroutines are kept: a new one would
// have to grow its stack.
func (s *server) receive(all context.Context, ended chan<- error) {
	for {
		select {
		case s.turn <- struct{}{}:
		case <-s.over:
			return
		}
		call, err := s.next(all)
		if call == nil {
			ended <- err // the turn stays taken
			return
		}
		if s.spare.Add(-1) < 0 {
			s.spare.Add(1)
			go s.receive(all, ended)
		}
		<-s.turn
		call()
		s.wait.Done()
		if s.spare.Add(1) > mostSpare {
			s.spare.Add(-1)
			return
		}
	}
}

// next does what is asked for up to the next call, which it returns; nil when the connection has ended.
func (s *server) next(all context.Context) (call func(), err error) {
	for call == nil && err == nil {
		r := &link.Request{}
		fd, failed := s.conn.Receive(r)
		if errors.Is(failed, io.EOF) {
			return nil, nil
		}
		if err = failed; err == nil {
			call, err = s.take(all, r, fd)
		}
	}
	return call, err
}

// server is one connection.
type server struct {
	conn  *link.Conn
	pool  *Pool
	wait  sync.WaitGroup
	turn  chan struct{} // has one while a goroutine reads
	over  chan struct{} // closed when the connection has ended
	spare atomic.Int64  // goroutines that wait for their turn

	mu      sync.Mutex
	calls   map[uint64]context.CancelFunc
	regions map[uint64]*region
}

func (s *server) end() {
	var wait sync.WaitGroup
	for id, r := range s.regions {
		wait.Go(func() {
			s.pool.take(id)
			_ = r.free()
		})
	}
	wait.Wait()
	if s.pool != nil {
		s.pool.Close()
	}
}

// take does what is asked for, but for a call, which it returns, counted in wait. fd is a descriptor that came along.
func (s *server) take(all context.Context, r *link.Request, fd int) (call func(), err error) {
	if fd >= 0 && r.Do != link.Region {
		unix.Close(fd)
		return nil, fmt.Errorf("a descriptor with %q", r.Do)
	}
	if s.pool == nil && r.Do != link.Open {
		return nil, fmt.Errorf("%q before %q", r.Do, link.Open)
	}
	switch r.Do {
	case link.Open:
		return nil, s.open(r)
	case link.Cancel:
		if r.Target != nil {
			s.mu.Lock()
			if cancel := s.calls[*r.Target]; cancel != nil {
				cancel()
			}
			s.mu.Unlock()
		}
		return nil, nil
	case link.Region:
		return nil, s.region(r.Region, fd)
	case link.Drop:
		return nil, s.drop(r.Region.ID)
	case link.Describe, link.Infer, link.Load, link.State, link.Probe:
		limit := time.Duration(r.LeftMS * float64(time.Millisecond))
		if limit <= 0 {
			limit = time.Duration(s.pool.remote.DeadlineMS) * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(all, limit)
		s.mu.Lock()
		s.calls[r.Call] = cancel
		s.mu.Unlock()
		s.wait.Add(1)
		return func() {
			used.begin()
			a, spill := s.answer(ctx, r)
			used.end() // before the process can send the next one
			s.mu.Lock()
			delete(s.calls, r.Call)
			s.mu.Unlock()
			cancel()
			s.send(a, spill)
		}, nil
	}
	return nil, fmt.Errorf("unknown request %q", r.Do)
}

func (s *server) open(r *link.Request) error {
	remote := &dl.Remote{}
	err := json.Unmarshal(r.Device, remote)
	if err == nil && s.pool == nil {
		s.pool, err = NewPool(remote)
	}
	if err == nil && remote.SharedMemory {
		removeLeft()
		s.pool.named = s.named
	}
	a := &link.Answer{Call: r.Call}
	if err != nil {
		a.Failure = &link.Failure{Class: link.Denied, Text: oneLine(err.Error())}
	}
	s.send(a, nil)
	return nil
}

// region maps shared memory.
func (s *server) region(x link.Extent, fd int) error {
	if fd < 0 {
		return errors.New("shared memory without its descriptor")
	}
	keep := false
	defer func() {
		if !keep {
			unix.Close(fd)
		}
	}()
	if x.Size < 1 || x.Size > 1<<40 {
		return fmt.Errorf("%d bytes of shared memory", x.Size)
	}
	b, err := unix.Mmap(fd, 0, int(x.Size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map %d bytes of shared memory: %w", x.Size, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.regions[x.ID] != nil {
		_ = unix.Munmap(b)
		return fmt.Errorf("region %d twice", x.ID)
	}
	r := &region{bytes: b, fd: -1}
	if s.pool.remote.SharedMemory {
		r.fd, keep = fd, true
	}
	s.regions[x.ID] = r
	return nil
}

// drop lets go of shared memory that no call uses. Servers that have it are told without waiting for them.
func (s *server) drop(id uint64) error {
	s.mu.Lock()
	r := s.regions[id]
	delete(s.regions, id)
	s.mu.Unlock()
	if r == nil {
		return nil
	}
	if r.name == "" {
		return r.free()
	}
	s.wait.Go(func() {
		s.pool.take(id)
		_ = r.free()
	})
	return nil
}

// named is a region's file for servers.
func (s *server) named(id uint64) (file string, size int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.regions[id]
	if r == nil {
		return "", 0, fmt.Errorf("no region %d", id)
	}
	file, err = r.named(id)
	return file, int64(len(r.bytes)), err
}

// at is a memory.
func (s *server) at(region uint64, off, size int64) ([]byte, error) {
	s.mu.Lock()
	var b []byte
	if r := s.regions[region]; r != nil {
		b = r.bytes
	}
	s.mu.Unlock()
	if off < 0 || size < 0 || off > int64(len(b)) || size > int64(len(b))-off {
		return nil, fmt.Errorf("%d bytes at %d of region %d of %d", size, off, region, len(b))
	}
	return b[off : off+size : off+size], nil
}

// answer does what is asked for.
func (s *server) answer(ctx context.Context, r *link.Request) (a *link.Answer, spill [][]byte) {
	a = &link.Answer{Call: r.Call}
	var err error
	switch r.Do {
	case link.Describe:
		a.Metadata, err = s.pool.Describe(ctx, r.Model)
	case link.Infer:
		a.Out, spill, a.Done, err = s.pool.Infer(ctx, r, s.at)
	case link.Load:
		a.Metadata, a.Offers, err = s.pool.Load(ctx, r, s.at)
	case link.State:
		a.State = s.pool.State()
	case link.Probe:
		a.State = s.pool.Probe(ctx)
	}
	if err != nil {
		f := ofError(ctx, err)
		a.Failure = &link.Failure{Class: f.class, Text: f.text, Lacking: f.lacks}
	}
	a.Notes = s.pool.Notes()
	return a, spill
}

// send sends an answer, with memory of its own for outputs that lie in no region.
func (s *server) send(a *link.Answer, spill [][]byte) {
	fd := -1
	for _, b := range spill {
		a.Spill += int64(len(b))
	}
	if a.Spill > 0 {
		var err error
		if fd, err = spillFile(spill, a.Spill); err != nil {
			*a = link.Answer{Call: a.Call, Failure: &link.Failure{Class: link.Failed, Text: oneLine(err.Error())}}
		} else {
			defer unix.Close(fd)
		}
	}
	_ = s.conn.Send(a, fd) // a process that has gone needs no answer
}

// spillFile makes shared memory of slices.
func spillFile(list [][]byte, size int64) (fd int, err error) {
	if fd, err = unix.MemfdCreate("anynpu-remote", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING); err != nil {
		return -1, fmt.Errorf("memfd: %w", err)
	}
	for _, b := range list {
		for len(b) > 0 && err == nil {
			var n int
			n, err = unix.Write(fd, b)
			b = b[max(n, 0):]
		}
	}
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW)
	}
	if err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("%d bytes of shared memory: %w", size, err)
	}
	return fd, nil
}
