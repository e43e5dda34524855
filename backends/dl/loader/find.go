package loader

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// CacheFile is where ldconfig keeps what it has found.
const CacheFile = "/etc/ld.so.cache"

// defaultFolders are where the loader looks last.
var defaultFolders = []string{"/lib64", "/usr/lib64", "/lib", "/usr/lib"}

// Find returns the file that a program of this machine gets for a SONAME, "" if there is none: a preloaded library of
// that SONAME or file name, then the folders of LD_LIBRARY_PATH, then the cache at cachePath, then the default folders.
// A program with an RPATH or RUNPATH of its own may get another.
func Find(soname string, getenv func(string) string, cachePath string) string {
	for _, path := range strings.FieldsFunc(getenv("LD_PRELOAD"), func(r rune) bool { return r == ':' || r == ' ' }) {
		if f, err := Read(path); err == nil && f.Fits() && f.Soname == soname {
			return path
		}
	}
	if search := getenv("LD_LIBRARY_PATH"); search != "" {
		for _, folder := range strings.FieldsFunc(search, func(r rune) bool { return r == ':' || r == ';' }) {
			if path := In(folder, soname); path != "" {
				return path
			}
		}
	}
	if cache, err := os.ReadFile(cachePath); err == nil {
		if path := cached(cache, soname); path != "" && In(filepath.Dir(path), filepath.Base(path)) != "" {
			return path
		}
	}
	for _, folder := range defaultFolders {
		if path := In(folder, soname); path != "" {
			return path
		}
	}
	return ""
}

// In returns the file of a name in a folder if it is for this machine, else "".
func In(folder, name string) string {
	path := filepath.Join(folder, name)
	if f, err := Read(path); err != nil || !f.Fits() {
		return ""
	}
	return path
}

// The form of ld.so.cache: a header, entries of the given size, and a table of strings. Numbers have the machine's
// order of bytes. Other forms, which only very old C libraries wrote, may come before it.
const (
	cacheMagic  = "glibc-ld.so.cache1.1"
	cacheHeader = 48
	cacheEntry  = 24
)

// cacheFlags mark the entries of 64-bit libraries for today's C library.
var cacheFlags = map[string]uint32{"amd64": 0x0303, "arm64": 0x0a03}[runtime.GOARCH]

// cached looks a SONAME up in the contents of ld.so.cache.
func cached(cache []byte, soname string) string {
	at := bytes.Index(cache, []byte(cacheMagic))
	if at < 0 || len(cache)-at < cacheHeader {
		return ""
	}
	cache = cache[at:]
	text := func(offset uint32) string {
		if int64(offset) >= int64(len(cache)) {
			return ""
		}
		s, _, _ := bytes.Cut(cache[offset:], []byte{0})
		return string(s)
	}
	for rest, n := cache[cacheHeader:], binary.NativeEndian.Uint32(cache[20:]); n > 0 && len(rest) >= cacheEntry; n-- {
		flags, key, value := binary.NativeEndian.Uint32(rest), binary.NativeEndian.Uint32(rest[4:]),
			binary.NativeEndian.Uint32(rest[8:])
		if flags == cacheFlags && text(key) == soname {
			return text(value)
		}
		rest = rest[cacheEntry:]
	}
	return ""
}

// All returns every file of a SONAME that a program of this machine could get, in the order of Find, each once: links
// to one file count as that file. Find returns the first.
func All(soname string, getenv func(string) string, cachePath string) []string {
	var files []string
	seen := map[string]bool{}
	add := func(path string) {
		if path == "" {
			return
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil || seen[real] {
			return
		}
		seen[real] = true
		files = append(files, path)
	}
	add(Find(soname, getenv, cachePath))
	search := func(r rune) bool { return r == ':' || r == ';' }
	for _, folder := range strings.FieldsFunc(getenv("LD_LIBRARY_PATH"), search) {
		add(In(folder, soname))
	}
	if cache, err := os.ReadFile(cachePath); err == nil {
		if path := cached(cache, soname); path != "" {
			add(In(filepath.Dir(path), filepath.Base(path)))
		}
	}
	for _, folder := range defaultFolders {
		add(In(folder, soname))
	}
	return files
}
