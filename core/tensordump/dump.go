// Package tensordump writes what runs of programs compute into a folder, a folder of its own for each run: the values
// as files, and what is known of them. The first file that cannot be written ends the dump, and leaves the program
// alone.
package tensordump

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/mem"
)

// Dump is a folder for runs. A nil Dump takes none.
type Dump struct {
	folder string
	chosen Selection
	tell   func(path string, err error)

	mu    sync.Mutex
	begun map[string]int // runs in this process, by the model's name
	next  map[string]int // the number of the next folder
	off   bool
}

// New returns a dump into a folder. tell gets the file that cannot be written and why, once.
func New(folder string, s Selection, tell func(path string, err error)) *Dump {
	return &Dump{folder: folder, chosen: s, tell: tell, begun: map[string]int{}, next: map[string]int{}}
}

// Begin makes the folder of the next run of a model: the model's name and the first number that no earlier run has. It
// is "" for a run that is not to be written.
func (d *Dump) Begin(model string) (folder string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	model = FileName(model)
	run := d.begun[model]
	d.begun[model]++
	if d.off || !d.chosen.run(run) {
		return ""
	}
	for {
		folder = filepath.Join(d.folder, fmt.Sprintf("%s_%d", model, d.next[model]))
		d.next[model]++
		switch err := os.Mkdir(folder, 0o700); {
		case err == nil:
			return folder
		case !os.IsExist(err):
			d.end(folder, err)
			return ""
		}
	}
}

// Fail ends the dump for a file that cannot be written.
func (d *Dump) Fail(path string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.end(path, err)
}

func (d *Dump) end(path string, err error) {
	if !d.off {
		d.off = true
		d.tell(path, err)
	}
}

// Ended reports whether a file could not be written.
func (d *Dump) Ended() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.off
}

// Create writes a new file that only its owner reads. A file that cannot be written whole is not there.
func Create(name string, parts ...[]byte) (err error) {
	n := int64(0)
	for _, p := range parts {
		n += int64(len(p))
	}
	if err := mem.CheckFileSize(n); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, fs.FileMode(0o600))
	if err != nil {
		return err
	}
	for _, p := range parts {
		if err == nil {
			_, err = f.Write(p)
		}
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		_ = os.Remove(name)
	}
	return err
}

// FileName is a model's or a value's name as a part of a file's: letters, digits, and what is harmless.
func FileName(s string) string {
	const most = 80
	s = strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '_'
	}, s)
	if strings.HasPrefix(s, ".") {
		s = "_" + s[1:]
	}
	return s[:min(len(s), most)]
}
