package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/backends/dl/loader"
)

// found are the findings of a state, each as "check: text | remedy".
func (d *doctor) found(state string) (list []string) {
	for _, f := range d.list {
		if f.State == state {
			list = append(list, f.Check+": "+f.Text+" | "+f.Remedy)
		}
	}
	return list
}

func sickbed(t *testing.T, variables map[string]string) *doctor {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "tmp"), 0o755))
	return &doctor{root: root, env: func(name string) string { return variables[name] }}
}

func (d *doctor) write(t *testing.T, name, text string) string {
	file := d.path(name)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// TestDoctor_libraries: two files of one SONAME in two folders of the search path are a problem, links to one are not.
func TestDoctor_libraries(t *testing.T) {
	self, err := os.Executable() // any ELF file of this machine
	require.NoError(t, err)
	data, err := os.ReadFile(self)
	require.NoError(t, err)
	a, b := t.TempDir(), t.TempDir()
	d := sickbed(t, map[string]string{"LD_LIBRARY_PATH": a + ":" + b})
	require.NoError(t, os.WriteFile(a+"/librknnrt.so", data, 0o600))
	require.NoError(t, os.Symlink(a+"/librknnrt.so", b+"/librknnrt.so"))
	d.libraries("/none")
	assert.Empty(t, filtered(d.found(stateProblem), "librknnrt.so:"))
	require.NoError(t, os.Remove(b+"/librknnrt.so"))
	require.NoError(t, os.WriteFile(b+"/librknnrt.so", data, 0o600))
	d.list = nil
	d.libraries("/none")
	problems := filtered(d.found(stateProblem), "librknnrt.so:")
	require.Len(t, problems, 1)
	assert.Contains(t, problems[0], "librknnrt.so: 2 files: "+a+"/librknnrt.so, "+b+"/librknnrt.so | Remove all but one")
	assert.Equal(t, []string{a + "/librknnrt.so", b + "/librknnrt.so"}, loader.All("librknnrt.so", d.env, "/none")[:2])
}

func filtered(list []string, part string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return !strings.Contains(s, part) })
}

func TestDoctor_devices(t *testing.T) {
	d := sickbed(t, nil)
	d.nodes()
	assert.Equal(t, []string{"devices: no NPU that is known here: the CPU computes | "}, d.found(stateOK))

	d = sickbed(t, nil)
	d.write(t, "proc/device-tree/compatible", "rockchip,rk3588s-board\x00rockchip,rk3588\x00")
	d.nodes()
	assert.Equal(t, []string{"devices: the board is rockchip,rk3588s-board, and there is no /dev/dri/renderD* | " +
		"Load the kernel's driver: modprobe rknpu; the CPU computes until then."}, d.found(stateProblem))

	node := d.write(t, "dev/dri/renderD129", "")
	d.list = nil
	d.nodes()
	assert.Equal(t, []string{"devices: " + node + " can be opened | "}, d.found(stateOK))
	if os.Geteuid() == 0 {
		t.Skip("root may open every node")
	}
	require.NoError(t, os.Chmod(node, 0o060))
	d.list = nil
	d.nodes()
	require.Len(t, d.found(stateProblem), 1)
	assert.Contains(t, d.found(stateProblem)[0], "cannot be opened: permission denied | Add this user to the group ")
}

// TestDoctor_limits: a control group of 64 MB and 20 processes is too small, as is a process with 10 open files.
func TestDoctor_limits(t *testing.T) {
	d := sickbed(t, nil)
	d.write(t, "proc/self/cgroup", "0::/docker/x\n")
	d.write(t, "sys/fs/cgroup/docker/x/memory.max", "67108864\n")
	d.write(t, "sys/fs/cgroup/docker/x/pids.max", "max\n")
	d.write(t, "sys/fs/cgroup/docker/pids.max", "20\n")
	d.limits()
	problems := d.found(stateProblem)
	assert.Contains(t, problems, "limits: memory of the control group in bytes: at most 67108864, want 268435456 or more "+
		"| Give the container more memory, or ANYNPU_MEMORY_LIMIT a bound that fits.")
	assert.Contains(t, problems, "limits: processes and threads of the control group: at most 20, want 64 or more | Give "+
		"the container more: --pids-limit.")
	d.list = nil
	d.limit("open files", "Raise it.", 10, leastFiles)
	d.limit("open files", "Raise it.", unix.RLIM_INFINITY, leastFiles)
	assert.Equal(t, []string{"limits: open files: at most 10, want 256 or more | Raise it."}, d.found(stateProblem))
	assert.Equal(t, []string{"limits: open files: no limit | "}, d.found(stateOK))
}

func TestDoctor_folders(t *testing.T) {
	d := sickbed(t, map[string]string{"ANYNPU_DUMP": "/no/such/folder"})
	file := d.write(t, "tmp/file", "")
	d.folders()
	assert.Equal(t, []string{"folders: temporary files: " + d.path("tmp") + " | "}, d.found(stateOK))
	assert.Equal(t, []string{"folders: ANYNPU_DUMP: no such file or directory | Make the folder."}, d.found(stateProblem))
	assert.ErrorIs(t, canWrite(file), unix.ENOTDIR)
	left, err := os.ReadDir(d.path("tmp"))
	require.NoError(t, err)
	assert.Len(t, left, 1, "nothing is left behind")
}

func TestDoctor_drivers(t *testing.T) {
	d := sickbed(t, nil)
	d.drivers([]driverInfo{{Candidate: &dl.Candidate{}}})
	assert.Len(t, d.found(stateProblem), 1, "a driver that is refused")
	d.list = nil
	d.drivers([]driverInfo{{Candidate: &dl.Candidate{Status: dl.Usable}, Used: true,
		Lacks: []string{"a", "b", "c", "d", "e", "f"}}})
	require.Len(t, d.found(stateNote), 1)
	assert.Contains(t, d.found(stateNote)[0], "lacks 6 functions of its API: a, b, c, d and 2 more | Calls of")
}

// TestDoctor_command: the exit code, the text and the JSON of a variable that nothing reads.
func TestDoctor_command(t *testing.T) {
	t.Setenv("ANYNPU_THREDS", "4")
	code, out, errs := anynpu("doctor")
	assert.Equal(t, exitDifferent, code)
	assert.Contains(t, out, "problem  environment ANYNPU_THREDS=4: nothing reads this\n"+
		"                     Write ANYNPU_THREADS, or remove the variable.\n")
	assert.Regexp(t, `^anynpu: doctor: \d+ problems? \[tool-different\]\n$`, errs)
	code, out, _ = anynpu("doctor", "--json")
	assert.Equal(t, exitDifferent, code)
	var v any
	require.NoError(t, json.Unmarshal([]byte(out), &v))
	assert.Empty(t, readSchema(t, "../../docs/schemas/doctor.json").faults("", v))
	code, _, _ = anynpu("doctor", "now")
	assert.Equal(t, exitUsage, code)
}
