package cache

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/internal/leak"
)

const info = "cache_info.nncache"

func TestMain(m *testing.M) {
	if dir := os.Getenv("CACHE_DIR"); dir != "" {
		writeAndDie(dir, os.Getenv("CACHE_STEP"))
	}
	os.Exit(leak.Run(m, mem.LiveCounters))
}

// files returns the set of generation gen: n data files and the info file, all different from those of any other
// generation.
func files(gen, n int) []File {
	var out []File
	for i := range n {
		out = append(out, File{fmt.Sprintf("%d.nncache", i), bytes.Repeat([]byte{byte(gen)}, 1000*(i+1)+gen)})
	}
	return append(out, File{info, []byte(fmt.Sprintf("generation %d of %d", gen, n))})
}

// write writes a set whose last file is the index.
func write(dir string, f []File) error { return Write(dir, f[len(f)-1], f[:len(f)-1]) }

// generation reads the whole set and returns its generation, 0 when there is no index file; it fails the test when
// files of two are mixed.
func generation(t testing.TB, dir string) int {
	var gen, n int
	var want []File
	got, err := Read(dir, info, func(index []byte) (v Voucher, err error) {
		_, err = fmt.Sscanf(string(index), "generation %d of %d", &gen, &n)
		want = files(gen, n)[:n]
		for _, f := range want {
			v.Names = append(v.Names, f.Name)
		}
		v.Fits = func(i int, head []byte, size int64) bool {
			return size == int64(len(want[i].Data)) && bytes.HasPrefix(want[i].Data, head)
		}
		v.Good = func(i int, data []byte) bool { return bytes.Equal(data, want[i].Data) }
		return v, err
	})
	if errors.Is(err, ErrNone) {
		return 0
	}
	require.NoError(t, err, "generation %d", gen)
	require.Len(t, got, n)
	return gen
}

func names(t testing.TB, dir string) []string {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestWrite_replaces(t *testing.T) {
	dir := t.TempDir()
	assert.Zero(t, generation(t, dir))
	for gen := 1; gen < 4; gen++ {
		require.NoError(t, write(dir, files(gen, 3)))
		assert.Equal(t, gen, generation(t, dir))
		assert.Equal(t, []string{"0.nncache", "1.nncache", "2.nncache", info}, names(t, dir))
	}
	require.NoError(t, Write(dir, File{"other_" + info, nil}, nil)) // another set leaves this one alone
	assert.Equal(t, 3, generation(t, dir))
}

// writeAndDie is the process that is killed: it writes generation 2 and dies before the given step, or ends with exit
// code 7.
func writeAndDie(dir, step string) {
	at, _ := strconv.Atoi(step)
	Hook = func(string, string) error {
		if at--; at < 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}
	if err := write(dir, files(2, 2)); err != nil {
		fmt.Println(err)
		os.Exit(8)
	}
	os.Exit(7)
}

func TestWrite_killedAtEveryStep(t *testing.T) {
	olds, news := 0, 0
	for step := 0; ; step++ {
		dir := t.TempDir()
		require.NoError(t, write(dir, files(1, 2)))
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "CACHE_DIR="+dir, "CACHE_STEP="+strconv.Itoa(step))
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() == 7 {
			assert.Equal(t, 2, generation(t, dir))
			break
		}
		require.Equal(t, syscall.SIGKILL, cmd.ProcessState.Sys().(syscall.WaitStatus).Signal(), "%v: %s", err, out)
		switch gen := generation(t, dir); gen {
		case 1:
			olds++
			assert.Zero(t, news, "step %d: the old set after the new one", step)
		case 2:
			news++
		default:
			t.Fatalf("step %d: generation %d", step, gen)
		}
		// Writing works from every such state, and leaves nothing behind.
		require.NoError(t, write(dir, files(3, 1)))
		assert.Equal(t, 3, generation(t, dir))
		for _, n := range names(t, dir) {
			assert.NotEqual(t, byte('.'), n[0], "step %d left %s", step, n)
		}
	}
	assert.Greater(t, olds, 10)
	assert.Greater(t, news, 4)
}

func TestWrite_errorAtEveryStep(t *testing.T) {
	defer func() { Hook = nil }()
	for step := 0; ; step++ {
		dir := t.TempDir()
		Hook = nil
		require.NoError(t, write(dir, files(1, 2)))
		left, at, label := step, "", ""
		Hook = func(s, name string) error {
			if left--; left == -1 {
				at, label = s, name
				return unix.ENOSPC
			}
			return nil
		}
		err := write(dir, files(2, 2))
		Hook = nil
		if err == nil {
			assert.Greater(t, step, 15)
			break
		}
		assert.Equal(t, fault.File, fault.KindOf(err))
		assert.ErrorIs(t, err, unix.ENOSPC)
		var e *WriteError
		require.ErrorAs(t, err, &e)
		want := StepWrite
		if at == "create" && label == info {
			want = StepOpenIndex
		} else if at == "create" {
			want = StepOpenData
		}
		assert.Equal(t, want, e.Step)
		assert.EqualError(t, err, fmt.Sprintf("cache: %s %q: no space left on device", at, label))
		gen := generation(t, dir)
		require.Contains(t, []int{1, 2}, gen)
		if gen == 1 {
			assert.Equal(t, []string{"0.nncache", "1.nncache", info}, names(t, dir), "step %d", step)
		}
		require.NoError(t, write(dir, files(3, 2)))
		assert.Equal(t, 3, generation(t, dir))
	}
}

