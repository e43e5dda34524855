package rknn

import (
	"sync"

	"golang.org/x/sys/unix"
)

// A job is a call of the program's functions that a run wants made on the thread of rknn_run.
type job struct {
	f    func() error
	done chan error
}

// threadSet is a set of threads; one that enters twice leaves twice.
type threadSet struct {
	mu  sync.Mutex
	ids map[int]int
}

// enter adds the calling thread until leave is called.
func (s *threadSet) enter() (leave func()) {
	id := unix.Gettid()
	add := func(n int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.ids == nil {
			s.ids = map[int]int{}
		}
		if s.ids[id] += n; s.ids[id] == 0 {
			delete(s.ids, id)
		}
	}
	add(1)
	return func() { add(-1) }
}

// has reports whether the calling thread is in the set.
func (s *threadSet) has() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ids[unix.Gettid()] > 0
}
