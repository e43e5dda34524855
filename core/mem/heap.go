package mem

import (
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"unsafe"
)

// mapping is a line of /proc/self/maps.
type mapping struct {
	from, to   uint64
	accessible bool
}

// heapMappings returns the mappings of Go's heap in the order of their addresses, those without access that it has
// reserved included. It reads the list of all mappings.
func heapMappings() []mapping {
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil
	}
	return mappingsAround(string(text), uint64(uintptr(unsafe.Pointer(new([64]byte)))))
}

// mappingsAround returns, of a list in the form of /proc/self/maps, the mapping that holds an address and those that
// precede and follow it without a gap.
func mappingsAround(maps string, address uint64) (run []mapping) {
	found := false
	for line := range strings.Lines(maps) {
		span, access, _ := strings.Cut(line, " ")
		from, to, _ := strings.Cut(span, "-")
		a, err1 := strconv.ParseUint(from, 16, 64)
		b, err2 := strconv.ParseUint(to, 16, 64)
		if err1 != nil || err2 != nil {
			continue
		}
		if len(run) > 0 && a != run[len(run)-1].to {
			if found {
				break
			}
			run = run[:0]
		}
		run = append(run, mapping{a, b, !strings.HasPrefix(access, "---")})
		found = found || a <= address && address < b
	}
	if !found {
		return nil
	}
	return run
}

// reserved returns how much of the address space that Go's heap has reserved behind its used parts.
func reserved(heap []mapping) (rest int64) {
	begun := false
	for _, m := range heap {
		begun = begun || m.accessible
		if begun && !m.accessible {
			rest += int64(m.to - m.from)
		}
	}
	return min(rest, arenaBytes)
}

// largestGap returns the bytes of the longest run of pages of Go's heap without memory behind them, less what such
// pages may belong to objects that nobody has written to: reusable is what is free in all. It is right after
// [debug.FreeOSMemory], and 0 where the system does not tell.
func largestGap(heap []mapping, reusable int64) int64 {
	f, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	const held = 3 << 62 // in memory or swapped out
	entries := make([]byte, 8*4096)
	var run, longest, absent int64
	for _, m := range heap {
		if !m.accessible {
			run = 0
			continue
		}
		for page, end := int64(m.from)/pageSize, int64(m.to)/pageSize; page < end; {
			part := entries[:8*min(end-page, int64(len(entries)/8))]
			if _, err := f.ReadAt(part, 8*page); err != nil {
				return 0
			}
			for ; len(part) > 0; part = part[8:] {
				if page++; binary.NativeEndian.Uint64(part)&held != 0 {
					run = 0
					continue
				}
				absent += pageSize
				run += pageSize
				longest = max(longest, run)
			}
		}
	}
	return max(0, longest-max(0, absent-reusable))
}
