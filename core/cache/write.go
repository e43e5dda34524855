package cache

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
)

// maxFiles bounds a set.
const maxFiles = 1000

func tempName(index string, i int) string { return fmt.Sprintf(".%s.%d.tmp", index, i) }
func journalName(index string) string     { return "." + index + ".commit" }
func journalTemp(index string) string     { return "." + index + ".commit.tmp" }

// failed is the error of step s on a file.
func failed(s Step, what, name string, err error) error {
	return &WriteError{s, fault.As(fault.File, errno(err), "cache: %s %q", what, name)}
}

// Write replaces the set named after its index file in dir, which must exist. When it returns nil the new set is
// durable. After an error the old set is untouched, unless the set was committed already: then readers find the new
// one, and the next Write finishes the renaming. Every error is a *WriteError.
func Write(dir string, index File, data []File) error {
	if err := checkSet(index.Name, data); err != nil {
		return &WriteError{StepOpenData, err}
	}
	d, err := openDirectory(dir, unix.LOCK_EX)
	if err != nil {
		return &WriteError{StepDirectory, err}
	}
	defer d.close()
	w := &writer{d}
	if err := w.rollForward(index.Name); err != nil {
		return err
	}
	committed, err := w.write(index, data)
	if err != nil && !committed {
		w.removeTemps(index.Name, len(data)+1)
	}
	return err
}

func checkSet(index string, data []File) error {
	if len(data) >= maxFiles {
		return fault.New(fault.Argument, "cache: %d data files, at most %d", len(data), maxFiles-1)
	}
	seen := map[string]bool{}
	for _, f := range append([]File{{Name: index}}, data...) {
		if err := checkName(f.Name); err != nil {
			return err
		}
		if seen[f.Name] {
			return fault.New(fault.Argument, "cache: %q twice in one set", f.Name)
		}
		seen[f.Name] = true
	}
	return nil
}

// writer does one Write; every step that changes the directory passes the hook.
type writer struct{ *directory }

// write returns whether the set is committed.
func (w *writer) write(index File, data []File) (committed bool, err error) {
	w.removeTemps(index.Name, len(data)+1)
	var names []string
	for _, f := range data {
		if err := w.replaceable(f.Name); err != nil {
			return false, failed(StepOpenData, "replace", f.Name, err)
		}
	}
	if err := w.replaceable(index.Name); err != nil {
		return false, failed(StepOpenIndex, "replace", index.Name, err)
	}
	for i, f := range data {
		names = append(names, f.Name)
		if err := w.create(tempName(index.Name, i), f.Name, f.Data, StepOpenData); err != nil {
			return false, err
		}
	}
	names = append(names, index.Name)
	if err := w.create(tempName(index.Name, len(data)), index.Name, index.Data, StepOpenIndex); err != nil {
		return false, err
	}
	if err := w.create(journalTemp(index.Name), index.Name, encodeJournal(names), StepOpenIndex); err != nil {
		return false, err
	}
	if err := w.sync(); err != nil {
		return false, err
	}
	if err := w.rename(journalTemp(index.Name), journalName(index.Name), index.Name); err != nil {
		return false, err
	}
	// whether the rename reached the disk is unknown: the old or the new set is there, whole
	if err := w.sync(); err != nil {
		return true, err
	}
	return true, w.finish(index.Name, names)
}

// replaceable refuses a name that a directory has: no file can be renamed to it, not even after the commit.
func (w *writer) replaceable(name string) error {
	var st unix.Stat_t
	if err := unix.Fstatat(w.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return nil // what else is wrong shows when the file is written
	}
	return unix.EISDIR
}

