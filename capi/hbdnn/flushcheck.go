package hbdnn

import (
	"bytes"
	"fmt"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/mem"
)

// checksFlush is ANYNPU_CHECK=flush: a flush that a board would have needed, and that the program did not ask for, is
// told, once of each kind for each memory of hbSysAllocCachedMem. Nothing else changes: memory is coherent here.
var checksFlush = boundary.Checks("flush")

// A cache is what the check knows of a cached memory. The lock of memories guards it.
type cache struct {
	device  mem.Buffer // what devices see: what the program has cleaned, and what tasks have written
	results []result   // what tasks have written and the program has not invalidated since
	told    map[string]bool
	news    [][]any // to be told when the lock is free: a program's function may get them
}

// A result is bytes of a memory, from one offset to another, that a task has written to a port.
type result struct {
	from, to int64
	port     string
}

// newCache makes the cache of a memory of zeros, nil where there is no check or no memory for it.
func newCache(size uint32) *cache {
	if !checksFlush {
		return nil
	}
	device, err := mem.Host(int64(size), mem.Options{Align: memoryAlignment})
	if err != nil {
		return nil
	}
	return &cache{device: device, told: map[string]bool{}}
}

func (c *cache) release() {
	if c != nil {
		c.device.Release()
	}
}

// tell has one line of a kind written.
func (c *cache) tell(kind string, pairs ...any) {
	if !c.told[kind] {
		c.told[kind] = true
		c.news = append(c.news, append([]any{kind}, pairs...))
	}
}

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

// drop forgets the results that overlap a range, and calls see, if there is one, with each.
func (c *cache) drop(from, to int64, see func(r result)) {
	kept := c.results[:0]
	for _, r := range c.results {
		switch {
		case r.to <= from || to <= r.from:
			kept = append(kept, r)
		case see != nil:
			see(r)
		}
	}
	c.results = kept
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

// submitted looks at the memory of members that are about to be queued.
func submitted(members []*member) {
	if !checksFlush {
		return
	}
	for _, m := range members {
		m.buffers(sent, func(_ string, addr uintptr, n int64) { invalidated(addr, n, "the next task") })
	}
}

// computed takes note of the results of a member.
func (m *member) computed() {
	if checksFlush {
		m.buffers(func(string, uintptr, int64) {}, written)
	}
}

// buffers calls in and out with every memory of the member's inputs and outputs and the name of the port.
func (m *member) buffers(in, out func(port string, addr uintptr, n int64)) {
	each := func(port string, b mem.Buffer, f func(string, uintptr, int64)) {
		if b == nil {
			return
		}
		if data, err := b.Map(); err == nil {
			f(port, addressOf(data), int64(len(data)))
		}
	}
	pictured := func(port string, p *picture, f func(string, uintptr, int64)) {
		each(port, p.luma, f)
		each(port, p.chroma, f)
	}
	if m.scaled != nil {
		pictured("input", m.scaled.from, in)
		pictured("output", m.scaled.to, out)
		return
	}
	ports := func(list []*port, all []bound, f func(string, uintptr, int64)) {
		for i, b := range all {
			for k := range b {
				if b[k].source != nil {
					pictured(list[i].Name, b[k].source, f)
					continue
				}
				each(list[i].Name, b[k].buf, f)
				each(list[i].Name, b[k].chroma, f)
			}
		}
	}
	ports(m.model.in, m.in, in)
	ports(m.model.out, m.out, out)
}
