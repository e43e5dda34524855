package dl

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// machine is a made-up one: folders for the user's and the machine's manifests, drivers, kept verdicts.
type machine struct {
	t      *testing.T
	dir    string
	env    map[string]string
	probes []string // files that were probed
	end    Outcome  // of each probe
	broken error    // why none can be started
}

func newMachine(t *testing.T) *machine {
	dir := t.TempDir()
	for _, d := range []string{"user/anynpu/drivers.d", "etc", "share", "lib"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	return &machine{t: t, dir: dir, env: map[string]string{"XDG_CONFIG_HOME": dir + "/user", "XDG_CACHE_HOME": dir +
		"/cache"},
		end: Outcome{Output: "ok\n"}}
}

func (m *machine) options() Options {
	return Options{Getenv: func(name string) string { return m.env[name] },
		Folders: []string{m.dir + "/etc", m.dir + "/share"},
		Version: "0.1.0", Helper: func() string { return "/helper" },
		Run: func(argv, _ []string, _ time.Duration) (Outcome, error) {
			m.probes = append(m.probes, filepath.Base(argv[1]))
			return m.end, m.broken
		}}
}

// library links a shared library of C and returns its path.
func (m *machine) library(name, source string, flags ...string) string {
	if _, err := exec.LookPath("gcc"); err != nil {
		m.t.Skip("there is no gcc")
	}
	path := filepath.Join(m.dir, "lib", name)
	c := exec.Command("gcc", append([]string{"-shared", "-fPIC", "-x", "c", "-", "-x", "none", "-o", path}, flags...)...)
	c.Stdin = strings.NewReader(source)
	out, err := c.CombinedOutput()
	require.NoError(m.t, err, string(out))
	return path
}

func (m *machine) write(name string, data []byte, mode os.FileMode) string {
	path := filepath.Join(m.dir, name)
	require.NoError(m.t, os.WriteFile(path, data, mode))
	require.NoError(m.t, os.Chmod(path, mode))
	return path
}

func (m *machine) manifest(name, library string) string {
	return m.write(name, fmt.Appendf(nil, `{"schema": %q, "name": "NPU", "api": "rknn", "library": %q}`, Schema, library),
		0o644)
}

// reason belongs to the only candidate.
func (m *machine) reason() string {
	list := List(m.options())
	require.Len(m.t, list, 1)
	if list[0].Status == Usable {
		return ""
	}
	assert.NotEmpty(m.t, list[0].Reason)
	assert.Empty(m.t, list[0].File)
	return list[0].Reason
}

func TestList_order(t *testing.T) {
	m := newMachine(t)
	lib, other := m.library("a.so", "int a;"), m.library("b.so", "int b;")
	m.manifest("share/0.json", lib)
	m.manifest("etc/2.json", m.library("c.so", "int c;"))
	m.manifest("etc/1.json", m.library("d.so", "int d;"))
	m.manifest("user/anynpu/drivers.d/z.json", other)
	m.write("etc/readme.txt", []byte("no manifest"), 0o644)
	sources := func() (out []string) {
		for _, c := range List(m.options()) {
			assert.Equal(t, Usable, c.Status, c.Reason)
			out = append(out, strings.TrimPrefix(c.Source, m.dir))
		}
		return out
	}
	assert.Equal(t, []string{"/user/anynpu/drivers.d/z.json", "/etc/1.json", "/etc/2.json", "/share/0.json"}, sources())
	delete(m.env, "XDG_CONFIG_HOME")
	assert.Equal(t, []string{"/etc/1.json", "/etc/2.json", "/share/0.json"}, sources(),
		"a set-id program has no user's folder")
	m.env["HOME"] = m.dir
	require.NoError(t, os.Rename(m.dir+"/user", m.dir+"/.config"))
	assert.Equal(t, "/.config/anynpu/drivers.d/z.json", sources()[0])
	m.env["ANYNPU_DRIVERS"] = m.dir + "/share::" + m.dir + "/etc/2.json"
	assert.Equal(t, []string{"/share/0.json", "/etc/2.json"}, sources())
}

func TestList_override(t *testing.T) {
	m := newMachine(t)
	lib, other := m.library("a.so", "int a;"), m.library("b.so", "int b;")
	m.manifest("etc/1.json", lib)
	m.env["ANYNPU_DRIVER_RKNN"] = other
	list := List(m.options())
	require.Len(t, list, 2)
	assert.Equal(t, "ANYNPU_DRIVER_RKNN", list[0].Source)
	assert.Equal(t, other, list[0].File)
	assert.Equal(t, Skipped, list[1].Status)
	m.env["ANYNPU_DRIVER_RKNN"] = "librknnrt.so"
	list = List(m.options())
	assert.Equal(t, Refused, list[0].Status)
	assert.Equal(t, `library: "librknnrt.so": want an absolute path`, list[0].Reason)
}

func TestList_badManifests(t *testing.T) {
	for name, make := range map[string]struct {
		do   func(m *machine)
		want string
	}{
		"text": {func(m *machine) { m.write("etc/a.json", []byte("hello"), 0o644) }, "not a JSON object"},
		"huge": {func(m *machine) { m.write("etc/a.json", make([]byte, 1<<20), 0o644) }, "want at most 65536"},
		"world-writable": {func(m *machine) { m.write("etc/a.json", []byte("{}"), 0o666) },
			"everyone may write to it: chmod o-w "},
		"folder": {func(m *machine) {
			require.NoError(m.t, os.Chmod(m.dir+"/etc", 0o777))
			m.write("etc/a.json", []byte("{}"), 0o644)
		}, "everyone may write to its folder "},
		"sticky folder": {func(m *machine) {
			require.NoError(m.t, os.Chmod(m.dir+"/etc", 0o777|os.ModeSticky))
			m.write("etc/a.json", []byte("{}"), 0o644)
		}, "everyone may write to its folder "},
		"loop": {func(m *machine) { require.NoError(m.t, os.Symlink("a.json", m.dir+"/etc/a.json")) },
			"a loop of symbolic links"},
		"dangling":  {func(m *machine) { require.NoError(m.t, os.Symlink("b", m.dir+"/etc/a.json")) }, "no such file"},
		"directory": {func(m *machine) { require.NoError(m.t, os.Mkdir(m.dir+"/etc/a.json", 0o755)) }, "want a regular file"},
		"listed":    {func(m *machine) { m.env["ANYNPU_DRIVERS"] = m.dir + "/none.json" }, "ANYNPU_DRIVERS: "},
		"relative":  {func(m *machine) { m.env["ANYNPU_DRIVERS"] = "etc/a.json" }, "want absolute paths"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			make.do(m)
			assert.Contains(t, m.reason(), make.want)
		})
	}
}

