package mem

import (
	"bytes"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/fault"
)

func shareable(t *testing.T, size int64) Buffer {
	b, err := Shareable(size, Options{})
	require.NoError(t, err)
	return b
}

// mappings counts the process's mappings, and those that name what.
func mappings(t *testing.T, what string) (all, named int) {
	data, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	return bytes.Count(data, []byte("\n")), strings.Count(string(data), what)
}

// TestShareable_randomLives compares thousands of buffers of random sizes, some shared, with copies of what was written
// to them: slots do not overlap, begin with zeros at a page, and sharing one keeps its bytes and its address.
func TestShareable_randomLives(t *testing.T) {
	type life struct {
		b     Buffer
		bytes []byte
		want  byte
		map2  []byte // of the descriptor
	}
	random := rand.New(rand.NewPCG(1, 2))
	var alive []life
	drop := func(i int) {
		l := alive[i]
		for k, v := range l.bytes {
			if v != l.want {
				require.Equal(t, l.want, v, "byte %d of %d", k, len(l.bytes))
			}
		}
		if l.map2 != nil {
			assert.True(t, bytes.Equal(l.bytes, l.map2))
			require.NoError(t, unix.Munmap(l.map2))
		}
		l.b.Release()
		alive[i] = alive[len(alive)-1]
		alive = alive[:len(alive)-1]
	}
	for step := range 6000 {
		switch n := random.IntN(10); {
		case n < 5 && len(alive) < 800:
			size := int64(1) + random.Int64N(1<<(4+random.IntN(14)))
			if step%500 == 0 {
				size = slotLimit - 1 + random.Int64N(3)
			}
			b := shareable(t, size)
			l := life{b: b, bytes: bytesOf(t, b), want: byte(step)}
			require.Len(t, l.bytes, int(size))
			require.Zero(t, int64(uintptr(unsafe.Pointer(&l.bytes[0])))%pageSize)
			require.Zero(t, len(bytes.Trim(l.bytes, "\x00")), "memory of others was handed out")
			for k := range l.bytes {
				l.bytes[k] = l.want
			}
			alive = append(alive, l)
		case n < 7 && len(alive) > 0:
			l := &alive[random.IntN(len(alive))]
			fd, err := Share(l.b)
			require.NoError(t, err)
			if l.map2 == nil {
				l.map2, err = unix.Mmap(fd, 0, len(l.bytes), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
				require.NoError(t, err)
				assert.True(t, bytes.Equal(l.bytes, l.map2))
			}
			l.want++ // one half by each mapping
			for k := range l.bytes {
				if k%2 == 0 {
					l.bytes[k] = l.want
				} else {
					l.map2[k] = l.want
				}
			}
		case len(alive) > 0:
			drop(random.IntN(len(alive)))
		}
	}
	for len(alive) > 0 {
		drop(0)
	}
	for class := range slabs.free {
		assert.Empty(t, slabs.free[class], "a slab without slots in use is left")
	}
}

func TestShare_file(t *testing.T) {
	for _, size := range []int64{0, 1, 4096, 100_000, 3 << 20} {
		b := shareable(t, size)
		_, _, ok := b.FD()
		assert.False(t, ok, "a descriptor that nobody asked for")
		part, err := Sub(b, size/2, size-size/2)
		require.NoError(t, err)
		fd, err := Share(b)
		require.NoError(t, err)
		again, err := Share(b)
		require.NoError(t, err)
		assert.Equal(t, fd, again)
		var st unix.Stat_t
		require.NoError(t, unix.Fstat(fd, &st))
		assert.Equal(t, max(size, 1), st.Size)
		assert.Error(t, unix.Ftruncate(fd, size+10), "the size is sealed")
		partFD, off, ok := part.FD()
		assert.Equal(t, [3]any{fd, size / 2, true}, [3]any{partFD, off, ok})
		part.Release()
		b.Release()
		assert.Error(t, unix.Fstat(fd, &st), "the descriptor outlives the memory")
	}
}

func TestShare_refuses(t *testing.T) {
	host, err := Host(10, Options{})
	require.NoError(t, err)
	defer host.Release()
	_, err = Share(host)
	assert.Equal(t, fault.Unsupported, fault.KindOf(err))
	b := shareable(t, 10)
	defer b.Release()
	bytesOf(t, b)[9] = 7
	var old unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &old))
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: old.Max}))
	_, err = Share(b)
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &old))
	assert.Equal(t, fault.Memory, fault.KindOf(err))
	_, err = Share(b)
	require.NoError(t, err, "the next call may succeed")
	assert.Equal(t, byte(7), bytesOf(t, b)[9])
}