// A directory in the place of a file is found before anything is committed: the old set stays, and the next Write
// works.
func TestWrite_directoryInTheWay(t *testing.T) {
	for name, step := range map[string]Step{"1.nncache": StepOpenData, info: StepOpenIndex} {
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o755))
		err := write(dir, files(1, 2))
		assert.ErrorIs(t, err, unix.EISDIR, name)
		var e *WriteError
		require.ErrorAs(t, err, &e)
		assert.Equal(t, step, e.Step, name)
		assert.Equal(t, []string{name}, names(t, dir))
		require.NoError(t, os.Remove(filepath.Join(dir, name)))
		require.NoError(t, write(dir, files(2, 2)))
		assert.Equal(t, 2, generation(t, dir))
	}
}

func TestWrite_fullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k,mode=700"); err != nil {
		t.Skipf("mounting a small tmpfs: %v", err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	require.NoError(t, write(dir, files(1, 3)))
	big := append(files(2, 3), File{"3.nncache", make([]byte, 1<<20)})
	err := write(dir, big)
	assert.ErrorIs(t, err, unix.ENOSPC)
	assert.Equal(t, fault.File, fault.KindOf(err))
	assert.ErrorContains(t, err, `write "3.nncache"`)
	assert.Equal(t, 1, generation(t, dir))
	require.NoError(t, write(dir, files(3, 3)), "the failed attempt has left no space taken")
	require.NoError(t, unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	assert.ErrorIs(t, write(dir, files(4, 3)), unix.EROFS)
	assert.Equal(t, 3, generation(t, dir))
}

func TestWrite_private(t *testing.T) {
	dir := t.TempDir()
	defer unix.Umask(unix.Umask(0))
	require.NoError(t, write(dir, files(1, 3)))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 4)
	for _, e := range entries {
		st, err := e.Info()
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), st.Mode(), e.Name())
	}
}

func TestWrite_noPermission(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, write(dir, files(1, 1)))
	require.NoError(t, os.Chmod(dir, 0o555))
	defer os.Chmod(dir, 0o755)
	if os.Getuid() == 0 { // root may do everything: become somebody else on this thread
		runtime.LockOSThread() // never unlocked: the thread ends with the test
		for p := dir; p != "/"; p = filepath.Dir(p) {
			if st, err := os.Stat(p); err == nil && st.Mode().Perm()&0o055 != 0o055 {
				require.NoError(t, os.Chmod(p, st.Mode().Perm()|0o055))
			}
		}
		require.NoError(t, unix.Setfsuid(65534))
		defer func() { require.NoError(t, unix.Setfsuid(0)) }()
	}
	err := write(dir, files(2, 1))
	assert.ErrorIs(t, err, fs.ErrPermission)
	var e *WriteError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, StepOpenData, e.Step)
	assert.EqualError(t, err, `cache: create "0.nncache": permission denied`)
	if os.Getuid() == 0 {
		_, err = Read(dir, info, nil)
		assert.ErrorIs(t, err, fs.ErrPermission, "files of another user's")
		require.NoError(t, unix.Setfsuid(0))
	}
	assert.Equal(t, 1, generation(t, dir))
}

// Another process may keep the directory locked for as long as it likes; that is waited for once.
func TestWrite_locked(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, write(dir, files(1, 2)))
	other, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	require.NoError(t, err)
	defer unix.Close(other)
	require.NoError(t, unix.Flock(other, unix.LOCK_EX))
	begin := time.Now()
	for range 20 {
		err := write(dir, files(2, 2))
		assert.ErrorIs(t, err, ErrBusy)
		assert.Equal(t, 1, generation(t, dir), "the set of before, without a lock")
	}
	assert.Less(t, time.Since(begin), 40*lockPatience/2, "each call waits")
	require.NoError(t, unix.Flock(other, unix.LOCK_UN))
	require.NoError(t, write(dir, files(3, 2)))
	assert.Equal(t, 3, generation(t, dir))
}

