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
type Conn struct {
	file *os.File
	raw  syscall.RawConn
	mu   sync.Mutex // of Send
	head [headSize]byte
	body []byte
}

// NewConn takes over a stream socket.
func NewConn(fd int) (*Conn, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, os.NewSyscallError("fcntl", err)
	}
	f := os.NewFile(uintptr(fd), "anynpu-remote")
	raw, err := f.SyscallConn()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &Conn{file: f, raw: raw}, nil
}

// Close ends the connection; Receive then fails.
func (c *Conn) Close() error { return c.file.Close() }

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
			n, err := unix.SendmsgN(int(s), data, rights, nil, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
			switch {
			case errors.Is(err, unix.EINTR):
				continue
			case errors.Is(err, unix.EAGAIN):
				return false
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
// closed.
func (c *Conn) Receive(message any) (fd int, err error) {
	if fd, err = c.receiveHead(); err != nil {
		return -1, err
	}
	size := int(binary.LittleEndian.Uint32(c.head[:]))
	if size > maxMessage {
		err = fmt.Errorf("a message of %d bytes, at most %d are read", size, maxMessage)
	} else {
		if cap(c.body) < size || cap(c.body) > 1<<20 {
			c.body = make([]byte, size)
		}
		c.body = c.body[:size]
		_, err = io.ReadFull(c.file, c.body)
		switch {
		case err != nil:
		case c.head[4]&isBinary != 0:
			err = readBinary(c.body, message)
		default:
			err = json.Unmarshal(c.body, message)
		}
	}
	if err == nil && (c.head[4]&withFD != 0) != (fd >= 0) {
		err = errors.New("a message's descriptor did not come along")
	}
	if err != nil && fd >= 0 {
		unix.Close(fd)
		fd = -1
	}
	return fd, err
}

// receiveHead reads the head of a message; the descriptor comes with its first byte.
func (c *Conn) receiveHead() (fd int, err error) {
	fd = -1
	control := make([]byte, unix.CmsgSpace(4))
	for got := 0; got < headSize; {
		var n, cn int
		var failed error
		err := c.raw.Read(func(s uintptr) bool {
			for {
				n, cn, _, _, failed = unix.Recvmsg(int(s), c.head[got:], control, unix.MSG_CMSG_CLOEXEC|unix.MSG_DONTWAIT)
				if !errors.Is(failed, unix.EINTR) {
					return !errors.Is(failed, unix.EAGAIN)
				}
			}
		})
		if err == nil && failed != nil {
			err = os.NewSyscallError("recvmsg", failed)
		}
		if err == nil && cn > 0 {
			fd, err = oneRight(control[:cn], fd)
		}
		if err == nil && n == 0 {
			err = io.EOF
		}
		if err != nil {
			if fd >= 0 {
				unix.Close(fd)
			}
			return -1, err
		}
		got += n
	}
	return fd, nil
}

// oneRight returns the descriptor of a control message; had is one that came before.
func oneRight(control []byte, had int) (int, error) {
	list, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return had, err
	}
	for i := range list {
		fds, err := unix.ParseUnixRights(&list[i])
		if err != nil {
			return had, err
		}
		for _, fd := range fds {
			if had >= 0 {
				unix.Close(had)
			}
			had = fd
		}
	}
	return had, nil
}
