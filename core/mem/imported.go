package mem

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// windowSize is how much of a file is mapped at once for small parts of it: a process may have some tens of thousands
// of mappings.
const windowSize = 1 << 20

// imported holds the regular files that buffers were made from.
var imported = struct {
	mu    sync.Mutex
	files map[fileKey]*importedFile
}{files: map[fileKey]*importedFile{}}

// fileKey tells files, and the rights of a descriptor, apart.
type fileKey struct {
	dev, ino uint64
	rights   int // O_RDONLY, O_WRONLY or O_RDWR
}

// importedFile is shared by all buffers of one file: one duplicate of a descriptor, and windows that small parts lie
// in. imported.mu guards it.
type importedFile struct {
	key     fileKey
	fd      int
	refs    int
	windows map[windowKey]*window
}

type windowKey struct {
	off  int64 // in the file, a multiple of windowSize
	prot int
}

// window is a mapping from a multiple of windowSize on.
type window struct {
	key    windowKey
	base   unsafe.Pointer
	length int64 // what the file had of it when it was mapped, in pages
	refs   int
}

// importFile returns the file behind a descriptor with a reference for the caller.
func importFile(fd int, st *unix.Stat_t) (*importedFile, error) {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return nil, err
	}
	key := fileKey{st.Dev, st.Ino, flags & unix.O_ACCMODE}
	imported.mu.Lock()
	defer imported.mu.Unlock()
	f := imported.files[key]
	if f == nil {
		own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		f = &importedFile{key: key, fd: own, windows: map[windowKey]*window{}}
		imported.files[key] = f
	}
	f.refs++
	return f, nil
}

// take returns the window that holds bytes off to off+n of a file of size bytes, with a reference for the caller, nil
// where they are to be mapped by themselves.
func (f *importedFile) take(off, n, size int64, prot int) *window {
	key := windowKey{off &^ (windowSize - 1), prot}
	if n > windowSize/2 || off+n > key.off+windowSize || guarded.Load() {
		return nil
	}
	imported.mu.Lock()
	defer imported.mu.Unlock()
	w := f.windows[key]
	if w == nil || off+n > key.off+w.length { // the file has grown since
		length := roundUp(min(windowSize, max(size-key.off, 1)), pageSize)
		p, err := unix.MmapPtr(f.fd, key.off, nil, uintptr(length), prot, unix.MAP_SHARED)
		if err != nil {
			return nil
		}
		w = &window{key: key, base: p, length: length}
		f.windows[key] = w
	}
	w.refs++
	return w
}

// release ends one reference to the file and, unless nil, to a window of it.
func (f *importedFile) release(w *window) {
	imported.mu.Lock()
	defer imported.mu.Unlock()
	if w != nil {
		if w.refs--; w.refs == 0 {
			if f.windows[w.key] == w {
				delete(f.windows, w.key)
			}
			if err := unix.MunmapPtr(w.base, uintptr(w.length)); err != nil {
				panic("mem: munmap of a window of a file: " + err.Error())
			}
		}
	}
	if f.refs--; f.refs == 0 {
		delete(imported.files, f.key)
		unix.Close(f.fd)
	}
}