func TestWrite_refuses(t *testing.T) {
	dir := t.TempDir()
	for name, set := range map[string][]File{
		"twice":      {{info, nil}, {info, nil}},
		"path":       {{"../x", nil}, {info, nil}},
		"own name":   {{tempName(info, 0), nil}, {info, nil}},
		"directory":  {{"..", nil}, {info, nil}},
		"empty name": {{"", nil}, {info, nil}},
		"long name":  {{strings.Repeat("x", 241), nil}, {info, nil}},
		"NUL":        {{"a\x00b", nil}, {info, nil}},
		"many":       append(make([]File, maxFiles), File{info, nil}),
	} {
		err := write(dir, set)
		assert.Equal(t, fault.Argument, fault.KindOf(err), name)
		var e *WriteError
		require.ErrorAs(t, err, &e)
		assert.Equal(t, StepOpenData, e.Step)
	}
	assert.Empty(t, names(t, dir))
	long := strings.Repeat("x", 240)
	require.NoError(t, Write(dir, File{long, []byte("1")}, nil))
	gone := filepath.Join(dir, "gone")
	file := filepath.Join(dir, long)
	for _, path := range []string{gone, file, ""} {
		err := write(path, files(1, 1))
		var e *WriteError
		require.ErrorAs(t, err, &e, path)
		assert.Equal(t, StepDirectory, e.Step, path)
	}
	_, err := Read(gone, info, nil)
	assert.ErrorIs(t, err, ErrNone)
	_, err = Read(file, info, nil)
	assert.Equal(t, fault.File, fault.KindOf(err))
}

func TestRead_refusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(at("big"), make([]byte, 100), 0o600))
	require.NoError(t, os.Symlink("big", at("link")))
	require.NoError(t, os.Mkdir(at("dir"), 0o700))
	require.NoError(t, unix.Mkfifo(at("fifo"), 0o600))
	require.NoError(t, os.WriteFile(at("sparse"), nil, 0o600))
	require.NoError(t, os.Truncate(at("sparse"), 1<<40))
	require.NoError(t, os.WriteFile(at(info), []byte("x"), 0o600))
	read := func(name string, limit int64) ([][]byte, error) {
		return Read(dir, info, func([]byte) (Voucher, error) {
			return Voucher{
				Names: []string{name},
				Fits:  func(_ int, _ []byte, size int64) bool { return size <= limit },
				Good:  func(_ int, data []byte) bool { return len(data) == 100 },
			}, nil
		})
	}
	for _, name := range []string{"link", "dir", "fifo", "missing", "sparse", "big", info} {
		_, err := read(name, 99)
		require.Error(t, err, name)
		assert.Equal(t, fault.File, fault.KindOf(err), name)
	}
	_, err := read("../"+filepath.Base(dir)+"/big", 1000)
	assert.Equal(t, fault.Argument, fault.KindOf(err))
	data, err := read("big", 100)
	require.NoError(t, err)
	assert.Len(t, data[0], 100)
	for _, name := range []string{"link", "dir", "fifo", "sparse"} { // as the index
		_, err := Read(dir, name, nil)
		require.Error(t, err, name)
		assert.NotErrorIs(t, err, ErrNone, name)
	}
}

func TestWrite_replacesLinksNotTheirTargets(t *testing.T) {
	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "precious")
	require.NoError(t, os.WriteFile(other, []byte("precious"), 0o600))
	for _, name := range []string{info, "0.nncache", tempName(info, 0), journalTemp(info), journalName(info)} {
		require.NoError(t, os.Symlink(other, filepath.Join(dir, name)))
	}
	require.NoError(t, write(dir, files(1, 1)))
	assert.Equal(t, 1, generation(t, dir))
	data, err := os.ReadFile(other)
	require.NoError(t, err)
	assert.Equal(t, "precious", string(data))
}

func TestOpen_damagedJournal(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, write(dir, files(1, 2)))
	good := encodeJournal([]string{"0.nncache", info})
	evil := encodeJournal([]string{"../evil"})
	for i := -1; i < len(good); i++ {
		journal := evil
		if i >= 0 {
			journal = bytes.Clone(good)
			journal[i] ^= 1
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, journalName(info)), journal, 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, tempName(info, 0)), []byte("torn"), 0o600))
		require.Equal(t, 1, generation(t, dir), "byte %d", i)
	}
	require.NoError(t, write(dir, files(2, 2)))
	assert.Equal(t, 2, generation(t, dir))
	assert.Equal(t, []string{"0.nncache", "1.nncache", info}, names(t, dir))
}

func TestWrite_concurrentWritersAndReaders(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, write(dir, files(1, 3)))
	var wg sync.WaitGroup
	for w := range 3 {
		wg.Go(func() {
			for i := range 8 {
				err := write(dir, files(2+10*w+i, 3))
				for errors.Is(err, ErrBusy) { // the others had the lock throughout, as on a machine with much to do
					time.Sleep(time.Millisecond)
					err = write(dir, files(2+10*w+i, 3))
				}
				assert.NoError(t, err)
			}
		})
		wg.Go(func() {
			for range 20 {
				generation(t, dir)
			}
		})
	}
	wg.Wait()
	assert.Equal(t, []string{"0.nncache", "1.nncache", "2.nncache", info}, names(t, dir))
}
