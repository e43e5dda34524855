package nnapi

import (
	"context"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/fault"
)

// fence is a sync fence: a descriptor that becomes readable when somebody else's work has ended. Its event and all who
// wait for it hold it. Fences that are waited for share one thread.
type fence struct {
	fd   int
	done chan struct{} // closed when the fence is signalled or has failed
	err  error         // once done is closed

	mu   sync.Mutex
	refs int
	asks bool // fences.add was called
}

// newFence duplicates a descriptor.
func newFence(fd int) (*fence, error) {
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return &fence{fd: own, done: make(chan struct{}), refs: 1}, nil
}

func (f *fence) duplicate() (int, error) {
	return unix.FcntlInt(uintptr(f.fd), unix.F_DUPFD_CLOEXEC, 0)
}

// wait returns nil when the fence is signalled, an error when what it stands for has failed, or that of ctx. The caller
// holds a reference.
func (f *fence) wait(ctx context.Context) error {
	if err := f.ask(); err != nil {
		return err
	}
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ask has the fence watched.
func (f *fence) ask() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.asks {
		return nil
	}
	if err := fences.add(f); err != nil {
		return fault.As(fault.Device, err, "fence")
	}
	f.asks = true
	return nil
}

func (f *fence) retain() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refs++
}

func (f *fence) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refs--; f.refs > 0 {
		return
	}
	if f.asks {
		fences.remove(f)
	}
	unix.Close(f.fd)
}

// end tells those who wait. events come from epoll.
func (f *fence) end(events uint32) {
	switch {
	case events&unix.EPOLLERR != 0:
		f.err = refuse(OpFailed, "fence: its descriptor reports an error [nnapi-fence-descriptor-reports]")
	case events&unix.EPOLLIN == 0:
		f.err = refuse(OpFailed, "fence: the other side has closed it without signalling [nnapi-fence-side-closed]")
	case fenceStatus(f.fd) < 0:
		f.err = refuse(OpFailed, "fence: the work that it stands for has failed with status %d "+
			"[nnapi-fence-work-stands]", fenceStatus(f.fd))
	}
	close(f.done)
}

// fenceInfo is the kernel's struct sync_file_info, by which a sync file tells a status: 1 signalled, below 0 failed.
type fenceInfo struct {
	_      [32]byte // name
	status int32
	_      [20]byte // flags and a list that is not asked for
}

const fenceInfoCall = 0xC0383E04 // SYNC_IOC_FILE_INFO

// fenceStatus is 1 for descriptors that are no sync files, which have no other status than to be readable.
func fenceStatus(fd int) int32 {
	var info fenceInfo
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), fenceInfoCall, uintptr(unsafe.Pointer(&info)))
	if errno != 0 {
		return 1
	}
	return info.status
}

// watcher waits for fences on one thread, which lives as long as there are some.
type watcher struct {
	mu      sync.Mutex
	epoll   int
	wake    int // an eventfd that interrupts the wait, when the last fence goes
	watched map[int32]*fence
}

var fences watcher

// add watches a fence until it ends or is removed. A descriptor that cannot be waited for, such as a file's, is always
// readable and ends at once.
func (w *watcher) add(f *fence) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watched == nil {
		if err := w.start(); err != nil {
			return err
		}
	}
	err := unix.EpollCtl(w.epoll, unix.EPOLL_CTL_ADD, f.fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(f.fd)})
	if err == nil {
		w.watched[int32(f.fd)] = f
		return nil
	}
	if len(w.watched) == 0 {
		w.interrupt()
	}
	if err == unix.EPERM {
		f.end(unix.EPOLLIN)
		return nil
	}
	return err
}

// start begins to watch. The caller holds w.mu.
func (w *watcher) start() error {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err == nil {
		if err = unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, wake, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: -1}); err == nil {
			w.epoll, w.wake, w.watched = epoll, wake, map[int32]*fence{}
			go w.watch(epoll)
			return nil
		}
		unix.Close(wake)
	}
	unix.Close(epoll)
	return err
}

// remove ends the watching of a fence; a no-op if it has ended.
func (w *watcher) remove(f *fence) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watched[int32(f.fd)] != f {
		return
	}
	w.forget(f)
	if len(w.watched) == 0 {
		w.interrupt()
	}
}

// forget takes a fence out. The caller holds w.mu.
func (w *watcher) forget(f *fence) {
	_ = unix.EpollCtl(w.epoll, unix.EPOLL_CTL_DEL, f.fd, nil) // which fails for a descriptor that is not in it
	delete(w.watched, int32(f.fd))
}

// interrupt has the watching goroutine look whether there is anything left to watch.
func (w *watcher) interrupt() {
	_, _ = unix.Write(w.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}) // an eventfd takes it
}

// watch is the goroutine that waits. It ends, with everything closed, when no fence is left.
func (w *watcher) watch(epoll int) {
	var events [64]unix.EpollEvent
	for {
		n, err := unix.EpollWait(epoll, events[:], -1)
		if err != nil && err != unix.EINTR {
			n = 0
		}
		if w.handle(events[:max(n, 0)]) {
			return
		}
	}
}

func (w *watcher) handle(events []unix.EpollEvent) (last bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range events {
		if f := w.watched[e.Fd]; f != nil {
			w.forget(f)
			f.end(e.Events)
		}
	}
	if len(w.watched) > 0 {
		return false
	}
	unix.Close(w.epoll)
	unix.Close(w.wake)
	w.watched = nil
	return true
}
