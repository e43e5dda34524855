package link

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Go is not told of these calls: it would wake its thread that watches calls whenever the process has been idle, for a
// call that ends at once. They take no longer than a kernel of the CPU.

// atOnce bounds the bytes of a call: Go's collector waits for the thread meanwhile.
const atOnce = 512 << 10

// mostPieces bounds the slices of a call.
const mostPieces = 8

// SendPieces writes the beginning of slices to a socket; unix.EAGAIN if it is full.
func SendPieces(fd uintptr, pieces [][]byte) (n int, err error) {
	var list [mostPieces]unix.Iovec
	k, left := 0, atOnce
	for _, p := range pieces {
		if k == len(list) || left == 0 {
			break
		}
		if len(p) == 0 {
			continue
		}
		m := min(len(p), left)
		list[k].Base = &p[0]
		list[k].SetLen(m)
		k, left = k+1, left-m
	}
	if k == 0 {
		return 0, nil
	}
	m := unix.Msghdr{Iov: &list[0]}
	m.SetIovlen(k)
	return sendmsg(fd, &m)
}

// ReceiveInto reads from a socket; unix.EAGAIN if there is nothing, 0 at its end.
func ReceiveInto(fd uintptr, b []byte) (n int, err error) {
	if len(b) == 0 {
		return 0, nil
	}
	r, _, code := unix.RawSyscall6(unix.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(min(len(b), atOnce)),
		unix.MSG_DONTWAIT, 0, 0)
	return result(r, code)
}

// Peek is whether a socket has a byte to read; unix.EAGAIN if it has none, 0 at its end.
func Peek(fd uintptr) (n int, err error) {
	var b [1]byte
	r, _, code := unix.RawSyscall6(unix.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&b[0])), 1,
		unix.MSG_PEEK|unix.MSG_DONTWAIT, 0, 0)
	return result(r, code)
}

// sendWith writes to a socket, with rights unless there are none.
func sendWith(fd uintptr, b, rights []byte) (n int, err error) {
	list := unix.Iovec{Base: &b[0]}
	list.SetLen(min(len(b), atOnce))
	m := unix.Msghdr{Iov: &list}
	m.SetIovlen(1)
	if len(rights) > 0 {
		m.Control = &rights[0]
		m.SetControllen(len(rights))
	}
	return sendmsg(fd, &m)
}

// receiveWith reads from a socket, and cn bytes of control messages.
func receiveWith(fd uintptr, b, control []byte) (n, cn int, err error) {
	list := unix.Iovec{Base: &b[0]}
	list.SetLen(min(len(b), atOnce))
	m := unix.Msghdr{Iov: &list, Control: &control[0]}
	m.SetIovlen(1)
	m.SetControllen(len(control))
	r, _, code := unix.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&m)),
		unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
	n, err = result(r, code)
	if err == nil {
		cn = int(m.Controllen)
	}
	return n, cn, err
}

// readable waits until a socket has something to read, for at most so many milliseconds.
func readable(fd uintptr, limit int64) bool {
	const tries = 3 // Go interrupts a thread that has computed for long
	for range tries {
		left := unix.NsecToTimespec(limit * 1e6)
		p := unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
		n, _, code := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&p)), 1, uintptr(unsafe.Pointer(&left)), 0, 0,
			0)
		if code != unix.EINTR {
			return code == 0 && n > 0
		}
	}
	return false
}

func sendmsg(fd uintptr, m *unix.Msghdr) (n int, err error) {
	r, _, code := unix.RawSyscall(unix.SYS_SENDMSG, fd, uintptr(unsafe.Pointer(m)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	return result(r, code)
}

func result(r uintptr, code unix.Errno) (int, error) {
	if code != 0 {
		return 0, code
	}
	return int(r), nil
}
