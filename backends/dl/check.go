package dl

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/anynpu/anynpu/backends/dl/loader"
	"github.com/anynpu/anynpu/core/fault"
)

// identify returns the identity of a regular file.
func identify(path string) (Identity, error) {
	st, err := os.Stat(path)
	if err != nil {
		return Identity{}, err
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return Identity{}, errors.ErrUnsupported
	}
	return Identity{Device: uint64(sys.Dev), Inode: sys.Ino, Size: st.Size(), Modified: st.ModTime().UnixNano()}, nil
}

// Check finds the file behind a path and says whether it may be opened as a driver: nobody but its owner's group can
// write to it, and it is a shared library for this machine and its C library, and not this library's own. Errors have
// the kind fault.File and do not name the path.
func Check(path string) (file string, id Identity, err error) {
	if file, err = safe(path); err != nil {
		return "", id, err
	}
	if id, err = identify(file); err != nil {
		return "", id, fault.As(fault.File, cause(err), "")
	}
	e, err := loader.Read(file)
	switch {
	case errors.Is(err, loader.ErrNotELF):
		return "", id, fault.New(fault.File, "not an ELF file, want a shared library")
	case err != nil:
		return "", id, fault.New(fault.File, "damaged ELF file: %v", err)
	case !e.Fits():
		return "", id, fault.New(fault.File, "built for %v (%v), this machine is %v", e.Machine, e.Class, loader.Machine())
	case e.Type != elf.ET_DYN:
		return "", id, fault.New(fault.File, "an ELF file of the type %v, want a shared library", e.Type)
	case e.Ours:
		return "", id, fault.New(fault.File, "AnyNPU's own library, which leads back here; want the vendor's file")
	}
	for _, name := range e.Needed {
		if name == "libc.so" || strings.HasPrefix(name, "libc.musl-") {
			return "", id, fault.New(fault.File, "built for another C library: it needs %s, and this process has glibc", name)
		}
	}
	return file, id, nil
}

// safe returns the regular file behind an absolute path that only its owner and their group can replace or change.
func safe(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", fault.New(fault.File, "want an absolute path")
	}
	file, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fault.As(fault.File, cause(err), "")
	}
	st, err := os.Stat(file)
	switch {
	case err != nil:
		return "", fault.As(fault.File, cause(err), "")
	case !st.Mode().IsRegular():
		return "", fault.New(fault.File, "it is %v, want a regular file", st.Mode().Type())
	case st.Mode().Perm()&0o002 != 0:
		return "", fault.New(fault.File, "everyone may write to it: chmod o-w %s", file)
	}
	for _, p := range []string{path, file} {
		if err := safeFolders(filepath.Dir(p)); err != nil {
			return "", err
		}
	}
	return file, nil
}

// safeFolders refuses a folder in which everyone may replace files, and folders above in which everyone may replace it;
// above, a sticky folder such as /tmp lets only owners.
func safeFolders(folder string) error {
	for at := folder; ; at = filepath.Dir(at) {
		st, err := os.Stat(at)
		if err != nil {
			return fault.As(fault.File, cause(err), "")
		}
		if st.Mode().Perm()&0o002 != 0 && (at == folder || st.Mode()&fs.ModeSticky == 0) {
			return fault.New(fault.File, "everyone may write to its folder %s", at)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// cause leaves out what an error of the file system says of operation and path.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	if strings.Contains(err.Error(), "too many links") {
		return errors.New("a loop of symbolic links")
	}
	return err
}

// Needs returns the files that the loader would load with a driver, by SONAME, as far as they are found: in its RPATH
// or RUNPATH, and where programs' libraries are. A name that is not found has "".
func Needs(file string, getenv func(string) string) (map[string]string, error) {
	found := map[string]string{}
	for todo := []string{file}; len(todo) > 0; todo = todo[1:] {
		e, err := loader.Read(todo[0])
		if err != nil {
			return nil, fault.New(fault.File, "%s: %v", todo[0], err)
		}
		if e.Ours { // what needs it is to get another
			continue
		}
		for _, name := range e.Needed {
			if _, known := found[name]; known || len(found) > 256 {
				continue
			}
			at := ""
			for _, folder := range append(e.RPath, e.RunPath...) {
				if at = loader.In(folder, name); at != "" {
					break
				}
			}
			if at == "" {
				at = loader.Find(name, getenv, loader.CacheFile)
			}
			found[name] = at
			if at != "" {
				todo = append(todo, at)
			}
		}
	}
	return found, nil
}

// String is for messages.
func (id Identity) String() string { return fmt.Sprintf("%d:%d", id.Device, id.Inode) }