// finish gives the committed files their names and removes the journal.
func (w *writer) finish(index string, names []string) error {
	for i, name := range names {
		if err := w.rename(tempName(index, i), name, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := w.sync(); err != nil {
		return err
	}
	return w.remove(journalName(index), index)
}

// rollForward finishes a set that was committed by a writer that was then stopped.
func (w *writer) rollForward(index string) error {
	from := w.journal(index)
	if from == nil {
		return nil
	}
	names := make([]string, len(from))
	for name, tmp := range from {
		for i := range names {
			if tempName(index, i) == tmp {
				names[i] = name
			}
		}
	}
	return w.finish(index, names)
}

// create writes and syncs a new file; label is its name in errors.
func (w *writer) create(name, label string, data []byte, open Step) error {
	if err := hook("create", label); err != nil {
		return failed(open, "create", label, err)
	}
	if err := mem.CheckFileSize(int64(len(data))); err != nil {
		return failed(StepWrite, "write", label, err)
	}
	fd, err := retry(func() (int, error) {
		return unix.Openat(w.fd, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	})
	if err != nil {
		return failed(open, "create", label, err)
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	for half := (len(data) + 1) / 2; ; half = len(data) { // in two pieces, so that a kill in between leaves a torn file
		if err := hook("write", label); err != nil {
			return failed(StepWrite, "write", label, err)
		}
		n, err := f.Write(data[:half])
		if err == nil && n < half {
			err = io.ErrShortWrite
		}
		if err != nil {
			return failed(StepWrite, "write", label, err)
		}
		if data = data[half:]; len(data) == 0 {
			break
		}
	}
	if err := hook("sync", label); err != nil {
		return failed(StepWrite, "sync", label, err)
	}
	if err := f.Sync(); err != nil {
		return failed(StepWrite, "sync", label, err)
	}
	return nil
}

// errno strips the file name, which is a temporary one, from err.
func errno(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func (w *writer) rename(from, to, label string) error {
	if err := hook("rename", label); err != nil {
		return failed(StepWrite, "rename", label, err)
	}
	if err := unix.Renameat(w.fd, from, w.fd, to); err != nil {
		return failed(StepWrite, "rename", label, err)
	}
	return nil
}

func (w *writer) remove(name, label string) error {
	if err := hook("remove", label); err != nil {
		return failed(StepWrite, "remove", label, err)
	}
	if err := unix.Unlinkat(w.fd, name, 0); err != nil && err != unix.ENOENT {
		return failed(StepWrite, "remove", label, err)
	}
	return nil
}

// sync makes renames durable; file systems that cannot sync a directory do it by themselves.
func (w *writer) sync() error {
	if err := hook("sync", w.path); err != nil {
		return failed(StepWrite, "sync", w.path, err)
	}
	if err := unix.Fsync(w.fd); err != nil && err != unix.EINVAL && err != unix.ENOTSUP {
		return failed(StepWrite, "sync", w.path, err)
	}
	return nil
}

// removeTemps removes what stopped writers have left of the set; that none of it can be removed is no error.
func (d *directory) removeTemps(index string, files int) {
	_ = unix.Unlinkat(d.fd, journalTemp(index), 0)
	for i := 0; i < maxFiles; i++ {
		if unix.Unlinkat(d.fd, tempName(index, i), 0) != nil && i >= files {
			return
		}
	}
}

// The journal is a text: a line per file with its name quoted, in the order of the temporary names, then a line with
// the CRC-32 of the rest.
const journalLimit = maxFiles * (4*maxName + 8)

func encodeJournal(names []string) []byte {
	var b strings.Builder
	for _, n := range names {
		fmt.Fprintf(&b, "%q\n", n)
	}
	fmt.Fprintf(&b, "%08x\n", crc32.ChecksumIEEE([]byte(b.String())))
	return []byte(b.String())
}

// journal returns the real names of a committed set with their temporary ones; nil when there is no journal or it is
// damaged.
func (d *directory) journal(index string) map[string]string {
	f, err := d.openFile(journalName(index))
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, journalLimit))
	if err != nil || len(data) < 9 {
		return nil
	}
	body := data[:len(data)-9]
	if string(data[len(body):]) != fmt.Sprintf("%08x\n", crc32.ChecksumIEEE(body)) {
		return nil
	}
	from := map[string]string{}
	var names []string
	for line := range strings.Lines(string(body)) {
		name, err := strconv.Unquote(strings.TrimSuffix(line, "\n"))
		if err != nil || checkName(name) != nil || slices.Contains(names, name) {
			return nil
		}
		from[name] = tempName(index, len(names))
		names = append(names, name)
	}
	return from
}
