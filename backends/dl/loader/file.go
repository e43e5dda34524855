// Package loader tells what the dynamic loader of Linux makes of a program and of a library's name, from the files
// alone: nothing is loaded or run.
package loader

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Core is the file name and SONAME of the library.
const Core = "libanynpu.so.0"

// note is the ELF note that the library and its stub libraries carry, up to its content: sizes of name and content,
// kind, and name.
var note = []byte("\x07\x00\x00\x00\x04\x00\x00\x00\x01\x00\x00\x00AnyNPU\x00") // all machines are little-endian

// A File holds the parts of an ELF file that the loader reads.
type File struct {
	Path    string
	Class   elf.Class
	Machine elf.Machine
	Type    elf.Type
	Interp  string   // the loader that it asks for, "" for a static program and for libraries
	Needed  []string // SONAMEs
	RPath   []string // folders, before LD_LIBRARY_PATH; none if there is a RUNPATH, which makes them void
	RunPath []string // folders, behind LD_LIBRARY_PATH
	Soname  string
	Ours    bool // the file is AnyNPU's: the library, under whatever name, or a stub that leads to it
}

// ErrNotELF is the error for a file of another kind.
var ErrNotELF = errors.New("not an ELF file")

// Read reads the headers of an ELF file. Of one that does not fit this machine it tells only class and machine.
func Read(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 20)
	if _, err := io.ReadFull(f, head); err != nil || string(head[:len(elf.ELFMAG)]) != elf.ELFMAG {
		return nil, ErrNotELF
	}
	var order binary.ByteOrder = binary.LittleEndian
	if elf.Data(head[elf.EI_DATA]) == elf.ELFDATA2MSB {
		order = binary.BigEndian
	}
	file := &File{Path: path, Class: elf.Class(head[elf.EI_CLASS]), Machine: elf.Machine(order.Uint16(head[18:]))}
	if !file.Fits() {
		return file, nil
	}
	e, err := elf.NewFile(f)
	if err != nil {
		return nil, err
	}
	file.Type = e.Type
	for _, p := range e.Progs {
		if p.Type != elf.PT_INTERP && p.Type != elf.PT_NOTE || p.Filesz > 1<<16 {
			continue
		}
		text := make([]byte, p.Filesz)
		if _, err := p.ReadAt(text, 0); err != nil {
			return nil, err
		}
		if p.Type == elf.PT_INTERP {
			file.Interp = string(bytes.TrimRight(text, "\x00"))
		} else {
			file.Ours = file.Ours || bytes.Contains(text, note)
		}
	}
	if file.Needed, err = e.ImportedLibraries(); err != nil {
		return nil, err
	}
	for tag, into := range map[elf.DynTag]*[]string{elf.DT_RPATH: &file.RPath, elf.DT_RUNPATH: &file.RunPath} {
		values, err := e.DynString(tag)
		if err != nil {
			return nil, err
		}
		for _, v := range values {
			*into = append(*into, folders(v, path)...)
		}
	}
	if len(file.RunPath) > 0 {
		file.RPath = nil
	}
	if names, err := e.DynString(elf.DT_SONAME); err == nil && len(names) > 0 {
		file.Soname = names[0]
	}
	return file, nil
}

// folders splits a search path of the file at path; $ORIGIN stands for its folder.
func folders(search, path string) (out []string) {
	origin, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		origin = filepath.Dir(path)
	}
	for _, folder := range strings.Split(search, ":") {
		if folder != "" {
			out = append(out, strings.NewReplacer("$ORIGIN", origin, "${ORIGIN}", origin).Replace(folder))
		}
	}
	return out
}

// Machine is the machine that this program runs on.
func Machine() elf.Machine {
	return map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH]
}

// Fits says whether the file is for this machine's 64-bit programs.
func (f *File) Fits() bool { return f.Class == elf.ELFCLASS64 && f.Machine == Machine() }

// Musl says whether the file asks for musl's loader, or is a library that needs musl.
func (f *File) Musl() bool {
	return strings.HasPrefix(filepath.Base(f.Interp), "ld-musl-") || slices.ContainsFunc(f.Needed, func(name string) bool {
		return name == "libc.so" || strings.HasPrefix(name, "libc.musl-")
	})
}
