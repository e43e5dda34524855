package pool

import (
	"fmt"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/cgroup"
)

// yield gives the CPU to another thread of the operating system.
func yield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// allowedCPUs is the number of CPUs in the process's affinity mask, at least 1. Where they are of different speed, only
// those of the fastest cluster count.
func allowedCPUs() int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return 1
	}
	var cpus []int
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return max(1, fastest(cpus, func(cpu int) string {
		text, err := os.ReadFile(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/cpu_capacity", cpu))
		if err != nil {
			return ""
		}
		return string(text)
	}))
}

// fastest counts the CPUs whose capacity, as the kernel states it where CPUs differ, is more than three quarters of the
// largest one: cores of one kind in clusters of slightly different clocks belong together. All count when a capacity is
// not known.
func fastest(cpus []int, read func(cpu int) string) int {
	var capacities []int
	for _, cpu := range cpus {
		c, err := strconv.Atoi(strings.TrimSpace(read(cpu)))
		if err != nil || c <= 0 {
			return len(cpus)
		}
		capacities = append(capacities, c)
	}
	n := 0
	for _, c := range capacities {
		if 4*c > 3*slices.Max(capacities) {
			n++
		}
	}
	return n
}

// DefaultThreads is the number of compute threads a process should use: the
// CPUs of its affinity mask, of different ones those of the fastest cluster, but
// no more than the whole CPUs of the smallest CPU quota of its control groups
// (version 2 cpu.max, version 1 cfs_quota_us), and at least 1.
func DefaultThreads() int {
	q := quota(cgroup.Own(), cgroup.Read)
	return max(1, min(allowedCPUs(), int(math.Min(math.Floor(q), 1<<20))))
}

// quota is the smallest CPU quota, in CPUs, among the control groups listed in
// the form of /proc/self/cgroup and their parents; +Inf without one. read gives
// the content of a file under the control group mount, "" if there is none.
func quota(groups string, read func(string) string) float64 {
	best := math.Inf(1)
	for _, d := range cgroup.Dirs(groups, "cpu") {
		if d.V2 {
			best = math.Min(best, ratio(strings.Fields(read(path.Join(d.Path, "cpu.max")))))
			continue
		}
		best = math.Min(best, ratio([]string{
			strings.TrimSpace(read(path.Join(d.Path, "cpu.cfs_quota_us"))),
			strings.TrimSpace(read(path.Join(d.Path, "cpu.cfs_period_us"))),
		}))
	}
	return best
}

// ratio is quota over period, +Inf when there is no limit or no number.
func ratio(f []string) float64 {
	if len(f) != 2 {
		return math.Inf(1)
	}
	q, err1 := strconv.ParseFloat(f[0], 64)
	p, err2 := strconv.ParseFloat(f[1], 64)
	if err1 != nil || err2 != nil || q <= 0 || p <= 0 {
		return math.Inf(1)
	}
	return q / p
}
