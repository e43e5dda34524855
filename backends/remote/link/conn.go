package link

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// maxMessage bounds a message: a model's metadata can be long.
const maxMessage = 64 << 20

// headSize is the length of the head of a message: its length, and a byte of flags.
const headSize = 5

// The flags.
const (
	withFD   = 1 << iota // a descriptor comes along
	isBinary             // not JSON
)

// usualSize is room for the head and body of most messages.
const usualSize = 512

// bufferSize is how much of the socket is read at once.
const bufferSize = 4096

// Patience is how long ReceiveSoon waits.
const Patience = time.Millisecond

// ErrLater is the error of ReceiveSoon when no message has come.
var ErrLater = errors.New("no message yet")

// Pair returns the two ends of a connection. The second is for the helper, and closed by exec.
func Pair() (own *Conn, helper *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	if own, err = NewConn(fds[0]); err != nil {
		unix.Close(fds[1])
		return nil, nil, err
	}
	return own, os.NewFile(uintptr(fds[1]), "anynpu-remote"), nil
}

// Conn is one end of a connection. Send may be called by several goroutines at once, Receive by one.
//
// Go would be woken whenever the socket can be read or written, which is whenever the other end has read. So it watches
// an epoll instead, in which the socket can only be read, and which does not have it while ReceiveSoon waits.
type Conn struct {
	file    *os.File
	raw     syscall.RawConn
	watch   *os.File // the epoll
	readies syscall.RawConn
	watched bool       // the epoll has the socket
	mu      sync.Mutex // of Send

	// Of Receive: bytes that were read ahead lie at from to to, the descriptors of their messages in rights, in order.
	buffer   []byte
	from, to int
	rights   []int
	control  []byte
	body     []byte
	failed   error // which ended it all
}

// NewConn takes over a stream socket.
func NewConn(fd int) (c *Conn, err error) {
	if err = unix.SetNonblock(fd, false); err != nil { // else os.NewFile has Go watch it
		unix.Close(fd)
		return nil, os.NewSyscallError("fcntl", err)
	}
	c = &Conn{file: os.NewFile(uintptr(fd), "anynpu-remote"), buffer: make([]byte, bufferSize),
		control: make([]byte, unix.CmsgSpace(4))}
	defer func() {
		if err != nil {
			c.file.Close()
		}
	}()
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	if err = unix.SetNonblock(epoll, true); err != nil {
		unix.Close(epoll)
		return nil, os.NewSyscallError("fcntl", err)
	}
	c.watch = os.NewFile(uintptr(epoll), "anynpu-remote")
	if c.raw, err = c.file.SyscallConn(); err == nil {
		c.readies, err = c.watch.SyscallConn()
	}
	if err != nil {
		c.watch.Close()
		return nil, err
	}
	return c, nil
}

// Close ends the connection; Receive then fails.
func (c *Conn) Close() error {
	_ = c.raw.Control(func(s uintptr) { _ = unix.Shutdown(int(s), unix.SHUT_RDWR) })
	c.watch.Close()
	return c.file.Close()
}