func TestList_badFiles(t *testing.T) {
	m := newMachine(t)
	lib := m.library("a.so", "int a;")
	elf, err := os.ReadFile(lib)
	require.NoError(t, err)
	arm := append([]byte(nil), elf...)
	arm[18], arm[19] = 243, 0 // EM_RISCV
	exe := append([]byte(nil), elf...)
	exe[16] = 2 // ET_EXEC
	require.NoError(t, os.Symlink("loop2.so", m.dir+"/lib/loop1.so"))
	require.NoError(t, os.Symlink("loop1.so", m.dir+"/lib/loop2.so"))
	require.NoError(t, os.Mkdir(m.dir+"/open", 0o755))
	require.NoError(t, os.Chmod(m.dir+"/open", 0o777))
	for path, want := range map[string]string{
		m.dir + "/lib/none.so":  "no such file",
		m.dir + "/lib/loop1.so": "a loop of symbolic links",
		m.dir + "/lib":          "want a regular file",
		"/dev/null":             "want a regular file",
		m.write("lib/text.so", []byte("/* GNU ld script */\nGROUP(x)"), 0o644): "not an ELF file",
		m.write("lib/empty.so", nil, 0o644):                                    "not an ELF file",
		m.write("lib/riscv.so", arm, 0o644):                                    "built for EM_RISCV",
		m.write("lib/short.so", elf[:100], 0o644):                              "damaged ELF file",
		m.write("lib/all.so", elf, 0o666):                                      "everyone may write to it",
		m.write("open/a.so", elf, 0o644):                                       "everyone may write to its folder",
		m.write("lib/exec.so", exe, 0o644):                                     "of the type ET_EXEC",
		m.library("musl.so", "int m;", "-Wl,--no-as-needed", m.library("libc.so", "int c;",
			"-Wl,-soname,libc.so")): "another C library",
		m.library("stub.so", `__asm__(".section .note.anynpu,\"a\",@note\n.long 7,4,1\n.asciz \"AnyNPU\"\n.balign 4\n.long 1\n");`): "AnyNPU's own library",
	} {
		m.manifest("etc/a.json", path)
		got := m.reason()
		assert.Contains(t, got, want)
		assert.Contains(t, got, "library: "+short(path), "key and value")
	}
}

func TestList_theSameFileTwice(t *testing.T) {
	m := newMachine(t)
	lib := m.library("a.so", "int a;")
	require.NoError(t, os.Link(lib, m.dir+"/lib/hard.so"))
	require.NoError(t, os.Symlink("a.so", m.dir+"/lib/soft.so"))
	m.manifest("etc/1.json", lib)
	m.manifest("etc/2.json", m.dir+"/lib/hard.so")
	m.manifest("etc/3.json", m.dir+"/lib/soft.so")
	list := List(m.options())
	require.Len(t, list, 3)
	assert.Equal(t, Usable, list[0].Status, list[0].Reason)
	for _, c := range list[1:] {
		assert.Equal(t, Refused, c.Status)
		assert.Contains(t, c.Reason, "the same file as in "+m.dir+"/etc/1.json")
	}
}

