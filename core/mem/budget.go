package mem

import (
	"errors"
	"math"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/cgroup"
	"github.com/anynpu/anynpu/core/fault"
)

// Memory is asked for before it is taken: Go ends the process when its heap cannot grow, and the system ends one that
// touches more than there is. Host and Memfd ask by themselves; Go slices of sizes that a model decides are made by
// Make or announced by Admit.
//
// Errors for want of memory have ErrExhausted in their chain and kind fault.Memory.
//
// The rest is measured, not summed up, so that the host program's own memory counts. Measuring reads a few files; so
// each measurement grants a credit that later requests draw from.

// ErrExhausted is in the chain of errors for want of memory; buffers of a caller that are too small are another thing.
var ErrExhausted = errors.New("out of memory")

// exhausted puts ErrExhausted into the chain of a system call's error for want of memory.
func exhausted(err error) error {
	if err == unix.ENOMEM || err == unix.EAGAIN || err == unix.ENOSPC || err == unix.EFBIG {
		return fault.As(fault.Memory, ErrExhausted, "%v", err)
	}
	return err
}

const (
	maxCredit = 64 << 20 // granted by one measurement
	// Of a limit that ends the process, this is kept for Go's runtime, for memory that is taken without a request, and
	// for threads that Go starts when it likes, each with a stack of 8 MiB.
	maxFloor = 320 << 20
	minFloor = arenaBytes + 16<<20 // a step of Go's heap and two threads
	// Of the room that such a limit leaves in Go's heap, this is kept for the parts of it that each size of object takes.
	heapMargin = 8 << 20
	// garbage is how many times as much as callers ask for they may drop before it is collected.
	garbage    = 15
	largePiece = 1 << 20 // needs a gap of its size
)

var (
	credit   atomic.Int64
	drawable atomic.Int64 // the largest request that the credit may serve, see heapRoom
	accounts struct {
		sync.Mutex
		configured int64 // SetLimit, 0: none
		dirs       []cgroup.Dir
		begun      bool
		floor      map[int]int64 // per resource limit, see floorOf
	}
)

// SetLimit bounds the memory that the library takes for tensors, weights and Go's heap together, beside the limits of
// the system; 0: those alone.
func SetLimit(n int64) {
	accounts.Lock()
	defer accounts.Unlock()
	accounts.configured = n
	credit.Store(0)
}

// Admit returns an error of kind fault.Memory when n more bytes of Go's heap would exceed what the machine, a control
// group, a resource limit or SetLimit leaves. It takes nothing: the caller allocates at once, in pieces of any size.
func Admit(n int64) error {
	if draw(n) {
		return nil
	}
	accounts.Lock()
	defer accounts.Unlock()
	return admit(n, true)
}

// Fits is Admit of n bytes that the caller will ask for later: an early refusal. It draws no credit.
func Fits(n int64) error {
	if n >= 0 && n <= min(drawable.Load(), credit.Load()) {
		return nil
	}
	accounts.Lock()
	defer accounts.Unlock()
	return admit(n, true)
}

// Make is make([]T, n), accounted. Kind fault.Memory.
func Make[T any](n int) ([]T, error) {
	return made(n, func() []T { return make([]T, n) })
}

// Uncleared is Make for bytes that may hold anything: Go clears all memory that it hands out again in one go, which
// takes as long as half a second per GiB. Kind fault.Memory.
func Uncleared(n int) ([]byte, error) {
	return made(n, func() []byte {
		if n == 0 {
			return nil
		}
		var b strings.Builder // the one thing that takes memory of Go's heap without clearing it
		b.Grow(n)
		b.WriteByte(0)
		return unsafe.Slice(unsafe.StringData(b.String()), n)
	})
}

// made accounts for n elements that take makes.
func made[T any](n int, take func() []T) ([]T, error) {
	var one T
	size := int64(unsafe.Sizeof(one))
	if n < 0 || size > 0 && int64(n) > math.MaxInt64>>1/size {
		return nil, fault.As(fault.Memory, ErrExhausted, "%d elements of %d bytes", n, size)
	}
	if draw(int64(n) * size) {
		return take(), nil
	}
	accounts.Lock()
	defer accounts.Unlock() // until the memory is mapped: no measurement comes between
	if err := admit(int64(n)*size, true); err != nil {
		return nil, err
	}
	return take(), nil
}

// Clone is slices.Clone, accounted. Kind fault.Memory.
func Clone[T any](s []T) ([]T, error) {
	out, err := Make[T](len(s))
	copy(out, s)
	return out, err
}