// TestShareable_mappings: pieces cost no mapping each, also while others come and go that are put into files.
func TestShareable_mappings(t *testing.T) {
	before, _ := mappings(t, "")
	var all []Buffer
	for range 20_000 {
		all = append(all, shareable(t, 8))
	}
	now, _ := mappings(t, "")
	assert.Less(t, now-before, 200, "mappings of 20,000 pieces")
	for i := 0; i < len(all); i += 2 {
		_, err := Share(all[i])
		require.NoError(t, err)
		all[i].Release()
		all[i] = shareable(t, 8)
	}
	for _, b := range all {
		b.Release()
	}
	now, left := mappings(t, "/dev/zero")
	assert.Less(t, now-before, 50)
	assert.Zero(t, left, "slabs that are left")
}

// TestShareable_givesMemoryBack: what was written goes back to the system when a piece ends, though its slab lives on.
func TestShareable_givesMemoryBack(t *testing.T) {
	keep := shareable(t, 1<<20)
	defer keep.Release()
	shmem := func() int {
		data, err := os.ReadFile("/proc/self/status")
		require.NoError(t, err)
		_, rest, _ := strings.Cut(string(data), "RssShmem:")
		kb := 0
		for _, c := range strings.TrimLeft(rest, " \t") {
			if c < '0' || c > '9' {
				break
			}
			kb = 10*kb + int(c-'0')
		}
		return kb
	}
	before := shmem()
	for share := range 2 {
		b := shareable(t, 1<<20)
		data := bytesOf(t, b)
		for i := range data {
			data[i] = 1
		}
		if share == 1 {
			_, err := Share(b)
			require.NoError(t, err)
		}
		assert.Equal(t, byte(1), data[len(data)-1])
		b.Release()
		assert.Less(t, shmem()-before, 512, "KiB left of 1024")
	}
}

// TestShare_waitsForRuns: the bytes are not moved between Begin and End, and runs that begin meanwhile wait.
func TestShare_waitsForRuns(t *testing.T) {
	b := shareable(t, 64)
	defer b.Release()
	views := []View{{Buf: b}, {Buf: b}, {}}
	Begin(views, views[:1])
	shared := make(chan int)
	go func() {
		fd, err := Share(b)
		assert.NoError(t, err)
		shared <- fd
	}()
	p := b.(*buffer).pages
	for waits := 0; waits == 0; time.Sleep(time.Millisecond) {
		moves.mu.Lock()
		waits = p.wait
		moves.mu.Unlock()
	}
	var later sync.WaitGroup
	began := make(chan struct{})
	later.Go(func() {
		Begin(views)
		close(began)
		End(views)
	})
	select {
	case <-shared:
		t.Fatal("the bytes were moved while a run used them")
	case <-began:
		t.Fatal("a run began although the bytes are to be moved")
	case <-time.After(20 * time.Millisecond):
	}
	bytesOf(t, b)[5] = 9
	End(views, views[:1])
	fd := <-shared
	later.Wait()
	var got [1]byte
	_, err := unix.Pread(fd, got[:], 5)
	require.NoError(t, err)
	assert.Equal(t, byte(9), got[0])
}

func BenchmarkShareable(b *testing.B) {
	for b.Loop() {
		x, err := Shareable(4096, Options{})
		if err != nil {
			b.Fatal(err)
		}
		x.Release()
	}
}

func BenchmarkMemfd(b *testing.B) {
	for b.Loop() {
		x, err := Memfd(4096, Options{})
		if err != nil {
			b.Fatal(err)
		}
		x.Release()
	}
}
