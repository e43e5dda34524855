package suite

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// board is memory that a child shares with its parent. The child writes there which functions of the API it is calling:
// the parent reads it when the child has died or hangs. A library may write to it by mistake, so that nothing there is
// believed.
type board struct {
	mu  sync.Mutex
	mem []byte
}

// A board is rows: what the child is doing, the function that returned last, then a row for each call that is not back.
const (
	boardRow  = 64
	boardRows = 64
)

// What a child is doing.
const (
	loading byte = iota
	between
	computing
	ending
)

// newBoard makes a board and the file that a child maps.
func newBoard() (*os.File, *board, error) {
	fd, err := unix.MemfdCreate("anynpu-calls", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil, err
	}
	f := os.NewFile(uintptr(fd), "calls")
	if err := f.Truncate(boardRow * boardRows); err != nil {
		f.Close()
		return nil, nil, err
	}
	b, err := mapBoard(fd)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, b, nil
}

func mapBoard(fd int) (*board, error) {
	mem, err := unix.Mmap(fd, 0, boardRow*boardRows, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return &board{mem: mem}, nil
}

func (b *board) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mem != nil {
		unix.Munmap(b.mem) //nolint:errcheck // the mapping is ours
		b.mem = nil
	}
}

func (b *board) row(i int) []byte { return b.mem[i*boardRow : (i+1)*boardRow] }

// write puts a text into a row.
func (b *board) write(i int, text string) {
	row := b.row(i)
	n := copy(row[2:], text)
	binary.NativeEndian.PutUint16(row, uint16(n))
}

func (b *board) read(i int) string {
	row := b.row(i)
	n := min(int(binary.NativeEndian.Uint16(row)), boardRow-2)
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, string(row[2:2+n]))
}

// phase says what the child is doing from now on.
func (b *board) phase(p byte) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.write(0, string(rune('0'+p)))
	if p == computing {
		b.write(1, "")
	}
}

// enter says that a function is called now, and returns the row of the call, 0 for none.
func (b *board) enter(function string) int {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := 2; i < boardRows; i++ {
		if b.row(i)[0] == 0 && b.row(i)[1] == 0 {
			b.write(i, function)
			return i
		}
	}
	return 0
}

// leave says that the call of a row is back.
func (b *board) leave(row int, function string) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.write(1, function)
	if row > 0 {
		clear(b.row(row)[:2])
	}
}

// doing is what a board says.
type doing struct {
	phase byte
	last  string
	calls []string // that are not back
}

func (b *board) text() doing {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mem == nil {
		return doing{}
	}
	d := doing{phase: loading, last: b.read(1)}
	if p := b.read(0); p != "" {
		d.phase = p[0] - '0'
	}
	for i := 2; i < boardRows; i++ {
		if f := b.read(i); f != "" && !slices.Contains(d.calls, f) {
			d.calls = append(d.calls, f)
		}
	}
	return d
}

// at is where a child was: the function that did not return, if there is one, and the place as words.
func (d doing) at() (function, where string) {
	switch {
	case len(d.calls) > 0:
		return d.calls[0], "in " + strings.Join(d.calls, " or ")
	case d.phase == loading:
		return "", "while the library is loaded"
	case d.phase == ending:
		return "", "when the process ends"
	case d.last != "":
		return "", fmt.Sprintf("after %s has returned", d.last)
	}
	return "", "before a function is called"
}
