package hb

import (
	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/mem"
)

// memoryAlignment is the alignment of all memory that is made.
const memoryAlignment = 64

// ChecksFlush is ANYNPU_CHECK=flush: a flush that a board would have needed, and that the program did not ask for, is
// logged, once of each kind for each cached memory. Nothing else changes: memory is coherent here.
var ChecksFlush = boundary.Checks("flush")

// A cache is the check's record of a cached memory. The lock of memories guards it.
type cache struct {
	device  mem.Buffer // what devices see: what the program has cleaned, and what tasks have written
	results []result   // what tasks have written and the program has not invalidated since
	told    map[string]bool
	news    [][]any // to be logged when the lock is free: a program's function may get them
}

// A result is bytes of a memory, from one offset to another, that a task has written to a port.
type result struct {
	from, to int64
	port     string
}

// newCache makes the cache of a memory of zeros, nil where there is no check or no memory for it.
func newCache(size int64) *cache {
	if !ChecksFlush {
		return nil
	}
	device, err := mem.Host(size, mem.Options{Align: memoryAlignment})
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
