package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/backends/dl/loader"
	"github.com/anynpu/anynpu/backends/settings"
	"github.com/anynpu/anynpu/core/cgroup"
	"github.com/anynpu/anynpu/core/logging"
	"github.com/anynpu/anynpu/core/spec"
	"github.com/anynpu/anynpu/internal/environ"
)

// finding is the result of a check: "ok", a "note" that may be as it is meant, or a "problem".
type finding struct {
	State  string `json:"state"`
	Check  string `json:"check"`
	Text   string `json:"text"`
	Remedy string `json:"remedy"` // "" if nothing is to be done
}

// The states of findings.
const (
	stateOK      = "ok"
	stateNote    = "note"
	stateProblem = "problem"
)

// doctor collects findings. Its files lie below root, which is empty but in tests.
type doctor struct {
	root string
	env  func(string) string
	list []finding
}

func (d *doctor) add(state, check, remedy, text string, values ...any) {
	d.list = append(d.list, finding{state, check, fmt.Sprintf(text, values...), remedy})
}

// path is a file of the machine.
func (d *doctor) path(name string) string { return filepath.Join("/", d.root, name) }

// libraries looks which files there are for each SONAME of an API.
func (d *doctor) libraries(cacheFile string) {
	for _, a := range spec.APIs {
		for _, soname := range a.Sonames {
			files := loader.All(soname, d.env, cacheFile)
			texts := make([]string, len(files))
			ours := 0
			for i, file := range files {
				texts[i] = file
				if f, err := loader.Read(file); err == nil && f.Ours {
					texts[i] += " (AnyNPU)"
					ours++
				}
			}
			switch {
			case len(files) == 0:
				d.add(stateOK, "libraries", "", "%s: no file; anynpu exec gives programs one", soname)
			case len(files) == 1:
				d.add(stateOK, "libraries", "", "%s: %s", soname, texts[0])
			case ours > 0 && ours < len(files):
				d.add(stateNote, "libraries", "The first wins. Set LD_LIBRARY_PATH for another order, or run programs with "+
					"anynpu exec.", "%s: %d files, AnyNPU's and others: %s", soname, len(files), strings.Join(texts, ", "))
			default:
				d.add(stateProblem, "libraries", "Remove all but one: a program gets the first, and what is linked with "+
					"another one may get both.", "%s: %d files: %s", soname, len(files), strings.Join(texts, ", "))
			}
		}
	}
}

// core looks whether programs get the library that belongs to this tool.
func (d *doctor) core(cacheFile string) {
	own := ""
	if stubs := stubFolder(); stubs != "" {
		if own = loader.In(stubs, loader.Core); own == "" {
			own = loader.In(filepath.Dir(stubs), loader.Core)
		}
	}
	found := loader.Find(loader.Core, d.env, cacheFile)
	switch {
	case own == "":
		d.add(stateNote, "version", "Install the library, or run make: anynpu exec needs it.",
			"AnyNPU's libraries are not beside this tool")
	case found != "" && !sameFile(own, found):
		d.add(stateProblem, "version", "Remove the other installation, or set LD_LIBRARY_PATH to "+filepath.Dir(own)+".",
			"programs get %s, and %s belongs to this tool, version %s", found, own, version)
	default:
		d.add(stateOK, "version", "", "version %s: %s", version, own)
	}
	switch helper := helperFile(); {
	case own != "" && helper == "":
		d.add(stateProblem, "version", "Install the library whole.", "%s is not beside this tool: drivers are not tried "+
			"before a program opens them", dl.HelperName)
	case helper != "":
		d.add(stateOK, "version", "", "drivers are tried by %s", helper)
	}
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// drivers looks at the drivers that manifests and variables name.
func (d *doctor) drivers(list []driverInfo) {
	if len(list) == 0 {
		d.add(stateOK, "drivers", "", "no manifest and no variable names a driver: the CPU computes")
	}
	for _, c := range list {
		name := fmt.Sprintf("%s %s (%s)", orDash(c.API), orDash(c.Name), c.Source)
		switch {
		case c.Status == dl.Usable && len(c.Lacks) > 0:
			d.add(stateNote, "drivers", "Calls of these functions are refused; a newer driver may have them.",
				"%s lacks %s of its API: %s", name, counted(len(c.Lacks), "function"), cut(c.Lacks, 4))
		case c.Status == dl.Usable:
			d.add(stateOK, "drivers", "", "%s: %s", name, c.Path)
		case c.Status == dl.Skipped:
			d.add(stateNote, "drivers", "Nothing, if the manifest is for another machine.", "%s is skipped: %s", name, c.Reason)
		default:
			d.add(stateProblem, "drivers", "Correct the manifest or the file, then try again with anynpu drivers --probe.",
				"%s is refused: %s", name, c.Reason)
		}
	}
}

// cut is the beginning of a list.
func cut(names []string, n int) string {
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:n], ", ") + fmt.Sprintf(" and %d more", len(names)-n)
}

