// Package cache keeps compiled models on disk. A set is an index file and the data files it vouches for, replaced as a
// whole: whoever is killed at any point leaves the old set or the new one. A set is named after its index file.
//
// Write puts the new files under temporary names (".<index>.<i>.tmp"), makes them durable, and then commits them with
// one rename of a journal (".<index>.commit") that lists their real names. Only then they are renamed, one by one, and
// the journal is removed. A reader that finds a journal takes the files that still have a temporary name from there; it
// never writes. Writers and readers of a directory exclude each other by a lock on the directory itself.
//
// The package knows neither what the files mean nor how the index vouches for them.
package cache

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
)

// ErrNone is in the chain of Read's error when there is no index file, or no directory.
var ErrNone = errors.New("there is no cache")

// ErrBusy is in the chain of the error of a Write whose directory another process keeps locked.
var ErrBusy = errors.New("locked by another process")

// File is a file of a set; its name has no directory.
type File struct {
	Name string
	Data []byte
}

// Step says which step of a Write has failed.
type Step uint8

// The steps.
const (
	StepDirectory Step = iota // the directory is missing, is not a directory, or stays locked too long
	StepOpenData              // a data file cannot be made, or has no usable name
	StepOpenIndex             // the index file cannot be made
	StepWrite                 // anything after the files were opened: no space, an I/O error
)

// WriteError is the error of Write. Its kind is fault.File, fault.Argument for names that no file can have.
type WriteError struct {
	Step Step
	Err  error
}

// Error returns the cause's message.
func (e *WriteError) Error() string { return e.Err.Error() }

// Unwrap returns the cause; an errno is in its chain.
func (e *WriteError) Unwrap() error { return e.Err }

// Hook, if not nil, is called before every step that changes the disk, with the step ("create", "write", "sync",
// "rename", "remove") and the file or directory. Tests fail or end the process there. An error is the step's.
var Hook func(step, file string) error

func hook(step, file string) error {
	if Hook == nil {
		return nil
	}
	return Hook(step, file)
}

// maxName keeps temporary names within the 255 bytes of Linux file systems.
const maxName = 240

// checkName refuses what is no plain file name, and the names that this package uses itself.
func checkName(name string) error {
	own := strings.HasPrefix(name, ".") && (strings.HasSuffix(name, ".tmp") || strings.HasSuffix(name, ".commit"))
	if name == "" || name == "." || name == ".." || own || len(name) > maxName || strings.ContainsAny(name, "/\x00") {
		return fault.New(fault.Argument, "cache: %q is no file name of at most %d bytes", name, maxName)
	}
	return nil
}

// Voucher is an index's statement about the data files.
type Voucher struct {
	Names []string
	// Fits looks at the first bytes (HeadSize, or all there are) and the size of data file i, before the rest is read into
	// memory.
	Fits func(i int, head []byte, size int64) bool
	// Good reports whether data file i has the content that the index was written for.
	Good func(i int, data []byte) bool
}

// HeadSize is how much of a data file Fits gets to see.
const HeadSize = 64

const maxIndex = 1 << 20

// Read reads the set in dir whose index file has the name index, under a lock that keeps writers out; check interprets
// the index. It never writes. Every failure but ErrNone is of kind fault.File (fault.Argument for bad names), or
// check's own. Links, FIFOs and directories are refused, and what others could have written (trust.go), and nothing is
// read before its size has been accepted.
func Read(dir, index string, check func(index []byte) (Voucher, error)) ([][]byte, error) {
	if err := checkName(index); err != nil {
		return nil, err
	}
	d, err := openDirectory(dir, unix.LOCK_SH)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, err
	}
	defer d.close()
	s := set{d, d.journal(index)}
	head, err := s.read(index, func(_ []byte, size int64) bool { return size <= maxIndex })
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNone
	}
	if err == nil {
		err = d.trusted()
	}
	if err != nil {
		return nil, err
	}
	v, err := check(head)
	if err != nil {
		return nil, err
	}
	out := make([][]byte, len(v.Names))
	for i, name := range v.Names {
		out[i], err = s.read(name, func(head []byte, size int64) bool { return v.Fits(i, head, size) })
		if err != nil {
			return nil, err
		}
		if !v.Good(i, out[i]) {
			return nil, fault.New(fault.File, "cache: %q: not the content that the index vouches for", name)
		}
	}
	return out, nil
}