// Send writes a message, with a descriptor unless fd is negative.
func (c *Conn) Send(message any, fd int) error {
	data, is := appendBinary(make([]byte, headSize, usualSize), message)
	if is {
		data[4] = isBinary
	} else {
		body, err := json.Marshal(message)
		if err != nil {
			return err
		}
		data = append(data, body...)
	}
	size := len(data) - headSize
	if size > maxMessage {
		return fmt.Errorf("a message of %d bytes, at most %d are sent", size, maxMessage)
	}
	binary.LittleEndian.PutUint32(data, uint32(size))
	var rights []byte
	if fd >= 0 {
		data[4] |= withFD
		rights = unix.UnixRights(fd)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var failed error
	err := c.raw.Write(func(s uintptr) bool {
		for len(data) > 0 {
			n, err := sendWith(s, data, rights)
			switch {
			case errors.Is(err, unix.EINTR):
				continue
			case errors.Is(err, unix.EAGAIN): // rarely: the thread waits
				_, _ = unix.Poll([]unix.PollFd{{Fd: int32(s), Events: unix.POLLOUT}}, -1)
				continue
			case err != nil:
				failed = os.NewSyscallError("sendmsg", err)
				return true
			}
			data, rights = data[n:], nil
		}
		return true
	})
	return errors.Join(err, failed)
}

// Receive reads the next message, and the descriptor that came along, -1 if none did. io.EOF when the other end is
// closed. After an error, descriptors that were read ahead are closed, and every call has that error.
func (c *Conn) Receive(message any) (fd int, err error) {
	if c.failed != nil {
		return -1, c.failed
	}
	if fd, err = c.receive(message); err != nil {
		c.failed = err
		for _, fd := range c.rights {
			unix.Close(fd)
		}
		c.rights = nil
	}
	return fd, err
}

// ReceiveSoon is Receive, but ErrLater if no message has begun after Patience. The thread waits itself: the kernel
// wakes it, and not another one that would have to wake it.
func (c *Conn) ReceiveSoon(message any) (fd int, err error) {
	if c.failed == nil && c.from == c.to {
		soon := false
		err := c.raw.Read(func(s uintptr) bool {
			soon = c.watching(false, int(s)) == nil && readable(s, Patience.Milliseconds())
			return true
		})
		if err == nil && !soon {
			return -1, ErrLater
		}
	}
	return c.Receive(message)
}

func (c *Conn) receive(message any) (fd int, err error) {
	head, err := c.next(headSize)
	if err != nil {
		return -1, err
	}
	size, flags := int(binary.LittleEndian.Uint32(head)), head[4]
	if size > maxMessage {
		return -1, fmt.Errorf("a message of %d bytes, at most %d are read", size, maxMessage)
	}
	body, err := c.next(size)
	switch {
	case err != nil:
		return -1, err
	case flags&isBinary != 0:
		err = readBinary(body, message)
	default:
		err = json.Unmarshal(body, message)
	}
	if err != nil {
		return -1, err
	}
	// The kernel gives a descriptor with the first bytes of its message, and no byte behind that piece.
	fd = -1
	if flags&withFD != 0 && len(c.rights) > 0 {
		fd, c.rights = c.rights[0], c.rights[1:]
	} else if flags&withFD != 0 || c.from == c.to && len(c.rights) > 0 {
		return -1, errors.New("a message's descriptor did not come along")
	}
	return fd, nil
}

// next are the next n bytes, which the following call may overwrite.
func (c *Conn) next(n int) ([]byte, error) {
	if n > len(c.buffer) {
		return c.long(n)
	}
	if n > len(c.buffer)-c.from {
		c.to = copy(c.buffer, c.buffer[c.from:c.to])
		c.from = 0
	}
	for c.to-c.from < n {
		m, err := c.read(c.buffer[c.to:])
		if err != nil {
			return nil, err
		}
		c.to += m
	}
	b := c.buffer[c.from : c.from+n]
	if c.from += n; c.from == c.to {
		c.from, c.to = 0, 0
	}
	return b, nil
}

// long is next of more than the buffer holds.
func (c *Conn) long(n int) ([]byte, error) {
	if cap(c.body) < n || cap(c.body) > 1<<20 {
		c.body = make([]byte, n)
	}
	c.body = c.body[:n]
	at := copy(c.body, c.buffer[c.from:c.to])
	c.from, c.to = 0, 0
	for at < n {
		m, err := c.read(c.body[at:])
		if err != nil {
			return nil, err
		}
		at += m
	}
	return c.body, nil
}

// watching has the epoll have the socket or not.
func (c *Conn) watching(on bool, fd int) (err error) {
	if c.watched == on {
		return nil
	}
	do := unix.EPOLL_CTL_ADD
	if !on {
		do = unix.EPOLL_CTL_DEL
	}
	failed := c.readies.Control(func(epoll uintptr) {
		err = unix.EpollCtl(int(epoll), do, fd, &unix.EpollEvent{Events: unix.EPOLLIN})
	})
	if err == nil {
		err = failed
	}
	c.watched = on && err == nil
	return err
}

// read reads some bytes, and takes the descriptors that come with them.
func (c *Conn) read(b []byte) (int, error) {
	var n, cn int
	var failed error
	err := c.raw.Read(func(s uintptr) bool {
		err := c.readies.Read(func(uintptr) bool {
			if n, cn, failed = receiveWith(s, b, c.control); !errors.Is(failed, unix.EAGAIN) {
				return true
			}
			if err := c.watching(true, int(s)); err != nil {
				failed = err
				return true
			}
			return false
		})
		if err != nil {
			failed = err
		}
		return true
	})
	if err == nil && failed != nil {
		err = os.NewSyscallError("recvmsg", failed)
	}
	if err == nil && cn > 0 {
		err = c.take(c.control[:cn])
	}
	if err == nil && n == 0 {
		err = io.EOF
	}
	return n, err
}

// take keeps the descriptors of a control message.
func (c *Conn) take(control []byte) error {
	list, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return err
	}
	for i := range list {
		fds, err := unix.ParseUnixRights(&list[i])
		if err != nil {
			return err
		}
		c.rights = append(c.rights, fds...)
	}
	return nil
}