// boards lists device trees and drivers of the kernel of NPUs: which board has which node.
var boards = []struct{ compatible, kernel, nodes string }{
	{"rockchip,rk35", "rknpu", "dev/dri/renderD*"},
	{"rockchip,rv11", "rknpu", "dev/rknpu"},
	{"hobot,", "bpu", "dev/bpu*"},
	{"horizon,", "bpu", "dev/bpu*"},
	{"d-robotics,", "bpu", "dev/bpu*"},
}

// nodes looks at the device nodes of NPUs: whether the board has them, and whether this user may open them.
func (d *doctor) nodes() {
	board, _ := os.ReadFile(d.path("proc/device-tree/compatible"))
	compatible := strings.Split(strings.TrimRight(string(board), "\x00"), "\x00")
	checked := map[string]bool{}
	for _, b := range boards {
		is := slices.ContainsFunc(compatible, func(c string) bool { return strings.HasPrefix(c, b.compatible) })
		if checked[b.nodes] {
			continue
		}
		files, _ := filepath.Glob(d.path(b.nodes))
		if is && len(files) == 0 {
			checked[b.nodes] = true
			d.add(stateProblem, "devices", "Load the kernel's driver: modprobe "+b.kernel+"; the CPU computes until then.",
				"the board is %s, and there is no /%s", compatible[0], b.nodes)
		}
		for _, file := range files {
			checked[b.nodes] = true
			d.node(file)
		}
	}
	if len(checked) == 0 {
		d.add(stateOK, "devices", "", "no NPU that is known here: the CPU computes")
	}
}

// node looks whether this user may read and write a node.
func (d *doctor) node(file string) {
	err := unix.Access(file, unix.R_OK|unix.W_OK)
	if err == nil {
		d.add(stateOK, "devices", "", "%s can be opened", file)
		return
	}
	remedy := "Let this user read and write the node."
	if st, e := os.Stat(file); e == nil {
		if owner, ok := st.Sys().(*syscall.Stat_t); ok && st.Mode().Perm()&0o060 == 0o060 {
			group := strconv.Itoa(int(owner.Gid))
			if g, e := user.LookupGroupId(group); e == nil {
				group = g.Name
			}
			remedy = fmt.Sprintf("Add this user to the group %s, then log in anew: sudo usermod -aG %s USER", group, group)
		}
	}
	d.add(stateProblem, "devices", remedy, "%s cannot be opened: %v", file, err)
}

// leastFiles and the next two are the needs of a program of one model.
const (
	leastFiles   = 256
	leastThreads = 64
	leastMemory  = 256 << 20
)

