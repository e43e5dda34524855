// Package cache keeps compiled models on disk. A set is an index file and the data files it vouches for, replaced as one: whoever is
// killed at any point leaves the old set or the new one. The package knows neither what the files mean nor how the index vouches for them.
package cache

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/fault"
)

// A replacement goes in four steps: the new data files under names of their own, the new index under one of its own, the rename of the
// index, which is the moment at which the set becomes the new one, and the renames of the data files. A reader that finds the new index
// and an old data file takes the new one from beside it.
const (
	newData  = ".new"
	newIndex = ".tmp"
)

// lockPatience is how long Read and Write wait for another process that holds the directory.
const lockPatience = 5 * time.Second

// Hook, if not nil, is called before every step that changes the disk, with the step's name and the file. Tests use it to fail or to stop
// the process there. An error is that of the step.
var Hook func(step, file string) error

func hook(step, file string) error {
	if Hook == nil {
		return nil
	}
	return Hook(step, file)
}

// File is a file of a set; its name has no directory.
type File struct {
	Name string
	Data []byte
}

// Step says which step of a Write has failed.
type Step uint8

// The steps.
const (
	StepDirectory Step = iota // the directory is missing, is none, or is locked too long
	StepOpenData
	StepOpenIndex
	StepWrite // anything after the files were opened: no space, an I/O error
)

// WriteError is the error of Write; the set is the old one then. Its kind is fault.File.
type WriteError struct {
	Step Step
	Err  error
}

func (e *WriteError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *WriteError) Unwrap() error { return e.Err }

// Write replaces the set in dir, which must exist. Whoever writes has called Read before: it completes what a killed writer left.
func Write(dir string, index File, data []File) error {
	unlock, err := lock(dir, unix.LOCK_EX)
	if err != nil {
		return &WriteError{StepDirectory, err}
	}
	defer unlock()
	made := []string{}
	committed := false
	defer func() {
		for _, path := range made {
			if !committed {
				_ = os.Remove(path) // nothing refers to it
			}
		}
	}()
	for _, f := range data {
		path := filepath.Join(dir, f.Name+newData)
		if err := create(path, f.Data, StepOpenData); err != nil {
			return err
		}
		made = append(made, path)
	}
	path := filepath.Join(dir, index.Name+newIndex)
	if err := create(path, index.Data, StepOpenIndex); err != nil {
		return err
	}
	made = append(made, path)
	if err := syncDir(dir); err != nil {
		return &WriteError{StepWrite, err}
	}
	if err := rename(path, filepath.Join(dir, index.Name)); err != nil {
		return &WriteError{StepWrite, err}
	}
	committed = true
	if err := syncDir(dir); err != nil {
		return &WriteError{StepWrite, err}
	}
	for _, f := range data {
		// The set is the new one already: a reader finds what is left undone here.
		if rename(filepath.Join(dir, f.Name+newData), filepath.Join(dir, f.Name)) != nil {
			return nil
		}
	}
	_ = syncDir(dir) // the renames are repeated by the next reader if they are lost
	return nil
}

// create writes a file that did not exist and flushes it. A file that cannot be written completely is removed.
func create(path string, data []byte, open Step) error {
	if err := hook("create", path); err != nil {
		return &WriteError{open, fault.As(fault.File, err, "cache: %s", path)}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &WriteError{open, fault.As(fault.File, err, "cache")}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return &WriteError{open, fault.As(fault.File, err, "cache")}
	}
	err = hook("write", path)
	if err == nil {
		_, err = f.Write(data)
	}
	if err == nil {
		err = hook("sync", path)
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		_ = os.Remove(path)
		return &WriteError{StepWrite, fault.As(fault.File, err, "cache: %s", path)}
	}
	return nil
}

func rename(from, to string) error {
	if err := hook("rename", to); err != nil {
		return fault.As(fault.File, err, "cache: %s", to)
	}
	return fault.As(fault.File, os.Rename(from, to), "cache")
}