func TestProbe_verdictsAreKept(t *testing.T) {
	m := newMachine(t)
	lib := m.library("a.so", "int a;")
	m.manifest("etc/1.json", lib)
	probe := func(o Options) *Candidate {
		list := List(o)
		require.Len(t, list, 1)
		list[0].Probe(o)
		return list[0]
	}
	assert.Equal(t, Usable, probe(m.options()).Status)
	assert.Equal(t, Usable, probe(m.options()).Status)
	assert.Len(t, m.probes, 1, "the second one has the verdict of the first")

	o := m.options()
	o.Again = true
	m.end = Outcome{Exit: -1, Signal: 11}
	assert.Contains(t, probe(o).Reason, "opening it ends in signal 11 (segmentation fault)")
	again := probe(m.options())
	assert.Equal(t, Refused, again.Status)
	assert.Contains(t, again.Reason, "signal 11 (segmentation fault); anynpu drivers --probe tries it again")
	assert.Len(t, m.probes, 2)

	later := time.Now().Add(time.Second)
	require.NoError(t, os.Chtimes(lib, later, later))
	m.end = Outcome{Output: "ok\n"}
	assert.Equal(t, Usable, probe(m.options()).Status, "another state of the file")
	assert.Len(t, m.probes, 3)
	o = m.options()
	o.Version = "0.2.0"
	probe(o)
	assert.Len(t, m.probes, 4, "another version of the library")

	kept, err := filepath.Glob(m.dir + "/cache/anynpu/drivers/*")
	require.NoError(t, err)
	require.Len(t, kept, 1)
	for _, damage := range []string{"", "{", `{"file": 7}`, strings.Repeat("[", 1<<17)} {
		require.NoError(t, os.WriteFile(kept[0], []byte(damage), 0o600))
		before := len(m.probes)
		assert.Equal(t, Usable, probe(m.options()).Status)
		assert.Len(t, m.probes, before+1)
	}
	require.NoError(t, os.Chmod(kept[0], 0o666))
	before := len(m.probes)
	probe(m.options())
	assert.Len(t, m.probes, before+1, "a verdict that everyone may write does not count")

	m.env["XDG_CACHE_HOME"] = lib // no folder can be made below a file
	assert.Equal(t, Usable, probe(m.options()).Status)
	assert.Equal(t, Usable, probe(m.options()).Status)
	assert.Len(t, m.probes, before+3)
}

func TestProbe_outcomes(t *testing.T) {
	m := newMachine(t)
	m.manifest("etc/1.json", m.library("a.so", "int a;"))
	for _, c := range []struct {
		end  Outcome
		want string
	}{
		{Outcome{Exit: -1, TimedOut: true}, "opening it takes longer than 10s"},
		{Outcome{Exit: 1, Output: "it lacks the symbol rknn_run\n"}, "it lacks the symbol rknn_run"},
		{Outcome{Exit: 1, Output: "a\x1b[2Jb\xff\nc"}, `"` + m.dir + `/lib/a.so": a?[2Jb?`},
		{Outcome{Exit: 0, Output: ""}, "opening it ends the program with exit code 0"},
		{Outcome{Exit: 7}, "opening it ends the program with exit code 7"},
	} {
		o := m.options()
		o.Again, m.end = true, c.end
		list := List(o)
		list[0].Probe(o)
		assert.Equal(t, Refused, list[0].Status)
		assert.True(t, strings.HasSuffix(list[0].Reason, c.want), list[0].Reason)
	}

	o := m.options()
	o.Again, o.Helper = true, func() string { return "" }
	list := List(o)
	list[0].Probe(o)
	assert.Contains(t, list[0].Reason, "anynpu-probe, which opens a driver first, is not beside this library; "+
		"ANYNPU_PROBE=off")
	o.Helper, m.broken = m.options().Helper, errors.New("no memory")
	list = List(o)
	list[0].Probe(o)
	assert.Contains(t, list[0].Reason, "/helper cannot be started: no memory; ANYNPU_PROBE=off does without")
	before := len(m.probes)
	m.env["ANYNPU_PROBE"] = "off"
	list = List(o)
	list[0].Probe(o)
	assert.Equal(t, Usable, list[0].Status)
	assert.Len(t, m.probes, before)
	m.env["ANYNPU_PROBE"] = "no"
	list = List(o)
	list[0].Probe(o)
	assert.Contains(t, list[0].Reason, `ANYNPU_PROBE: "no": want on or off`)
}

func TestNeeds_followsDependencies(t *testing.T) {
	m := newMachine(t)
	far := m.library("libfar.so", "int far;", "-Wl,-soname,libfar.so")
	near := m.library("libnear.so", "int near;", "-Wl,-soname,libnear.so", "-Wl,--no-as-needed", far, "-Wl,-rpath,$ORIGIN")
	top := m.library("top.so", "int top;", "-Wl,--no-as-needed", near, "-Wl,-rpath,"+m.dir+"/lib")
	needs, err := Needs(top, func(string) string { return "" })
	require.NoError(t, err)
	assert.Equal(t, near, needs["libnear.so"])
	assert.Equal(t, far, needs["libfar.so"])
	assert.NotEmpty(t, needs["libc.so.6"])
}
