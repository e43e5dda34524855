package strangers

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// usage is the most that a process and those below it have used at a time, in bytes.
type usage struct {
	mu           sync.Mutex
	memory, disk int64
}

// watch samples a process, those below it, and its temporary folder until stop is closed.
func (u *usage) watch(pid int, folder string, stop <-chan struct{}) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			memory, disk := resident(pid), size(folder)
			u.mu.Lock()
			u.memory, u.disk = max(u.memory, memory), max(u.disk, disk)
			u.mu.Unlock()
		}
	}
}

// resident is the memory of a process and those below it, what they share counted once.
func resident(pid int) int64 {
	children := map[int][]int{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		p, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(fields) > 1 {
			parent, _ := strconv.Atoi(fields[1])
			children[parent] = append(children[parent], p)
		}
	}
	total := int64(0)
	var add func(p int)
	add = func(p int) {
		text, _ := os.ReadFile("/proc/" + strconv.Itoa(p) + "/smaps_rollup") // gone: it has none
		for line := range strings.Lines(string(text)) {
			if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "Pss:" {
				kilobytes, _ := strconv.ParseInt(fields[1], 10, 64)
				total += kilobytes << 10
			}
		}
		for _, c := range children[p] {
			add(c)
		}
	}
	add(pid)
	return total
}

// size is that of the files of a folder.
func size(folder string) int64 {
	total := int64(0)
	// What has gone has no size.
	filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error { //nolint:errcheck
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				total += info.Size()
			}
		}
		return nil
	})
	return total
}