// limits looks at what the system grants processes.
func (d *doctor) limits() {
	for _, l := range []struct {
		resource     int
		name, remedy string
		least        uint64
	}{
		{unix.RLIMIT_NOFILE, "open files", "Raise it: ulimit -n 1024.", leastFiles},
		{unix.RLIMIT_NPROC, "processes and threads of this user", "Raise it: ulimit -u 4096.", leastThreads},
		{unix.RLIMIT_AS, "address space in bytes", "Raise it: ulimit -v unlimited.", 4 * leastMemory},
		{unix.RLIMIT_FSIZE, "size of a file in bytes", "Raise it: ulimit -f unlimited, for caches and reports.", 64 << 20},
	} {
		var r unix.Rlimit
		if err := unix.Getrlimit(l.resource, &r); err != nil {
			continue
		}
		d.limit(l.name, l.remedy, r.Cur, l.least)
	}
	groups, _ := os.ReadFile(d.path("proc/self/cgroup"))
	for _, f := range []struct {
		controller, file, old, name, remedy string
		least                               uint64
	}{
		{"memory", "memory.max", "memory.limit_in_bytes", "memory of the control group in bytes",
			"Give the container more memory, or ANYNPU_MEMORY_LIMIT a bound that fits.", leastMemory},
		{"pids", "pids.max", "pids.max", "processes and threads of the control group",
			"Give the container more: --pids-limit.", leastThreads},
	} {
		for _, g := range cgroup.Dirs(string(groups), f.controller) {
			file := f.file
			if !g.V2 {
				file = f.old
			}
			data, err := os.ReadFile(d.path(filepath.Join("sys/fs/cgroup", g.Path, file)))
			n, e := strconv.ParseUint(strings.TrimSpace(string(data)), 10, 63)
			if err == nil && e == nil && n < 1<<60 {
				d.limit(f.name, f.remedy, n, f.least)
				break
			}
		}
	}
}

func (d *doctor) limit(name, remedy string, has, least uint64) {
	switch {
	case has < least:
		d.add(stateProblem, "limits", remedy, "%s: at most %d, want %d or more", name, has, least)
	case has == unix.RLIM_INFINITY:
		d.add(stateOK, "limits", "", "%s: no limit", name)
	default:
		d.add(stateOK, "limits", "", "%s: at most %d", name, has)
	}
}

// folders looks whether caches and reports can be written.
func (d *doctor) folders() {
	temporary := d.env("TMPDIR")
	if temporary == "" {
		temporary = "/tmp"
	}
	for _, f := range []struct{ name, folder, remedy string }{
		{"temporary files", d.path(temporary), "Make the folder with room for files, or set TMPDIR to another."},
		{"ANYNPU_DUMP", d.env("ANYNPU_DUMP"), "Make the folder."},
		{"ANYNPU_REPORT", d.env("ANYNPU_REPORT"), "Make the folder."},
	} {
		if f.folder == "" {
			continue
		}
		err := canWrite(f.folder)
		switch {
		case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
			d.add(stateProblem, "folders", "Make room there, or choose another folder.", "%s: %s is full", f.name, f.folder)
		case err != nil:
			d.add(stateProblem, "folders", f.remedy, "%s: %v", f.name, cause(err))
		default:
			d.add(stateOK, "folders", "", "%s: %s", f.name, f.folder)
		}
	}
}

// canWrite makes a file in a folder and removes it.
func canWrite(folder string) error {
	st, err := os.Stat(folder)
	if err != nil {
		return err
	}
	if !st.IsDir() {
		return &fs.PathError{Op: "open", Path: folder, Err: unix.ENOTDIR}
	}
	file, err := os.CreateTemp(folder, ".anynpu-doctor-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(make([]byte, 4096))
	return errors.Join(err, file.Close())
}

// environment looks at the variables whose names begin with ANYNPU_.
func (d *doctor) environment(environment []string) {
	set, unknown := environ.Of(environment)
	for _, u := range unknown {
		d.add(stateProblem, "environment", "Write "+u.Nearest+", or remove the variable.", "%s=%s: nothing reads this",
			u.Name, u.Value)
	}
	bad := 0
	settings.Read(d.env, func(component, message string, pairs ...any) {
		bad++
		d.add(stateProblem, "environment", "Correct or remove the value.", "%s: %s", component, logging.Text(message, pairs))
	})
	if len(unknown)+bad == 0 {
		d.add(stateOK, "environment", "", "%s set, each with an effect", counted(len(set), "variable"))
	}
}
