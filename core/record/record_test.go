package record

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// create begins a record that ends with the test; that of a program lasts as long as the process.
func create(t *testing.T, folder string, functions ...string) *Recorder {
	r, err := Create(folder, functions)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, unix.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(&r.counts[0])), 8*len(r.counts))))
	})
	return r
}

// recorded is a folder with the record of a process that two goroutines have run in.
func recorded(t *testing.T) string {
	folder := t.TempDir()
	r := create(t, folder, "a_init", "a_run", "a_never")
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			for i := range 100 {
				atomic.AddUint64(&r.Calls()[1], 1)
				if i%10 == 0 {
					r.Refused(1, "a_run", "context: NULL", "argument-null")
				}
			}
		})
	}
	both.Wait()
	atomic.AddUint64(&r.Calls()[0], 1)
	r.Message("warn", "a", "odd <x>")
	for range 2 {
		r.Loaded(Model{Name: "m.onnx", Bytes: 9, Instead: "m.rknn", Targets: []string{"rk3588"}})
		ran := r.Graph(Graph{Name: "g", Devices: []Device{{"npu", 3}, {"cpu", 1}}})
		ran(4*time.Millisecond, nil)
		ran(2*time.Millisecond, nil)
		ran(time.Hour, errors.New("failed"))
	}
	require.NotNil(t, r.Graph(Graph{Name: "idle"}))
	return folder
}

func TestReadFolder_givesWhatWasWritten(t *testing.T) {
	folder := recorded(t)
	all, missing, err := ReadFolder(folder)
	assert.Zero(t, missing)
	require.NoError(t, err)
	require.Len(t, all, 1)
	p := all[0]
	assert.Equal(t, os.Getpid(), p.PID)
	assert.Equal(t, os.Args, p.Program)
	assert.Equal(t, []Function{{"a_init", 1, 0, nil}, {"a_run", 200, 20, nil}}, p.Functions)
	require.Len(t, p.Refused, 1)
	assert.Equal(t, uint64(20), p.Refused[0].Times)
	assert.Equal(t, "argument-null", p.Refused[0].ID)
	require.Len(t, p.Messages, 1)
	assert.Equal(t, "odd <x>", p.Messages[0].Text)
	require.Len(t, p.Models, 1)
	assert.Equal(t, uint64(2), p.Models[0].Times)
	assert.Equal(t, "m.rknn", p.Models[0].Instead)
	require.Len(t, p.Graphs, 2)
	g := p.Graphs[0]
	assert.Equal(t, []uint64{4, 2}, []uint64{g.Runs, g.Failed})
	assert.Equal(t, []time.Duration{3 * time.Millisecond, 2 * time.Millisecond, 4 * time.Millisecond},
		[]time.Duration{g.Mean, g.Least, g.Most})
	assert.Zero(t, p.Graphs[1].Runs)
	assert.Nil(t, p.Left, "the process has not ended")
}

func TestReadFolder_twoProgramsOfOneProcess(t *testing.T) {
	folder := recorded(t)
	r := create(t, folder, "b")
	r.End(Left{Objects: []string{"b.Thing 2"}, Buffers: 1, Bytes: 4096})
	all, missing, err := ReadFolder(folder)
	assert.Zero(t, missing)
	require.NoError(t, err)
	require.Len(t, all, 2)
	assert.Nil(t, all[0].Left)
	assert.Equal(t, &Left{Objects: []string{"b.Thing 2"}, Buffers: 1, Bytes: 4096}, all[1].Left)
}

func TestRecorder_leavesOutWhatThereIsNoRoomFor(t *testing.T) {
	folder := t.TempDir()
	r := create(t, folder, "f")
	r.Calls()[0] = maxEvents + 20
	for i := range maxEvents + 10 {
		r.Refused(0, "f", string(rune('a'+i%26))+time.Duration(i).String(), "a-b")
	}
	for i := range maxGraphs + 10 {
		ran := r.Graph(Graph{Name: time.Duration(i).String()})
		assert.Equal(t, i < maxGraphs, ran != nil, i)
	}
	all, missing, err := ReadFolder(folder)
	assert.Zero(t, missing)
	require.NoError(t, err)
	assert.Len(t, all[0].Refused, maxEvents)
	assert.Equal(t, []Function{{"f", maxEvents + 20, maxEvents + 10, nil}}, all[0].Functions,
		"numbers of calls are complete")
	assert.Len(t, all[0].Graphs, maxGraphs)
}

