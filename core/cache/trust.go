package cache

import (
	"path/filepath"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/fault"
)

// A cache is believed if nobody but the process's user and root could have written it: directory and files belong to
// one of them, can be written by neither group nor others, are no links and have no second name, and the same holds for
// every directory above. Of those one that all may write to, but only the owner of an entry may rename, as /tmp, is
// safe for entries of the user's. Links on the way are followed if they lie in such directories.

// anybody says that every cache is believed.
var anybody atomic.Bool

// TrustAnybody has caches believed whoever could write them, which programs on purpose share with others, or ends that.
func TrustAnybody(on bool) { anybody.Store(on) }

// maxLinks bounds the links that are followed on the way to a directory.
const maxLinks = 40

// Private is the error, of kind fault.File, of a directory that is not there, or in which others could put files. Such
// a directory holds no files that need trust.
func Private(dir string) error {
	if anybody.Load() {
		return nil
	}
	var w walk
	return w.to(dir)
}

// trusted is the error of a directory in which others could have put files.
func (d *directory) trusted() error {
	if anybody.Load() {
		return nil
	}
	var w walk
	if err := w.to(d.path); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Fstat(d.fd, &st); err != nil || st.Dev != w.last.Dev || st.Ino != w.last.Ino {
		return fault.New(fault.File, "cache: directory %q has been replaced", d.path)
	}
	return nil
}

// walk goes from the root to a directory.
type walk struct {
	at    string
	last  unix.Stat_t // of at
	links int
}

func (w *walk) to(dir string) error {
	if dir == "" {
		return fault.New(fault.Argument, "cache: empty directory name")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return fault.As(fault.File, err, "cache: directory %q", dir)
	}
	if err := unix.Lstat(abs, &w.last); err == nil && w.last.Mode&unix.S_IFMT == unix.S_IFLNK {
		return fault.New(fault.File, "cache: directory %q is a link", dir)
	}
	w.at = "/"
	if err := w.look("/", false); err != nil {
		return err
	}
	for left := parts(abs); len(left) > 0; {
		name := left[0]
		left = left[1:]
		if name == ".." {
			w.at = filepath.Dir(w.at)
			continue
		}
		next := filepath.Join(w.at, name)
		if err := w.look(next, false); err != nil {
			return err
		}
		if w.last.Mode&unix.S_IFMT != unix.S_IFLNK {
			w.at = next
			continue
		}
		if w.links++; w.links > maxLinks {
			return fault.As(fault.File, unix.ELOOP, "cache: directory %q", dir)
		}
		var to [unix.PathMax]byte
		n, err := unix.Readlink(next, to[:])
		if err != nil {
			return fault.As(fault.File, err, "cache: link %q", next)
		}
		if to[0] == '/' {
			w.at = "/"
		}
		left = append(parts(string(to[:n])), left...)
	}
	return w.look(w.at, true)
}

// parts are the names of a path.
func parts(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// look judges an entry of a directory that was found good; end says that it is to hold the cache.
func (w *walk) look(path string, end bool) error {
	if err := unix.Lstat(path, &w.last); err != nil {
		return fault.As(fault.File, err, "cache: directory %q", path)
	}
	kind := w.last.Mode & unix.S_IFMT
	if kind == unix.S_IFLNK {
		return owned(&w.last, path)
	}
	if kind != unix.S_IFDIR {
		return fault.As(fault.File, unix.ENOTDIR, "cache: directory %q", path)
	}
	if !end && w.last.Mode&unix.S_ISVTX != 0 {
		return owned(&w.last, path)
	}
	return unshared(&w.last, path)
}

// owned refuses what belongs to somebody else.
func owned(st *unix.Stat_t, name string) error {
	if owner := int(st.Uid); owner != 0 && owner != unix.Geteuid() {
		return fault.New(fault.File, "cache: %q belongs to user %d: ANYNPU_CACHE_TRUST=any believes it all the same", name,
			owner)
	}
	return nil
}

// unshared refuses what others can write, too.
func unshared(st *unix.Stat_t, name string) error {
	if err := owned(st, name); err != nil {
		return err
	}
	if st.Mode&(unix.S_IWGRP|unix.S_IWOTH) != 0 {
		return fault.New(fault.File, "cache: %q can be written by others (mode %#o): ANYNPU_CACHE_TRUST=any believes it all "+
			"the same", name, st.Mode&0o7777)
	}
	return nil
}

// believed refuses a file that others could have written.
func believed(st *unix.Stat_t, name string) error {
	if anybody.Load() {
		return nil
	}
	if err := unshared(st, name); err != nil {
		return err
	}
	if st.Nlink > 1 {
		return fault.New(fault.File, "cache: %q has %d names: others may have put it there", name, st.Nlink)
	}
	return nil
}
