package mem

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/cgroup"
	"github.com/anynpu/anynpu/core/fault"
)

const mib = 1 << 20

// limitTo leaves about n bytes to the library until the test ends.
func limitTo(t *testing.T, n int64) {
	debug.FreeOSMemory()
	u := measure()
	SetLimit(u.ours() + n)
	t.Cleanup(func() { SetLimit(0) })
}

func TestBudget_isATotal(t *testing.T) {
	limitTo(t, 256*mib)
	var held []Buffer
	for range 3 {
		b, err := Host(60*mib, Options{})
		require.NoError(t, err)
		held = append(held, b)
	}
	_, err := Memfd(100*mib, Options{})
	assert.Equal(t, fault.Memory, fault.KindOf(err))
	assert.ErrorContains(t, err, "ANYNPU_MEMORY_LIMIT")
	_, err = Make[float32](25 * mib)
	assert.Equal(t, fault.Memory, fault.KindOf(err))
	assert.Error(t, Fits(100*mib))
	held[0].Release()
	b, err := Memfd(100*mib, Options{})
	require.NoError(t, err, "what was released is free again")
	b.Release()
	for _, b := range held[1:] {
		b.Release()
	}
	v, err := Make[float32](25 * mib)
	require.NoError(t, err)
	runtime.KeepAlive(v)
	v = nil
	_, err = Make[byte](150 * mib)
	assert.NoError(t, err, "garbage is collected before a request is refused")
}

func TestBudget_isSharedByGoroutines(t *testing.T) {
	limitTo(t, 200*mib)
	var wg sync.WaitGroup
	var got atomic.Int64
	held := make([]Buffer, 16)
	for i := range held {
		wg.Go(func() {
			b, err := Host(30*mib, Options{})
			if err == nil {
				got.Add(1)
				held[i] = b
			}
		})
	}
	wg.Wait()
	assert.LessOrEqual(t, got.Load(), int64(7))
	assert.GreaterOrEqual(t, got.Load(), int64(4))
	for _, b := range held {
		if b != nil {
			b.Release()
		}
	}
}

func TestBudget_smallRequestsAddUp(t *testing.T) {
	limitTo(t, 128*mib)
	var held [][]byte
	for {
		v, err := Make[byte](1000)
		if err != nil {
			assert.Equal(t, fault.Memory, fault.KindOf(err))
			break
		}
		held = append(held, v)
		require.Less(t, len(held), 200_000)
	}
	assert.Greater(t, len(held), 40_000)
	runtime.KeepAlive(held)
}

func TestBudget_wrongSizes(t *testing.T) {
	for _, n := range []int{-1, 1 << 62, 1<<63 - 1} {
		_, err := Make[int64](n)
		assert.Equal(t, fault.Memory, fault.KindOf(err), "%d", n)
		assert.Equal(t, fault.Memory, fault.KindOf(Admit(int64(n))), "%d", n)
	}
	v, err := Make[struct{}](1 << 40)
	assert.NoError(t, err)
	assert.Len(t, v, 1<<40)
	b, err := Host(mib, Options{})
	require.NoError(t, err, "refusals leave no debt")
	b.Release()
}

// TestUncleared_accountsLikeMake: it has the length asked for and can be written, and is refused as Make is.
func TestUncleared_accountsLikeMake(t *testing.T) {
	for _, n := range []int{0, 1, 100, mib + 1} {
		v, err := Uncleared(n)
		require.NoError(t, err)
		assert.Len(t, v, n)
		for i := range v {
			v[i] = 0xff
		}
	}
	for _, n := range []int{-1, 1 << 62} {
		_, err := Uncleared(n)
		assert.ErrorIs(t, err, ErrExhausted, "%d", n)
	}
}

func TestGroups_smallestOfEachLevel(t *testing.T) {
	files := map[string]string{
		"/a/memory.max": "max\n", "/a/memory.high": "3000000\n", "/a/memory.current": "1000000\n",
		"/a/memory.stat": "anon 5\ninactive_file 400000\n",
		"/memory.max":    "5000000\n", "/memory.current": "900000\n",
		"memory/x/memory.limit_in_bytes": "2000000\n", "memory/x/memory.usage_in_bytes": "1999999\n",
		"memory/x/memory.stat":         "inactive_file 1\ntotal_inactive_file 99\n",
		"memory/memory.limit_in_bytes": "9223372036854771712\n", "memory/memory.usage_in_bytes": "12\n",
	}
	got := groups(cgroup.Dirs("3:cpu:/x\n2:memory:/x\n0::/a/b\n", "memory"),
		func(name string) string { return files[name] })
	assert.Equal(t, []bound{
		{"control group memory/x", 2000000, 100},
		{"control group /a", 3000000, 2400000}, {"control group /", 5000000, 4100000},
	}, got)
}

// A process with little address space, or little data, gets errors and lives.
func TestBudget_resourceLimits(t *testing.T) {
	if resource := os.Getenv("ANYNPU_TEST_RLIMIT"); resource != "" {
		useUp(resource)
		return
	}
	if raceDetector {
		t.Skip("SKIP: the race detector's own memory does not fit below a resource limit, and it ends the process then")
	}
	for _, resource := range []string{"as", "data"} {
		out := again(t, "ANYNPU_TEST_RLIMIT="+resource)
		assert.Contains(t, out, "refused 40 times", resource)
	}
}

// A process with little address space lives although it makes much garbage without requests.
func TestBudget_garbage(t *testing.T) {
	if room := os.Getenv("ANYNPU_TEST_ROOM"); room != "" {
		n, err := strconv.ParseInt(room, 10, 64)
		require.NoError(t, err)
		litter(n * mib)
		return
	}
	if raceDetector {
		t.Skip("SKIP: the race detector's own memory does not fit below a resource limit, and it ends the process then")
	}
	for room := 180; room <= 400; room += 40 {
		out := again(t, fmt.Sprintf("ANYNPU_TEST_ROOM=%d", room))
		assert.Contains(t, out, "refused after", "%d MiB", room)
	}
}