func syncDir(dir string) error {
	if err := hook("sync", dir); err != nil {
		return fault.As(fault.File, err, "cache: %s", dir)
	}
	d, err := os.Open(dir)
	if err != nil {
		return fault.As(fault.File, err, "cache")
	}
	defer d.Close()
	return fault.As(fault.File, d.Sync(), "cache: %s", dir)
}

// lock takes the directory for writing or reading. Who waits longer than lockPatience gets an error of kind fault.File.
func lock(dir string, how int) (unlock func(), err error) {
	d, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, fault.As(fault.File, err, "cache")
	}
	give := time.Now().Add(lockPatience)
	for {
		err := unix.Flock(int(d.Fd()), how|unix.LOCK_NB)
		if err == nil {
			return func() { d.Close() }, nil
		}
		if err != unix.EWOULDBLOCK && err != unix.EINTR {
			// A file system without locks: writers are told apart by renames alone.
			return func() { d.Close() }, nil
		}
		if time.Now().After(give) {
			d.Close()
			return nil, fault.New(fault.File, "cache: %s: another process holds the directory", dir)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// ErrNone is in the chain of Read's error when there is no index file.
var ErrNone = errors.New("there is no cache")

// Voucher is what an index says of the data files.
type Voucher struct {
	Names []string
	// Fits looks at the first bytes (HeadSize, or all there are) and the size of data file i, before the rest is read into memory.
	Fits func(i int, head []byte, size int64) bool
	// Good tells whether the content of data file i is what the index was written for.
	Good func(i int, data []byte) bool
}

// HeadSize is how much of a data file Fits gets to see.
const HeadSize = 64

// Read reads the set in dir; check interprets the index. Every failure but ErrNone is of kind fault.File, or check's own.
func Read(dir, index string, check func(index []byte) (Voucher, error)) ([][]byte, error) {
	unlock, err := lock(dir, unix.LOCK_SH)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, ErrNone
		}
		return nil, err
	}
	defer unlock()
	head, err := readFile(filepath.Join(dir, index), func(_ []byte, size int64) bool { return size <= maxIndex })
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNone
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
		if out[i], err = v.read(i, filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

const maxIndex = 1 << 20

// read reads data file i, or the one beside it that a writer did not come to rename.
func (v *Voucher) read(i int, path string) ([]byte, error) {
	fits := func(head []byte, size int64) bool { return v.Fits(i, head, size) }
	b, err := readFile(path, fits)
	if err == nil && v.Good(i, b) {
		return b, nil
	}
	if n, e := readFile(path+newData, fits); e == nil && v.Good(i, n) {
		_ = os.Rename(path+newData, path) // a reader without write access leaves it to the next
		return n, nil
	}
	if err == nil {
		err = fault.New(fault.File, "cache: %s: not the content that the index vouches for", path)
	}
	return nil, err
}

// readFile reads a regular file that is no symbolic link and that fits.
func readFile(path string, fits func(head []byte, size int64) bool) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fault.As(fault.File, err, "cache")
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, fault.As(fault.File, err, "cache")
	}
	if !st.Mode().IsRegular() {
		return nil, fault.New(fault.File, "cache: %s: want a file, got %v", path, st.Mode().Type())
	}
	head := make([]byte, min(HeadSize, st.Size()))
	if _, err := io.ReadFull(f, head); err != nil {
		return nil, fault.As(fault.File, err, "cache: %s", path)
	}
	if !fits(head, st.Size()) {
		return nil, fault.New(fault.File, "cache: %s: %d bytes that cannot be what the index vouches for", path, st.Size())
	}
	b := make([]byte, st.Size())
	copy(b, head)
	if _, err := io.ReadFull(f, b[len(head):]); err != nil {
		return nil, fault.As(fault.File, err, "cache: %s", path)
	}
	return b, nil
}
