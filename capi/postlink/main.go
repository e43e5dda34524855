// Postlink finishes the core library after the Go linker: it makes Go leave SIGCHLD alone.
//
// Go unblocks SIGCHLD on every thread that runs Go code, those of the host included, because one flag of runtime.sigtable says so. A
// program that blocks SIGCHLD and reads it through signalfd or sigwait would then lose it. Nothing in Go needs the flag: os/exec
// waits with waitid. Postlink clears it in the file's initial data. It changes the file only if the table looks exactly as it
// does in the Go release this was written for, and fails otherwise, so a new release cannot be patched wrongly.
//
//	go run ./capi/postlink IN.so OUT.so
package main

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"syscall"
)

// What runtime.sigtable looks like: 65 entries of {flags int32; name string} and the flags of SIGCHLD, which are notify, unblock
// and ignore.
const (
	entrySize = 24
	entries   = 65
	unblock   = 128
	oldFlags  = 1 + unblock + 256
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: postlink IN.so OUT.so")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "postlink:", err)
		os.Exit(1)
	}
}

func run(in, out string) error {
	offset, err := flagsOffset(in)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	if offset+4 > uint64(len(data)) {
		return fmt.Errorf("%s: runtime.sigtable lies outside the file", in)
	}
	field := data[offset : offset+4]
	if got := binary.LittleEndian.Uint32(field); got != oldFlags {
		return fmt.Errorf("%s: flags of SIGCHLD in runtime.sigtable: want %d, got %d: check this Go release's signal table", in, oldFlags, got)
	}
	binary.LittleEndian.PutUint32(field, oldFlags&^unblock)
	temp := out + ".tmp"
	if err := os.WriteFile(temp, data, 0o755); err != nil {
		return err
	}
	return os.Rename(temp, out)
}

// flagsOffset returns where in the file the flags of SIGCHLD are.
func flagsOffset(path string) (uint64, error) {
	f, err := elf.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	for _, s := range symbols {
		if s.Name != "runtime.sigtable" {
			continue
		}
		if s.Size != entries*entrySize {
			return 0, fmt.Errorf("%s: size of runtime.sigtable: want %d, got %d", path, entries*entrySize, s.Size)
		}
		at := s.Value + uint64(syscall.SIGCHLD)*entrySize
		for _, p := range f.Progs {
			if p.Type == elf.PT_LOAD && at >= p.Vaddr && at+4 <= p.Vaddr+p.Filesz {
				return at - p.Vaddr + p.Off, nil
			}
		}
		return 0, fmt.Errorf("%s: runtime.sigtable has no data in the file", path)
	}
	return 0, fmt.Errorf("%s: no symbol runtime.sigtable: the library must not be stripped before this step", path)
}