// draw takes n bytes of the credit, and reports whether there were as many.
func draw(n int64) bool { return n >= 0 && n <= drawable.Load() && credit.Add(-n) >= 0 }

// promise counts n bytes of a mapping that is about to be made; takeBack gives them back.
func promise(n int64) error {
	if !draw(n) {
		accounts.Lock()
		defer accounts.Unlock()
		if err := admit(n, false); err != nil {
			return err
		}
	}
	promised.Add(n)
	return nil
}

func takeBack(n int64) { promised.Add(-n) }

// admit measures, and once more after a collection if that does not suffice. heap says that Go's heap grows, which may
// have free memory already. accounts is locked.
func admit(n int64, heap bool) error {
	left, hard := tightest(n, heap, false)
	if left.left < n {
		debug.FreeOSMemory()
		left, hard = tightest(n, heap, true)
	}
	if left.left < n || n < 0 {
		credit.Store(0)
		return fault.As(fault.Memory, ErrExhausted, "%d bytes are wanted, %s of %d bytes leaves %d", n, left.name, left.total,
			max(0, left.left))
	}
	if hard {
		drawable.Store(largePiece - 1)
		credit.Store(min(maxCredit, (left.left-n)/(1+garbage)))
	} else {
		drawable.Store(maxCredit)
		credit.Store(min(maxCredit, (left.left-n)/2))
	}
	return nil
}

// tightest returns the limit that leaves least for n bytes, and whether there is one at which Go ends the process.
// collected says that debug.FreeOSMemory has just run.
func tightest(n int64, heap, collected bool) (least bound, hard bool) {
	dirs := limited()
	u := measure()
	least = bound{"", math.MaxInt64, math.MaxInt64}
	for _, b := range bounds(&u, accounts.configured, dirs) {
		if heap {
			b.left += u.backed
		}
		if b.left < least.left {
			least = b
		}
	}
	for _, r := range []struct {
		name     string
		resource int
		used     int64
		step     int64
	}{{"the limit on address space (RLIMIT_AS)", unix.RLIMIT_AS, u.space, arenaBytes}, {"the limit on data (RLIMIT_DATA)",
		unix.RLIMIT_DATA, u.data, growBytes}} {
		limit := rlimit(r.resource)
		if limit == math.MaxInt64 || r.used == 0 {
			continue
		}
		b := bound{r.name, limit, limit - r.used - floorOf(r.resource, limit-r.used)}
		if heap {
			var rest, gap int64
			if b.left < n+r.step {
				mappings := heapMappings()
				if r.resource == unix.RLIMIT_AS {
					rest = reserved(mappings)
				}
				if collected && n >= largePiece {
					gap = largestGap(mappings, u.reusable)
				}
			}
			b.left = heapRoom(n, b.left, r.step, rest, gap, u.reusable) - heapMargin
		}
		if b.left < least.left {
			least = b
		}
		hard = true
	}
	return least, hard
}

// limited returns the control groups that limit the process, as they were when the first memory was asked for. accounts
// is locked.
func limited() []cgroup.Dir {
	a := &accounts
	if !a.begun {
		a.begun, a.dirs, a.floor = true, limitedDirs(cgroup.Dirs(cgroup.Own(), "memory")), map[int]int64{}
	}
	return a.dirs
}

// floorOf returns the reserve of a resource limit: a quarter of the rest at the first look, at most maxFloor and at
// least minFloor, but never more than half.
func floorOf(resource int, left int64) int64 {
	f, ok := accounts.floor[resource]
	if !ok {
		f = max(0, min(max(minFloor, left/4), maxFloor, left/2))
		accounts.floor[resource] = f
	}
	return f
}

// heapRoom returns how much Go's heap can give to one request of n bytes when left bytes can still be mapped, in steps,
// rest are reserved, and reusable ones are free inside, gap of them in one piece. Large requests need a piece of their
// size: the free parts of the heap can be many and small, and what looks free of an object that nobody has written to.
func heapRoom(n, left, step, rest, gap, reusable int64) int64 {
	grown, rest := max(0, left)/step*step, rest/growBytes*growBytes
	if n < largePiece {
		return grown + rest + reusable*3/4
	}
	return max(grown, rest, min(gap, reusable/4))
}

// Total returns the smallest of the limits, whatever is left of it: what asks for more never fits.
func Total() int64 {
	accounts.Lock()
	defer accounts.Unlock()
	total := machine().total
	for _, b := range groups(limited(), cgroup.Read) {
		total = min(total, b.total)
	}
	if accounts.configured > 0 {
		total = min(total, accounts.configured)
	}
	return min(total, rlimit(unix.RLIMIT_AS), rlimit(unix.RLIMIT_DATA))
}
