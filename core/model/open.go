package model

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/anynpu/anynpu/core/fault"
)

// headBytes is how much of a file's beginning is looked at.
const headBytes = 1 << 16

// Source is a model as a program hands it over: the name of a file, or bytes.
type Source struct {
	Path string // empty: Data is the model
	Data []byte
}

// name is the model's name in messages.
func (s Source) name() string {
	if s.Path != "" {
		return s.Path
	}
	return fmt.Sprintf("%d bytes", len(s.Data))
}

// label begins a sentence about the model: the last part of the path and a colon, or nothing.
func (s Source) label() string {
	if s.Path != "" {
		return filepath.Base(s.Path) + ": "
	}
	return ""
}

// File is an open source.
type File struct {
	io.ReaderAt
	Size int64
	Head []byte // the first bytes, at least 4096 where there are as many
	Format
	file *os.File // nil for bytes
}

// Close lets go of the file.
func (f *File) Close() {
	if f.file != nil {
		f.file.Close()
	}
}

// Open opens a source and tells its format. Kind fault.File for anything but a regular file; one that would block is
// not opened. Errors do not name the file.
func (s Source) Open() (*File, error) {
	if s.Path == "" {
		head := s.Data[:min(len(s.Data), headBytes)]
		return &File{ReaderAt: bytes.NewReader(s.Data), Size: int64(len(s.Data)), Head: head, Format: Recognize(head)}, nil
	}
	f, err := s.openFile()
	return f, fault.As(fault.File, cause(err), "")
}

func (s Source) openFile() (*File, error) {
	st, err := os.Stat(s.Path) // before it is opened, which a pipe would block
	if err == nil {
		err = regular(st)
	}
	if err != nil {
		return nil, err
	}
	file, err := os.Open(s.Path)
	if err != nil {
		return nil, err
	}
	f := &File{ReaderAt: file, file: file}
	if st, err = file.Stat(); err == nil {
		err = regular(st)
	}
	if err == nil {
		f.Size = st.Size()
		f.Head = make([]byte, min(f.Size, headBytes))
		if _, err = file.ReadAt(f.Head, 0); err == io.EOF {
			err = nil
		}
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	f.Format = Recognize(f.Head)
	return f, nil
}

func regular(st fs.FileInfo) error {
	if !st.Mode().IsRegular() {
		return fault.New(fault.File, "it is %s, want a regular file", kind(st.Mode()))
	}
	return nil
}

// kind names the object at a path that is no regular file.
func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}

// cause leaves out what an error of the file system says of operation and path, which are told already.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