func TestCreate_refusesAFolderThatIsNone(t *testing.T) {
	_, err := Create(filepath.Join(t.TempDir(), "none"), []string{"f"})
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// A record is cut where its process is killed, and is an error or a shorter record, never a panic, whatever is in it.
func TestReadFolder_bearsAnyContent(t *testing.T) {
	folder := recorded(t)
	names, err := filepath.Glob(filepath.Join(folder, "*.events"))
	require.NoError(t, err)
	whole, err := os.ReadFile(names[0])
	require.NoError(t, err)
	step := 1
	if testing.Short() {
		step = 7
	}
	for n := 0; n < len(whole); n += step {
		require.NoError(t, os.WriteFile(names[0], whole[:n], 0o600))
		_, _, err := ReadFolder(folder)
		require.NoError(t, err, "the first %d bytes", n)
	}
	for n := 0; n < len(whole); n += step {
		bad := []byte{0, '9', '"', '}'}[n%4]
		changed := append([]byte{}, whole...)
		changed[n] = bad
		require.NoError(t, os.WriteFile(names[0], changed, 0o600))
		assert.NotPanics(t, func() { _, _, _ = ReadFolder(folder) }, "byte %d is %q", n, bad)
	}
	require.NoError(t, os.WriteFile(names[0], whole, 0o600))
	require.NoError(t, os.Truncate(names[0][:len(names[0])-len("events")]+"counts", 8))
	_, _, err = ReadFolder(folder)
	assert.ErrorContains(t, err, "does not begin as a record does")
}

// inChild computes the test in a process of its own and returns false there alone: what limits files must not limit the
// log that the Go command has a test process write.
func inChild(t *testing.T) bool {
	if os.Getenv("ANYNPU_TEST_CHILD") == t.Name() {
		return false
	}
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), "ANYNPU_TEST_CHILD="+t.Name())
	out, err := child.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return true
}

// limited lets files have at most so many bytes until the test ends, as a disk that is full does.
func limited(t *testing.T, bytes uint64) {
	var old unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_FSIZE, &old))
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: bytes, Max: old.Max}))
	t.Cleanup(func() { require.NoError(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &old)) })
}

func TestCreate_withoutRoom(t *testing.T) {
	if inChild(t) {
		return
	}
	folder := t.TempDir()
	limited(t, 8*uint64(words(1))-1) // less than the counters
	_, err := Create(folder, []string{"a"})
	require.ErrorIs(t, err, unix.EFBIG)
	all, missing, err := ReadFolder(folder)
	require.NoError(t, err)
	assert.Empty(t, all)
	assert.Equal(t, 1, missing)
	counts, err := filepath.Glob(filepath.Join(folder, "*.counts"))
	require.NoError(t, err)
	assert.Empty(t, counts)
}

// What does not fit is logged once and counted; what was written before stays.
func TestRecorder_withoutRoom(t *testing.T) {
	if inChild(t) {
		return
	}
	folder := t.TempDir()
	limited(t, 8*uint64(words(1)))
	r := create(t, folder, "a")
	told := 0
	r.Failed = func(err error) {
		told++
		assert.ErrorIs(t, err, unix.EFBIG)
		r.Message("error", "boundary", "incomplete") // as the log does
	}
	r.Refused(0, "a", "the first", "a-b")
	long := string(make([]byte, 8*words(1)))
	r.Refused(0, "a", long, "a-b")
	r.Loaded(Model{Name: long})
	r.Graph(Graph{Name: long})(time.Second, nil)
	r.Refused(0, "a", "the last", "a-b")
	r.End(Left{})
	all, missing, err := ReadFolder(folder)
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.Zero(t, missing)
	assert.Equal(t, 1, told)
	assert.Equal(t, uint64(3), all[0].Lost)
	var texts []string
	for _, c := range all[0].Refused {
		texts = append(texts, c.Text)
	}
	assert.Equal(t, []string{"the first", "the last"}, texts)
	assert.NotNil(t, all[0].Left)
}

// The counters have all their blocks: a hole could not be filled once the disk is full.
func TestCreate_leavesNoHole(t *testing.T) {
	folder := t.TempDir()
	create(t, folder, "a")
	names, err := filepath.Glob(filepath.Join(folder, "*.counts"))
	require.NoError(t, err)
	require.Len(t, names, 1)
	var st unix.Stat_t
	require.NoError(t, unix.Stat(names[0], &st))
	assert.Equal(t, int64(8*words(1)), st.Size)
	assert.GreaterOrEqual(t, 512*st.Blocks, st.Size)
}
