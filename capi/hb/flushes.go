package hb

import (
	"bytes"
	"fmt"

	"github.com/anynpu/anynpu/capi/boundary"
)

// remedy is the call that a message about a missing flush says should have been called.
func (b *block) remedy(kind, when string) string { return fmt.Sprintf(b.api.Flush, kind) + " " + when }

// cached calls f with the block that n bytes at addr lie in, their offsets, cut to its size, and its bytes as the
// program and devices see them. Without a check or a cache it does nothing.
func cached(addr uintptr, n int64, f func(b *block, from, to int64, own, device []byte)) {
	if !ChecksFlush || n <= 0 {
		return
	}
	var news [][]any
	component := ""
	defer func() {
		for _, line := range news {
			boundary.Caution(component, line[0].(string), line[1:]...)
		}
	}()
	memories.mu.Lock()
	defer memories.mu.Unlock()
	b := blockOf(addr)
	if b == nil || b.cache == nil {
		return
	}
	own, err := b.buf.Map()
	if err != nil {
		return
	}
	device, err := b.cache.device.Map()
	if err != nil {
		return
	}
	from := int64(addr - b.addr)
	f(b, from, from+min(n, b.size-from), own, device)
	component, news, b.cache.news = b.api.Component, b.cache.news, nil
}

// Flushed takes note of a flush of the program's.
func Flushed(addr uintptr, size int64, clean bool) {
	cached(addr, size, func(b *block, from, to int64, own, device []byte) {
		if clean {
			copy(device[from:to], own[from:to])
			return
		}
		b.cache.drop(from, to, nil)
	})
}

// Invalidated tells of results in a range that the program has not invalidated when it reads or gives them up.
func Invalidated(addr uintptr, n int64, seen string) {
	cached(addr, n, func(b *block, from, to int64, _, _ []byte) {
		b.cache.drop(from, to, func(r result) {
			b.cache.tell("results were not invalidated: on a board the program may have read the old bytes "+
				"[hb-not-invalidated]", "output",
				r.port,
				"bytes", fmt.Sprintf("%d to %d", r.from, r.to-1), "seen", seen, "remedy",
				b.remedy("INVALIDATE", "when the task is done, before its results are read"))
		})
	})
}

// Sent compares the bytes that a task reads with those that devices see. Results that another task takes as they are
// need no flush.
func Sent(port string, addr uintptr, n int64) {
	cached(addr, n, func(b *block, from, to int64, own, device []byte) {
		b.cache.drop(from, to, nil)
		if bytes.Equal(own[from:to], device[from:to]) {
			return
		}
		first, last := from, to-1
		for own[first] == device[first] {
			first++
		}
		for own[last] == device[last] {
			last--
		}
		b.cache.tell("memory was written and not cleaned: a board would compute with the old bytes "+
			"[hb-not-cleaned]", "input", port,
			"bytes", fmt.Sprintf("%d to %d", first, last), "remedy",
			b.remedy("CLEAN", "when the input is written, before the task is submitted"))
	})
}

// Written takes note of the bytes that a task has written.
func Written(port string, addr uintptr, n int64) {
	cached(addr, n, func(b *block, from, to int64, own, device []byte) {
		copy(device[from:to], own[from:to])
		b.cache.drop(from, to, nil)
		b.cache.results = append(b.cache.results, result{from, to, port})
	})
}