// set is a set of files for reading.
type set struct {
	dir  *directory
	from map[string]string // real name to the temporary name it may still have
}

// read reads a file that fits.
func (s *set) read(name string, fits func(head []byte, size int64) bool) ([]byte, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	f, err := s.open(name)
	if err != nil {
		return nil, fault.As(fault.File, err, "cache: open %q", name)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, fault.As(fault.File, errno(err), "cache: read %q", name)
	}
	head := make([]byte, min(HeadSize, st.Size()))
	if _, err := io.ReadFull(f, head); err != nil {
		return nil, fault.As(fault.File, errno(err), "cache: read %q", name)
	}
	if !fits(head, st.Size()) {
		return nil, fault.New(fault.File, "cache: %q: %d bytes that cannot be what the index vouches for", name, st.Size())
	}
	data, err := mem.Make[byte](int(st.Size()))
	if err != nil {
		return nil, fault.Wrap(err, "cache: read %q", name)
	}
	if _, err := io.ReadFull(f, data[copy(data, head):]); err != nil { // io.EOF: the file has shrunk since
		return nil, fault.As(fault.File, errno(err), "cache: read %q", name)
	}
	return data, nil
}

func (s *set) open(name string) (*os.File, error) {
	if tmp, ok := s.from[name]; ok {
		if f, err := s.dir.openFile(tmp); !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return s.dir.openFile(name)
}

// directory is an open, locked directory.
type directory struct {
	path string
	fd   int
}

// lockPatience is how long a lock is waited for. After it a reader goes on without, a writer fails with ErrBusy.
// Whoever may read a directory may lock it for ever, so this is waited once: until a lock is had again, nothing waits
// for that directory.
const lockPatience = time.Second

type fileID struct{ device, inode uint64 }

// withheld has the directories whose lock was waited for in vain.
var withheld sync.Map // of fileID

func openDirectory(path string, lock int) (*directory, error) {
	if path == "" {
		return nil, fault.New(fault.Argument, "cache: empty directory name")
	}
	fd, err := retry(func() (int, error) {
		return unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, fault.As(fault.File, err, "cache: open directory %q", path)
	}
	d := &directory{path: path, fd: fd}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		d.close()
		return nil, fault.As(fault.File, err, "cache: open directory %q", path)
	}
	id := fileID{uint64(st.Dev), st.Ino}
	for end, pause := time.Now().Add(lockPatience), time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := unix.Flock(fd, lock|unix.LOCK_NB)
		if err != unix.EWOULDBLOCK && err != unix.EINTR {
			withheld.Delete(id)
			return d, nil // locked, or on a file system without locks
		}
		if _, vain := withheld.Load(id); vain && err == unix.EWOULDBLOCK || time.Now().After(end) {
			withheld.Store(id, true)
			if lock == unix.LOCK_SH {
				return d, nil
			}
			d.close()
			return nil, fault.As(fault.File, ErrBusy, "cache: directory %q", path)
		}
		time.Sleep(pause)
	}
}

// close also ends the lock.
func (d *directory) close() { unix.Close(d.fd) }

// retry repeats a system call that a signal has interrupted.
func retry(f func() (int, error)) (int, error) {
	for {
		n, err := f()
		if err != unix.EINTR {
			return n, err
		}
	}
}

// openFile opens a regular file for reading that no other user could write; it follows no link and never waits (a FIFO
// is refused).
func (d *directory) openFile(name string) (*os.File, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(d.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
		return nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		unix.Close(fd)
		return nil, fault.New(fault.File, "not a regular file")
	}
	if err := believed(&st, name); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}