// again runs the test that calls it in a process of its own with a variable set, and returns what that printed.
func again(t *testing.T, variable string) string {
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	// As the library has it where RLIMIT_AS is set before the first call: a thread's arena takes 64 MiB of address space.
	cmd.Env = append(os.Environ(), variable, "MALLOC_ARENA_MAX=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s: %s", variable, out)
	return string(out)
}

// litter keeps small pieces of memory under a limit of room bytes more of address space than the process has, until
// they are refused. Beside each it drops some ten times as much.
func litter(room int64) {
	limit := uint64(processBytes()[0] + room)
	if err := unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		panic(err)
	}
	var kept [][]byte
	for {
		v, err := Make[byte](160)
		if err == nil && len(kept) == cap(kept) {
			var more [][]byte
			if more, err = Make[[]byte](2*cap(kept) + 1); err == nil {
				kept = append(more[:0], kept...)
			}
		}
		if err != nil {
			fmt.Println("refused after", len(kept))
			return
		}
		kept = append(kept, v)
		for i := range 8 {
			dropped = make([]byte, 100+40*i)
		}
	}
}

var dropped []byte

// useUp takes memory in many sizes under a limit of 600 MiB more than the process has.
func useUp(resource string) {
	n := processBytes()
	which, used := unix.RLIMIT_AS, n[0]
	if resource == "data" {
		which, used = unix.RLIMIT_DATA, n[5]
	}
	limit := uint64(used + 600*mib)
	if err := unix.Setrlimit(which, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		panic(err)
	}
	refused := 0
	var slices [][]byte
	var buffers []Buffer
	for i := 0; refused < 40; i++ {
		size := []int{100, 5000, 70_000, 2 * mib, 40 * mib, 130 * mib}[i*7%6] + i*13%977
		var err error
		if i%3 == 0 {
			var b Buffer
			if b, err = Host(int64(size), Options{}); err == nil {
				buffers = append(buffers, b)
			}
		} else {
			var v []byte
			if v, err = Make[byte](size); err == nil {
				slices = append(slices, v)
			}
		}
		if err != nil {
			refused++
			slices = slices[len(slices)/2:] // what is free lies in pieces
		}
	}
	for _, b := range buffers {
		b.Release()
	}
	fmt.Println("refused 40 times", len(slices), len(buffers))
}

func TestReserved_followsTheHeap(t *testing.T) {
	maps := `00400000-00500000 r-xp 00000000 00:00 0 /bin/x
3b3ddc000000-3b3dde400000 ---p 00000000 00:00 0
3b3dde400000-3b3dde800000 rw-p 00000000 00:00 0 [anon: Go: heap]
3b3dde800000-3b3de0000000 ---p 00000000 00:00 0
3b3de1000000-3b3de2000000 ---p 00000000 00:00 0
`
	in := func(address uint64) int64 { return reserved(mappingsAround(maps, address)) }
	assert.EqualValues(t, 0x3b3de0000000-0x3b3dde800000, in(0x3b3dde400010))
	assert.EqualValues(t, 0, in(0x400010))
	assert.EqualValues(t, 0, in(0x10))
	assert.Empty(t, mappingsAround("nonsense\n", 0x10))
	assert.Less(t, reserved(heapMappings()), int64(arenaBytes)+1)
}

func TestHeapRoom_largePiecesNeedAGap(t *testing.T) {
	const step = arenaBytes
	assert.EqualValues(t, 64*mib, heapRoom(10*mib, 100*mib, step, 0, 0, 0))
	assert.EqualValues(t, 0, heapRoom(10*mib, 60*mib, step, 0, 0, 40*mib))
	assert.EqualValues(t, 0, heapRoom(10*mib, -5, step, 3*mib, 0, 0))
	assert.EqualValues(t, 20*mib, heapRoom(10*mib, 0, step, 22*mib, 0, 40*mib))
	assert.EqualValues(t, 10*mib, heapRoom(10*mib, 0, step, 0, 10*mib, 40*mib))
	assert.EqualValues(t, 64*mib+20*mib+30*mib, heapRoom(1000, 100*mib, step, 22*mib, 0, 40*mib))
}

// A heap whose every second page is in use has no gap, however much of it is free; what one large object leaves is one.
func TestLargestGap(t *testing.T) {
	free := func() int64 {
		debug.FreeOSMemory()
		u := measure()
		return largestGap(heapMappings(), u.reusable)
	}
	before := free()
	pages := make([][]byte, 16<<10)
	for i := range pages {
		pages[i] = make([]byte, 8<<10)
		pages[i][0], pages[i][4<<10] = 1, 1
	}
	large := make([]byte, 48*mib)
	for i := 0; i < len(large); i += 4 << 10 {
		large[i] = 1
	}
	for i := range pages {
		if i%2 == 0 {
			pages[i] = nil
		}
	}
	assert.Less(t, free(), before+8*mib, "64 MiB are free, in pieces")
	runtime.KeepAlive(large)
	large = nil
	assert.GreaterOrEqual(t, free(), int64(40*mib))
	runtime.KeepAlive(pages)
}

func BenchmarkMeasure(b *testing.B) {
	for b.Loop() {
		accounts.Lock()
		tightest(1, true, false)
		accounts.Unlock()
	}
}

func BenchmarkAdmit(b *testing.B) {
	for b.Loop() {
		_ = Admit(1)
	}
}
