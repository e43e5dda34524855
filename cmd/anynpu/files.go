package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/npy"
)

// stdin is the file "-".
var stdin io.Reader = os.Stdin

const (
	maxPiped  = 1 << 30 // bytes of an image or .npz that is no regular file
	maxPacked = 1 << 31 // bytes of an array in a .npz
)

// source is where a tensor is read: a file, or an array of a .npz.
type source struct {
	file  string
	array string // of a .npz; "": that of the tensor's name, or the only one
}

// sources are the files of a flag by the names of ports. A .npz without a name stands for each array in it that a port
// has the name of. used holds the files that stdin has been given for.
func sources(flag string, given []string, ports []device.Port, used *[]string) (map[string]source, error) {
	out := map[string]source{}
	for _, g := range given {
		names := portNames(ports)
		_, _, named := cutName(g, names)
		if named || !isPack(g) {
			one, err := assignments(flag, []string{g}, ports)
			if err != nil {
				return nil, err
			}
			for name, file := range one {
				if _, twice := out[name]; twice {
					return nil, usage("%s %s: %q is given twice [tool-given-twice]", flag, g, name)
				}
				if out[name] = (source{file: file}); file == "-" {
					if *used = append(*used, flag+" "+g); len(*used) > 1 {
						return nil, usage("%s: standard input can be read once only "+
							"[tool-standard-input-read]", strings.Join(*used, " and "))
					}
				}
			}
			continue
		}
		arrays, err := arraysOf(g)
		if err != nil {
			return nil, exit(exitUsage, fault.Wrap(err, "%s %s", flag, g))
		}
		found := false
		for _, name := range names {
			array := name
			if !slices.Contains(arrays, name) {
				if len(arrays) != 1 || len(names) != 1 {
					continue
				}
				array = arrays[0]
			}
			if _, twice := out[name]; twice {
				return nil, usage("%s %s: %q is given twice [tool-given-twice]", flag, g, name)
			}
			out[name], found = source{g, array}, true
		}
		if !found {
			return nil, usage("%s %s: its arrays are %s, and the model has %s; want NAME=FILE for one of them "+
				"[tool-arrays-model-name]", flag, g,
				listed(arrays), strings.Join(names, ", "))
		}
	}
	return out, nil
}

func portNames(ports []device.Port) []string {
	names := make([]string, len(ports))
	for i, p := range ports {
		names[i] = p.Name
	}
	return names
}

