package nnapi

import (
	"math"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// Memory is an ANeuralNetworksMemory (section 2): bytes of a file, or memory that a device manages. Models and
// executions hold its bytes, not it. Safe for concurrent use.
type Memory struct {
	handle.Ref
	size    uint64
	protect int32    // of a file
	offset  uint64   // in the file
	managed *managed // nil: of a file

	mu  sync.Mutex
	fd  int        // a duplicate of the program's, -1 once it is mapped
	buf mem.Buffer // nil until the first use
}

// access is the access that a use of memory wants, as PROT_READ and PROT_WRITE.
type access int32

const (
	reading access = unix.PROT_READ
	writing access = unix.PROT_WRITE
)

// memoryCreateFromFd duplicates the descriptor and maps nothing: memory that cannot be mapped is refused at its first
// use.
func memoryCreateFromFd(size uint64, protect, fd int32, offset uint64) (*Memory, error) {
	if fd < 0 {
		return nil, refuse(OpFailed, "fd: %d: want an open descriptor [nnapi-fd-open-descriptor]", fd)
	}
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, refuseFor(OpFailed, err, "fd: %d", fd)
	}
	return &Memory{size: size, protect: protect, offset: offset, fd: own}, nil
}

func memoryCreateFromAHardwareBuffer(uintptr) (*Memory, error) {
	return nil, badData("ahwb: there are no hardware buffers off Android: use ANeuralNetworksMemory_createFromFd " +
		"[nnapi-ahwb-no-hardware]")
}

func memoryFree(m *Memory) error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fd >= 0 {
		unix.Close(m.fd)
		m.fd = -1
	}
	if m.buf != nil {
		m.buf.Release()
		m.buf = nil
	}
	return nil
}

// buffer maps the memory if it is not mapped yet, and returns it with a reference for the caller.
func (m *Memory) buffer() (mem.Buffer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.buf == nil {
		buf, err := m.mapped()
		if err != nil {
			return nil, refuseFor(Unmappable, err, "memory")
		}
		unix.Close(m.fd)
		m.fd, m.buf = -1, buf
	}
	m.buf.Retain()
	return m.buf, nil
}

func (m *Memory) mapped() (mem.Buffer, error) {
	if m.protect&^(unix.PROT_READ|unix.PROT_WRITE) != 0 {
		return nil, fault.New(fault.Argument, "protect %#x: want PROT_READ, PROT_WRITE, both, or PROT_NONE "+
			"[nnapi-protect-prot-read]", m.protect)
	}
	if m.size > math.MaxInt64 || m.offset > math.MaxInt64 {
		return nil, fault.New(fault.Argument, "%d bytes at offset %d of a file "+
			"[nnapi-bytes-offset-file]", m.size, m.offset)
	}
	return mem.ImportFD(m.fd, int64(m.offset), int64(m.size), m.protect&unix.PROT_WRITE == 0)
}

// within refuses bytes of a file's memory that are not there, or that protect does not let be used so.
func (m *Memory) within(offset, length uint64, use access) error {
	switch {
	case offset == 0 && length == 0:
		return badData("offset and length: 0: want the bytes of the memory; only what a device manages is used " +
			"whole [nnapi-offset-length-bytes]")
	case offset > m.size || length > m.size-offset:
		return badData("length: %d bytes at offset %d: the memory has %d "+
			"[nnapi-length-bytes-offset]", length, offset, m.size)
	case m.protect&int32(use) == 0:
		return badData("memory: it was made with protect %#x: want PROT_READ for inputs and constants, PROT_WRITE for "+
			"outputs [nnapi-memory-made-protect]", m.protect)
	}
	return nil
}

// managed is memory of a description. Its Memory's lock guards what changes.
type managed struct {
	operand nnapi.Operand
	roles   []role
	written bool     // it holds something
	dims    []uint32 // of what it holds
}

// role is the use of memory as one input or output of a compilation's executions.
type role struct {
	compiled *compiled
	output   bool
	index    uint32
}

// shape is the shape that the roles agree on.
type shape struct {
	operand nnapi.Operand // of the first role; its dimensions combine all roles and setDimensions
	ranked  bool          // the rank is known
}
