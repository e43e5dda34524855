package operations

import (
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/conformance/nnapi"
)

// pool is memory of the API over a file.
type pool struct {
	t      *nnapi.T
	handle uintptr
	fd     int
}

// newPool makes memory with a content.
func newPool(t *nnapi.T, content []byte) *pool {
	fd, err := unix.MemfdCreate("operations", unix.MFD_CLOEXEC)
	t.Check(err == nil, "memfd_create: %v", err)
	t.Later(func() { unix.Close(fd) }) //nolint:errcheck // nothing was written through it that could be lost
	p := &pool{t: t, fd: fd}
	p.write(content)
	p.handle = t.New("Memory_free", "Memory_createFromFd", len(content), unix.PROT_READ|unix.PROT_WRITE, int32(fd), 0)
	return p
}

func (p *pool) write(content []byte) {
	n, err := unix.Pwrite(p.fd, content, 0)
	p.t.Check(err == nil && n == len(content), "pwrite of %d bytes: %d, %v", len(content), n, err)
}

// read returns n bytes from an offset.
func (p *pool) read(offset, n int) []byte {
	b := make([]byte, n)
	got, err := unix.Pread(p.fd, b, int64(offset))
	p.t.Check(err == nil && got == n, "pread of %d bytes: %d, %v", n, got, err)
	return b
}
