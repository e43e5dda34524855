package hbdnn

import (
	"bytes"
	"fmt"
)

// remedy is what a message about a missing flush says should have been called.
const remedy = "hbSysFlushMem(mem, HB_SYS_MEM_CACHE_%s) %s"

// cached calls f with the cache of the memory that n bytes at addr lie in, their offsets, cut to what it has, and its
// bytes as the program and devices see them. Without a check or a cache it does nothing.
func cached(addr uintptr, n int64, f func(c *cache, from, to int64, own, device []byte)) {
	if !checksFlush || n <= 0 {
		return
	}
	var news [][]any
	defer func() {
		for _, line := range news {
			caution(line[0].(string), line[1:]...)
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
	f(b.cache, from, from+min(n, int64(b.size)-from), own, device)
	news, b.cache.news = b.cache.news, nil
}

// flushed takes note of a flush of the program's.
func flushed(m *SysMem, flag int32) {
	cached(m.virt, int64(m.size), func(c *cache, from, to int64, own, device []byte) {
		if flag == flushClean {
			copy(device[from:to], own[from:to])
			return
		}
		c.drop(from, to, nil)
	})
}

// invalidated tells of results in a range that the program has not invalidated when it reads or gives them up.
func invalidated(addr uintptr, n int64, seen string) {
	cached(addr, n, func(c *cache, from, to int64, _, _ []byte) {
		c.drop(from, to, func(r result) {
			c.tell("results were not invalidated: on a board the program may have read what was there before", "output", r.port,
				"bytes", fmt.Sprintf("%d to %d", r.from, r.to-1), "seen", seen, "remedy",
				fmt.Sprintf(remedy, "INVALIDATE", "when the task is done, before its results are read"))
		})
	})
}

// sent compares what a task reads with what devices see. Results that another task takes as they are need no flush.
func sent(port string, addr uintptr, n int64) {
	cached(addr, n, func(c *cache, from, to int64, own, device []byte) {
		c.drop(from, to, nil)
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
		c.tell("memory was written and not cleaned: a board would compute with what was there before", "input", port,
			"bytes", fmt.Sprintf("%d to %d", first, last), "remedy",
			fmt.Sprintf(remedy, "CLEAN", "when the input is written, before the task is submitted"))
	})
}

// written takes note of what a task has written.
func written(port string, addr uintptr, n int64) {
	cached(addr, n, func(c *cache, from, to int64, own, device []byte) {
		copy(device[from:to], own[from:to])
		c.drop(from, to, nil)
		c.results = append(c.results, result{from, to, port})
	})
}
