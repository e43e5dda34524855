package mem

import (
	"math"
	"os"
	"path"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/cgroup"
)

// usage is the memory that the process uses, in bytes; 0 where the system does not tell.
type usage struct {
	space    int64 // address space
	data     int64 // private writable memory, as RLIMIT_DATA counts it
	resident int64
	promised int64 // of buffers of ours, touched or not
	heap     int64 // of Go's heap that holds objects, garbage included
	reusable int64 // mapped by Go's heap for writing and free
	backed   int64 // of reusable: still has pages behind it
}

const (
	arenaBytes = 64 << 20 // what Go's heap reserves address space by, on 64-bit systems
	growBytes  = 4 << 20  // what it grows by inside
)

var (
	pageSize = int64(os.Getpagesize())
	promised atomic.Int64 // bytes of the mappings of buffers
)

// ours is the memory that this library has taken.
func (u *usage) ours() int64 { return u.promised + u.heap + u.backed }

// untouched is the memory that was promised and has no pages yet: the system still shows it as available.
func (u *usage) untouched() int64 { return max(0, u.ours()-u.resident) }

// processBytes returns, in bytes, what /proc/self/statm lists: space, resident, shared, text, 0, data.
func processBytes() (n [6]int64) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return n
	}
	for i, f := range strings.Fields(string(text)) {
		if i < len(n) {
			n[i], _ = strconv.ParseInt(f, 10, 64)
			n[i] *= pageSize
		}
	}
	return n
}

// measure returns what the process uses now.
func measure() usage {
	s := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(s)
	v := func(i int) int64 {
		if s[i].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return int64(s[i].Value.Uint64())
	}
	u := usage{promised: promised.Load(), heap: v(0) + v(1), backed: v(2)}
	u.reusable = v(2) + v(3)
	n := processBytes()
	u.space, u.resident, u.data = n[0], n[1], n[5]
	return u
}

// bound is one limit: how many bytes there are in all and how many of them are left.
type bound struct {
	name        string
	total, left int64
}

// rlimit returns a limit of the process, math.MaxInt64 without one.
func rlimit(resource int) int64 {
	var r unix.Rlimit
	if err := unix.Getrlimit(resource, &r); err != nil || r.Cur > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(r.Cur)
}

// machine returns the memory of the machine and what is available of it, swap included.
func machine() bound {
	b := bound{"the machine's memory", math.MaxInt64, math.MaxInt64}
	var s unix.Sysinfo_t
	if err := unix.Sysinfo(&s); err != nil {
		return b
	}
	unit := int64(s.Unit)
	b.total = int64(s.Totalram) * unit
	b.left = b.total
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return b
	}
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(line, ":"); name == "MemAvailable" {
			if n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64); err == nil {
				b.left = n<<10 + int64(s.Freeswap)*unit
			}
			break
		}
	}
	return b
}

// groups returns the limits of the process's control groups: version 2 memory.max and memory.high, version 1
// memory.limit_in_bytes. Cached files that can be dropped at once do not count as used. read gives the content of a
// file.
func groups(dirs []cgroup.Dir, read func(string) string) []bound {
	var out []bound
	for _, d := range dirs {
		limits, current, cached := []string{"memory.limit_in_bytes"}, "memory.usage_in_bytes", "total_inactive_file"
		if d.V2 {
			limits, current, cached = []string{"memory.max", "memory.high"}, "memory.current", "inactive_file"
		}
		total := int64(math.MaxInt64)
		for _, name := range limits {
			if n, err := strconv.ParseInt(strings.TrimSpace(read(path.Join(d.Path, name))), 10, 64); err == nil {
				total = min(total, n)
			}
		}
		if total >= math.MaxInt64>>1 { // version 1 writes "none" as the largest multiple of a page
			continue
		}
		used, err := strconv.ParseInt(strings.TrimSpace(read(path.Join(d.Path, current))), 10, 64)
		if err != nil {
			continue
		}
		for line := range strings.Lines(read(path.Join(d.Path, "memory.stat"))) {
			if name, value, _ := strings.Cut(strings.TrimSpace(line), " "); name == cached {
				if n, err := strconv.ParseInt(value, 10, 64); err == nil {
					used -= min(n, used)
				}
			}
		}
		out = append(out, bound{"control group " + d.Path, total, total - used})
	}
	return out
}

// bounds returns everything that limits another allocation, by the rest before the process's own use of Go's heap is
// looked at.
func bounds(u *usage, configured int64, dirs []cgroup.Dir) []bound {
	out := append(groups(dirs, cgroup.Read), machine())
	for i := range out {
		out[i].left -= u.untouched()
	}
	if configured > 0 {
		out = append(out, bound{"ANYNPU_MEMORY_LIMIT", configured, configured - u.ours()})
	}
	return out
}

// limitedDirs returns those of dirs that have a limit now.
func limitedDirs(dirs []cgroup.Dir) []cgroup.Dir {
	return slices.DeleteFunc(dirs, func(d cgroup.Dir) bool { return len(groups([]cgroup.Dir{d}, cgroup.Read)) == 0 })
}
