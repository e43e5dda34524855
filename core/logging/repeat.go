package logging

import (
	"fmt"
	"hash/maphash"
	"sync"

	"github.com/anynpu/anynpu/core/fault"
)

const (
	mostAlike   = 10  // lines of one text that are written before they are counted
	mostCounted = 512 // texts that are counted
)

// Repeats counts lines. Of those with one text, ten are written, then the hundredth, the thousandth and so on, each
// with its number. The zero Repeats is ready; it is safe for concurrent use.
type Repeats struct {
	mu   sync.Mutex
	seed maphash.Seed
	seen map[uint64]int
}

// Next returns a line as it is to be written now, ok false where it is only counted. The text about the number stands
// before the id.
func (r *Repeats) Next(line string) (_ string, ok bool) {
	r.mu.Lock()
	if r.seen == nil {
		r.seed, r.seen = maphash.MakeSeed(), map[uint64]int{}
	}
	key := maphash.String(r.seed, line)
	n, known := r.seen[key]
	if known || len(r.seen) < mostCounted {
		n++
		r.seen[key] = n
	}
	r.mu.Unlock()
	switch {
	case n < mostAlike:
		return line, true
	case n == mostAlike:
		return withNumber(line, "the 10th time; the next line like this comes after 100"), true
	case isDecade(n):
		return withNumber(line, fmt.Sprintf("%d times", n)), true
	}
	return "", false
}

// isDecade says whether n is 100, 1000 and so on.
func isDecade(n int) bool {
	for n > mostAlike && n%10 == 0 {
		n /= 10
	}
	return n == mostAlike
}

// withNumber puts a remark behind a line, before its id.
func withNumber(line, remark string) string {
	text, id := fault.Cut(line)
	if id != "" {
		id = " [" + id + "]"
	}
	return text + " (" + remark + ")" + id
}
