package proto

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/parallel"
)

// Goroutines is on how many goroutines values of a file are read at most.
var Goroutines = min(runtime.NumCPU(), 8)

// Source is the bytes of a model while it is read: the caller's, or a copy of a file outside the Go heap. A file is
// read, not mapped: a mapped file that another process truncates would kill this one.
type Source struct {
	Data []byte
	Own  mem.Buffer // nil for the caller's bytes
}

func OpenFile(path string) (*Source, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // a FIFO must not hold the caller
	if err != nil {
		return nil, fault.As(fault.File, err, "open")
	}
	defer f.Close()
	st, err := f.Stat()
	switch {
	case err != nil:
		return nil, fault.As(fault.File, err, "stat")
	case !st.Mode().IsRegular():
		return nil, fault.New(fault.File, "not a regular file")
	case st.Size() == 0:
		return nil, fault.New(fault.File, "the file is empty")
	}
	return readSource(f, 0, st.Size())
}

// readStep is the part of a file that one goroutine reads at a time.
const readStep = 4 << 20

// readSource reads n bytes from off into memory outside the Go heap, several parts at a time.
func readSource(f *os.File, off, n int64) (*Source, error) {
	b, err := mem.Host(n, mem.Options{})
	if err != nil {
		return nil, err
	}
	data, err := b.Map()
	if err == nil {
		failed := make([]error, (n+readStep-1)/readStep)
		parallel.Do(Goroutines, len(failed), func(i int) {
			at := int64(i) * readStep
			_, failed[i] = io.ReadFull(io.NewSectionReader(f, off+at, min(readStep, n-at)), data[at:min(n, at+readStep)])
		})
		err = cmp.Or(failed...)
	}
	if err != nil {
		b.Release()
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return nil, fault.New(fault.File, "the file ends before byte %d", off+n)
		}
		return nil, fault.As(fault.File, err, "read")
	}
	return &Source{Data: data, Own: b}, nil
}

func (s *Source) Close() {
	if s.Own != nil {
		s.Own.Release()
	}
}

// Done gives the memory of a part of the source back to the system: a tensor that was copied out is not needed in both
// places. The part must not be read any more.
func (s *Source) Done(part []byte) {
	if s.Own != nil {
		mem.Discard(part)
	}
}

// externalData reads the data of a tensor that lies in another file of the model's folder.
func (t *Tensor) externalData(folder string, size int64) (*Source, error) {
	f, offset, err := t.OpenExternal(folder, size)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := readSource(f, offset, size)
	return src, fault.Wrap(err, "external data %q", t.External["location"])
}

// OpenExternal opens the file of the model's folder that has the data of a tensor, and tells where they begin there
// (onnx.proto, TensorProto.external_data).
func (t *Tensor) OpenExternal(folder string, size int64) (f *os.File, offset int64, err error) {
	if folder == "" {
		return nil, 0, fault.New(fault.File, "its data is in the file %q, but the model has no folder",
			t.External["location"])
	}
	name := t.External["location"]
	number := func(key string, otherwise int64) (int64, error) {
		s, ok := t.External[key]
		if !ok {
			return otherwise, nil
		}
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil || v < 0 {
			return 0, fault.New(fault.File, "external data: %s %q", key, s)
		}
		return v, nil
	}
	offset, err = number("offset", 0)
	if err != nil {
		return nil, 0, err
	}
	length, err := number("length", size)
	if err != nil {
		return nil, 0, err
	}
	if length != size {
		return nil, 0, fault.New(fault.File, "external data: %d bytes for a tensor of %d", length, size)
	}
	// os.Root follows no link and no ".." out of the folder.
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, 0, fault.As(fault.File, err, "the model's folder")
	}
	defer root.Close()
	// A name with ".." may lead back into the folder; it is refused as in every reader of the format, whose folders may
	// have links.
	if filepath.IsAbs(name) || strings.Contains(name, "\x00") || slices.Contains(strings.Split(name, "/"), "..") {
		return nil, 0, fault.New(fault.File, "external data: %q: want a name below the model's folder, without \"..\"", name)
	}
	f, err = root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, fault.As(fault.File, err, "external data %q", name)
	}
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() || offset > st.Size() || size > st.Size()-offset {
		f.Close()
		return nil, 0, fault.New(fault.File, "external data %q: no %d bytes at %d", name, size, offset)
	}
	return f, offset, nil
}
