package export

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
)

// maxMessage is the length that readers of protobuf refuse to exceed.
const maxMessage = 1<<31 - 1

// Bytes returns the model as a file with all constants in it. A model above 2 GiB is an error.
func (m *Model) Bytes() ([]byte, error) {
	var b bytes.Buffer
	err := m.write(&b, "")
	return b.Bytes(), err
}

// Write writes the model as Bytes returns it.
func (m *Model) Write(w io.Writer) error { return m.write(w, "") }

// WriteFile writes the model to the file at path, replacing it when all is written. Constants that together are larger
// than Options.External go to a file beside it, whose name is path's with .data behind it.
func (m *Model) WriteFile(path string) error {
	var size int64
	for _, c := range m.constants {
		size += int64(len(c.data))
	}
	data := ""
	if size > m.external {
		data = filepath.Base(path) + ".data"
		err := replace(filepath.Join(filepath.Dir(path), data), m.writeData)
		if err != nil {
			return err
		}
	}
	return replace(path, func(w io.Writer) error { return m.write(w, data) })
}

// replace writes a file beside path and gives it that name. A pipe, a device or anything else there that is no file is
// written to instead.
func replace(path string, write func(w io.Writer) error) (err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return through(path, write)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".anynpu-export-*")
	if err != nil {
		return fault.New(fault.File, "%s: %v", path, reason(err))
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
			err = fault.New(fault.KindOf(err), "%s: %v", path, reason(err))
		}
	}()
	w := bufio.NewWriterSize(&limited{f: f}, 1<<16)
	err = errors.Join(write(w), w.Flush(), f.Chmod(0o644), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// limited writes to a file that is not to become larger than the process may have files: the kernel would send SIGXFSZ,
// which ends a program.
type limited struct {
	f    *os.File
	size int64
}

func (l *limited) Write(p []byte) (int, error) {
	if err := mem.CheckFileSize(l.size + int64(len(p))); err != nil {
		return 0, err
	}
	n, err := l.f.Write(p)
	l.size += int64(n)
	return n, err
}

// through writes to the pipe or device at path.
func through(path string, write func(w io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		w := bufio.NewWriterSize(f, 1<<16)
		err = errors.Join(write(w), w.Flush(), f.Close())
	}
	if err != nil {
		return fault.New(fault.File, "%s: %v", path, reason(err))
	}
	return nil
}

// reason leaves out operation and path of an error of the file system.
func reason(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// externalAlign divides the offsets in the file of constants.
const externalAlign = 64

// aligned is the place of a constant after n bytes.
func aligned(n int64) int64 { return (n + externalAlign - 1) / externalAlign * externalAlign }

func (m *Model) writeData(w io.Writer) error {
	var at int64
	for _, c := range m.constants {
		gap := aligned(at) - at
		if _, err := w.Write(make([]byte, gap)); err != nil {
			return err
		}
		if _, err := w.Write(c.data); err != nil {
			return err
		}
		at += gap + int64(len(c.data))
	}
	return nil
}

// write writes ModelProto; data is the file of the constants, "" for none.
func (m *Model) write(w io.Writer, data string) error {
	var at int64
	g := message{}
	g.text(2, m.name)
	for _, c := range m.constants {
		var t message
		for _, d := range c.dims {
			t.varint(1, d)
		}
		t.varint(2, c.typ)
		t.text(8, c.name)
		if data == "" {
			t.bytes(9, c.data)
		} else {
			at = aligned(at)
			for _, e := range [][2]string{{"location", data}, {"offset", strconv.FormatInt(at, 10)},
				{"length", strconv.Itoa(len(c.data))}} {
				var entry message
				entry.text(1, e[0])
				entry.text(2, e[1])
				t.message(13, &entry)
			}
			t.varint(14, 1)
			at += int64(len(c.data))
		}
		g.message(5, &t)
	}
	var all message
	all.parts, all.size = append(all.parts, m.head.parts...), m.head.size
	all.parts = append(all.parts, protowire.AppendVarint(protowire.AppendTag(nil, 7, protowire.BytesType),
		uint64(g.size+m.graph.size)))
	for _, part := range []*message{&g, &m.graph, &m.tail} {
		all.parts = append(all.parts, part.parts...)
		all.size += part.size
	}
	if all.size > maxMessage {
		return fault.New(fault.Unsupported, "a model of %d bytes; a file of ONNX ends at 2 GiB, constants can go to one of "+
			"their own", all.size)
	}
	for _, p := range all.parts {
		if _, err := w.Write(p); err != nil {
			return err
		}
	}
	return nil
}
