// Package cgroup finds the control groups of the process, versions 1 and 2, and reads their files.
package cgroup

import (
	"os"
	"path"
	"slices"
	"strings"
)

// Dir is a control group that limits the process: its own or a parent of it.
type Dir struct {
	Path string // under the mount of control groups
	V2   bool
}

// Own returns the content of /proc/self/cgroup, "" when it cannot be read.
func Own() string {
	data, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	return string(data)
}

// Dirs returns the groups in the form of /proc/self/cgroup that may limit controller, and their parents, nested ones
// first. The directory of a version 1 controller bears its name or the names of all that share the hierarchy. A
// container without a namespace of its own sees its parents' paths but only its own files, at the root: so not every
// Dir exists.
func Dirs(groups, controller string) []Dir {
	var dirs []Dir
	for line := range strings.Lines(groups) {
		f := strings.SplitN(strings.TrimRight(line, "\n"), ":", 3)
		if len(f) != 3 {
			continue
		}
		v2 := f[1] == ""
		if !v2 && !slices.Contains(strings.Split(f[1], ","), controller) {
			continue
		}
		mounts := []string{""}
		if !v2 {
			mounts = slices.Compact([]string{f[1], controller})
		}
		for dir := path.Clean("/" + f[2]); ; dir = path.Dir(dir) {
			for _, m := range mounts {
				dirs = append(dirs, Dir{path.Join(m, dir), v2})
			}
			if dir == "/" {
				break
			}
		}
	}
	return dirs
}

// Read returns the content of a file under the mount of control groups, "" if there is none.
func Read(name string) string {
	data, err := os.ReadFile(path.Join("/sys/fs/cgroup", name))
	if err != nil {
		return ""
	}
	return string(data)
}