// listed joins the first names of a list.
func listed(names []string) string {
	const most = 20
	switch {
	case len(names) == 0:
		return "none"
	case len(names) > most:
		return strings.Join(names[:most], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}

// isPack tells a .npz by its name.
func isPack(file string) bool { return strings.EqualFold(filepath.Ext(file), ".npz") }

// content is an open file.
type content struct {
	*bufio.Reader
	file *os.File // a regular one, nil for others
	size int64    // of a regular file
	end  func() error
}

// openContent opens a file; "-" is standard input.
func openContent(file string) (*content, error) {
	if file == "-" {
		return &content{Reader: bufio.NewReader(stdin), end: func() error { return nil }}, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fault.New(fault.File, "%v [tool-file-unreadable]", cause(err))
	}
	c := &content{Reader: bufio.NewReader(f), end: f.Close}
	switch st, err := f.Stat(); {
	case err == nil && st.IsDir():
		f.Close()
		return nil, fault.New(fault.File, "it is a folder, want a file [tool-folder-file]")
	case err == nil && st.Mode().IsRegular():
		c.file, c.size = f, st.Size()
	}
	return c, nil
}

// seekable is a file for random access, with its size; what is no regular file is read into memory.
func (c *content) seekable() (interface {
	io.ReadSeeker
	io.ReaderAt
}, int64, error) {
	if c.file != nil {
		_, err := c.file.Seek(0, io.SeekStart)
		return c.file, c.size, fault.As(fault.File, err, "seek")
	}
	data, err := io.ReadAll(io.LimitReader(c, maxPiped+1))
	switch {
	case err != nil:
		return nil, 0, fault.As(fault.File, err, "read")
	case len(data) > maxPiped:
		return nil, 0, fault.New(fault.File, "more than %d bytes that are no regular file "+
			"[tool-bytes-no-regular]", maxPiped)
	}
	return bytes.NewReader(data), int64(len(data)), nil
}

// begins reports how the file begins.
func (c *content) begins(with string) bool {
	head, _ := c.Peek(len(with))
	return string(head) == with
}

// isZip recognizes a .npz by its first bytes, also an empty one.
func (c *content) isZip() bool { return c.begins("PK\x03\x04") || c.begins("PK\x05\x06") }

// readArray reads the array of a .npy file, or one of a .npz, that accept has no error for. name is the default name of
// an array of a .npz.
func (c *content) readArray(name string, s source, accept func(tensor.Tensor) error) (tensor.Tensor, error) {
	if !c.isZip() {
		return npy.ReadIf(c, accept)
	}
	r, size, err := c.seekable()
	if err != nil {
		return tensor.Tensor{}, err
	}
	pack, err := openPack(r, size)
	if err != nil {
		return tensor.Tensor{}, err
	}
	names := pack.names()
	switch {
	case s.array != "":
		name = s.array
	case !slices.Contains(names, name) && len(names) == 1:
		name = names[0]
	}
	return pack.read(name, accept)
}

// pack is a .npz: a zip file of .npy files.
type pack struct{ files []*zip.File }

func openPack(r io.ReaderAt, size int64) (*pack, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fault.New(fault.File, "a .npz that cannot be read: %v [tool-npz-read]", err)
	}
	return &pack{z.File}, nil
}

// arraysOf lists the arrays of the .npz file at path.
func arraysOf(path string) ([]string, error) {
	c, err := openContent(path)
	if err != nil {
		return nil, err
	}
	defer c.end()
	if !c.isZip() {
		return nil, fault.New(fault.File, "not a .npz file [tool-npz-file]")
	}
	if c.file == nil {
		return nil, fault.New(fault.File, "want a regular file, or NAME=FILE [tool-regular-file-name]")
	}
	p, err := openPack(c.file, c.size)
	if err != nil {
		return nil, err
	}
	return p.names(), nil
}

func (p *pack) names() []string {
	names := []string{}
	for _, f := range p.files {
		if name, ok := strings.CutSuffix(f.Name, ".npy"); ok {
			names = append(names, name)
		}
	}
	return names
}

// read reads one array.
func (p *pack) read(name string, accept func(tensor.Tensor) error) (tensor.Tensor, error) {
	var none tensor.Tensor
	var found *zip.File
	for _, f := range p.files {
		if f.Name != name+".npy" {
			continue
		}
		if found != nil {
			return none, fault.New(fault.File, "the .npz has two arrays %q [tool-npz-two-arrays]", name)
		}
		found = f
	}
	if found == nil {
		return none, fault.New(fault.File, "the .npz has no array %q; there is: %s "+
			"[tool-npz-no-array]", name, listed(p.names()))
	}
	r, err := found.Open()
	if err != nil {
		return none, fault.New(fault.File, "array %q: %v [tool-array]", name, err)
	}
	defer r.Close()
	buffered := bufio.NewReader(r) // which ReadIf takes as it is
	t, err := npy.ReadIf(buffered, func(t tensor.Tensor) error {
		if n, ok := t.Type().ByteSize(); !ok || n > maxPacked {
			return fault.New(fault.File, "%v%v is too large for an array of a .npz: want at most %d bytes "+
				"[tool-large-array-npz]", t.DType, t.Dims,
				maxPacked)
		}
		return accept(t)
	})
	if err != nil {
		return none, fault.Wrap(err, "array %q", name)
	}
	if n, err := io.ReadFull(buffered, make([]byte, 1)); n > 0 {
		return none, fault.New(fault.File, "array %q: there are bytes after its end [tool-array-bytes-end]", name)
	} else if err != io.EOF { // the checksum is compared at the end
		return none, fault.New(fault.File, "array %q: %v [tool-array]", name, err)
	}
	return t, nil
}

// assignments splits NAME=FILE; a single FILE without a name goes to the only port.
func assignments(flag string, given []string, ports []device.Port) (map[string]string, error) {
	names := make([]string, len(ports))
	for i, p := range ports {
		names[i] = p.Name
	}
	out := map[string]string{}
	for _, g := range given {
		name, file, ok := cutName(g, names)
		if !ok && len(ports) == 1 {
			name, file = names[0], g
		} else if !ok {
			return nil, usage("%s %s: want NAME=FILE, NAME one of %s "+
				"[tool-name-file-name]", flag, g, strings.Join(names, ", "))
		}
		if !contains(names, name) {
			return nil, usage("%s %s: the model has no %q; there is: %s "+
				"[tool-model-no]", flag, g, name, strings.Join(names, ", "))
		}
		if _, twice := out[name]; twice {
			return nil, usage("%s %s: %q is given twice [tool-given-twice]", flag, g, name)
		}
		if file == "" {
			return nil, usage("%s %s: no file; want %s=FILE [tool-no-file]", flag, g, name)
		}
		out[name] = file
	}
	return out, nil
}

// cutName splits NAME=FILE at the "=" that ends one of names, which may contain "=" themselves, else at the first one.
func cutName(given string, names []string) (name, file string, ok bool) {
	for i := len(given) - 1; i >= 0; i-- {
		if given[i] == '=' && contains(names, given[:i]) {
			return given[:i], given[i+1:], true
		}
	}
	return strings.Cut(given, "=")
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}
