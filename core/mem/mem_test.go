package mem

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/leak"
)

// TestMain checks that all tests together leave no buffer and no descriptor behind.
func TestMain(m *testing.M) {
	if os.Getenv("MEM_OVERRUN") != "" {
		overrun(os.Getenv("MEM_OVERRUN"))
	}
	os.Exit(leak.Run(m, LiveCounters))
}

func bytesOf(t *testing.T, b Buffer) []byte {
	data, err := b.Map()
	require.NoError(t, err)
	return data
}

func TestHost_alignment(t *testing.T) {
	for _, guard := range []bool{false, true} {
		SetGuard(guard)
		for _, size := range []int64{0, 1, 63, 4096, 4097, 3 << 20} {
			for _, align := range []int64{0, 64, 4096, 1 << 20} {
				b, err := Host(size, Options{Align: align, Huge: size > 1<<20})
				require.NoError(t, err)
				data := bytesOf(t, b)
				assert.Len(t, data, int(size))
				want := max(align, MinAlign)
				if guard {
					want = 8
				}
				assert.Zero(t, int64(uintptr(unsafe.Pointer(unsafe.SliceData(data))))%want, "size %d align %d guard %v", size,
					align, guard)
				for i := range data {
					data[i] = 1
				}
				b.Release()
			}
		}
	}
	SetGuard(false)
}

func TestHost_refuses(t *testing.T) {
	for name, c := range map[string]struct {
		size int64
		o    Options
		kind fault.Kind
	}{
		"negative":                      {-1, Options{}, fault.Argument},
		"align 3":                       {8, Options{Align: 3}, fault.Argument},
		"align 4 MiB":                   {8, Options{Align: 4 << 20}, fault.Argument},
		"larger than the address space": {1 << 60, Options{}, fault.Memory},
		"overflow":                      {1<<63 - 1, Options{}, fault.Memory},
	} {
		_, err := Host(c.size, c.o)
		assert.Error(t, err, name)
		assert.Equal(t, c.kind, fault.KindOf(err), name)
		_, err = Memfd(c.size, c.o)
		assert.Error(t, err, name)
		assert.Equal(t, c.kind, fault.KindOf(err), name)
	}
}

func TestMemfd_sharedAndSealed(t *testing.T) {
	for _, guard := range []bool{false, true} {
		SetGuard(guard)
		b, err := Memfd(10000, Options{Name: "test"})
		require.NoError(t, err)
		fd, off, ok := b.FD()
		require.True(t, ok)
		assert.Zero(t, off)
		assert.Equal(t, unix.EPERM, unix.Ftruncate(fd, 0))
		assert.Equal(t, unix.EPERM, unix.Ftruncate(fd, 1<<20))
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		require.NoError(t, err)
		assert.NotZero(t, flags&unix.FD_CLOEXEC)

		peer, err := ImportFD(fd, 5001, 4000, false) // not page aligned
		require.NoError(t, err)
		b.Release() // the import owns a duplicate
		bytesOf(t, peer)[0] = 42
		fd, off, ok = peer.FD()
		require.True(t, ok)
		assert.EqualValues(t, 5001, off)
		again, err := ImportFD(fd, 5001, 1, true)
		require.NoError(t, err)
		assert.Equal(t, []byte{42}, bytesOf(t, again))
		peer.Release()
		again.Release()
	}
	SetGuard(false)
}

func TestMemfd_zeroSizeAndHuge(t *testing.T) {
	for _, size := range []int64{0, 3 << 20} {
		b, err := Memfd(size, Options{Huge: true})
		require.NoError(t, err)
		data := bytesOf(t, b)
		assert.Len(t, data, int(size))
		for i := range data {
			data[i] = 7
		}
		b.Release()
	}
}

func TestImportFD_refuses(t *testing.T) {
	b, err := Memfd(100, Options{})
	require.NoError(t, err)
	defer b.Release()
	fd, _, _ := b.FD()
	var p [2]int
	require.NoError(t, unix.Pipe2(p[:], unix.O_CLOEXEC))
	defer unix.Close(p[0])
	defer unix.Close(p[1])
	for name, c := range map[string]struct {
		fd           int
		offset, size int64
	}{
		"bad descriptor":  {-1, 0, 1},
		"unused":          {900, 0, 1},
		"pipe":            {p[0], 0, 1},
		"too long":        {fd, 0, 101},
		"behind the end":  {fd, 101, 0},
		"offset and size": {fd, 50, 51},
		"negative offset": {fd, -1, 1},
		"negative size":   {fd, 0, -1},
		"overflow":        {fd, 1<<63 - 1, 1<<63 - 1},
	} {
		_, err := ImportFD(c.fd, c.offset, c.size, false)
		require.Error(t, err, name)
		assert.Equal(t, fault.Argument, fault.KindOf(err), "%s: %v", name, err)
	}
	ro, err := os.Open("/proc/self/fd/" + strconv.Itoa(fd))
	require.NoError(t, err)
	defer ro.Close()
	link, err := unix.Open(ro.Name(), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	require.NoError(t, err)
	defer unix.Close(link)
	_, err = ImportFD(link, 0, 100, false)
	assert.Equal(t, fault.Argument, fault.KindOf(err), "writing through a read-only descriptor: %v", err)
	in, err := ImportFD(link, 0, 100, true)
	require.NoError(t, err)
	in.Release()
}

func TestBorrow_callsFreeOnce(t *testing.T) {
	freed := 0
	b := Borrow(make([]byte, 8), func() { freed++ })
	b.Retain()
	b.Release()
	assert.Zero(t, freed)
	b.Release()
	assert.Equal(t, 1, freed)
	assert.Panics(t, func() { b.Release() })
	assert.Panics(t, func() { b.Retain() })
}

func TestSub_keepsParent(t *testing.T) {
	b, err := Memfd(256, Options{})
	require.NoError(t, err)
	s, err := Sub(b, 64, 32)
	require.NoError(t, err)
	_, err = Sub(b, 250, 7)
	assert.Equal(t, fault.Argument, fault.KindOf(err))
	bytesOf(t, b)[64] = 9
	b.Release()
	assert.EqualValues(t, 9, bytesOf(t, s)[0])
	fd, off, ok := s.FD()
	assert.True(t, ok && fd >= 0)
	assert.EqualValues(t, 64, off)
	assert.Error(t, s.Sync(ToDevice, 30, 3))
	s.Release()
}

// remote is memory that only transfers reach.
type remote struct {
	Buffer
	mem []byte
}

func (r *remote) Map() ([]byte, error) { return nil, ErrUnmappable }
func (r *remote) CopyIn(off int64, src []byte) error {
	copy(r.mem[off:], src)
	return nil
}
func (r *remote) CopyOut(dst []byte, off int64) error {
	copy(dst, r.mem[off:])
	return nil
}

func newRemote(n int) *remote {
	m := make([]byte, n)
	return &remote{Buffer: Borrow(m, nil), mem: m}
}

func TestCopy_betweenKinds(t *testing.T) {
	const n = 1<<20 + 100
	make1 := map[string]func() Buffer{
		"host": func() Buffer {
			b, err := Host(n, Options{})
			require.NoError(t, err)
			return b
		},
		"remote": func() Buffer { return newRemote(n) },
		"part of remote": func() Buffer {
			r := newRemote(n + 20)
			defer r.Release()
			s, err := Sub(r, 10, n)
			require.NoError(t, err)
			return s
		},
	}
	want := make([]byte, n-7)
	for i := range want {
		want[i] = byte(i * 7)
	}
	for from, mk := range make1 {
		for to, mk2 := range make1 {
			a, b := mk(), mk2()
			require.NoError(t, Write(a, 7, want), from)
			require.NoError(t, Copy(b, 3, a, 7, int64(len(want))), "%s to %s", from, to)
			got := make([]byte, len(want))
			require.NoError(t, Read(got, b, 3))
			assert.Equal(t, want, got, "%s to %s", from, to)
			assert.Error(t, Copy(b, 8, a, 7, int64(len(want))))
			assert.Error(t, Read(got, b, 8))
			assert.Error(t, Write(b, 8, got))
			a.Release()
			b.Release()
		}
	}
}

func TestView_strided(t *testing.T) {
	// A 2x3 int16 matrix stored column-major, with one spare element per column.
	v := View{Buf: Borrow(make([]byte, 64), nil), Off: 2, Type: tensor.T(tensor.Int16, 2, 3), Strides: []int64{1, 3}}
	defer v.Buf.Release()
	span, err := v.Span()
	require.NoError(t, err)
	assert.EqualValues(t, 16, span) // elements 0,1 . 3,4 . 6,7
	dense := []byte{1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0}
	require.NoError(t, v.Store(dense))
	data := bytesOf(t, v.Buf)
	assert.Equal(t, []byte{0, 0, 1, 0, 4, 0, 0, 0, 2, 0, 5, 0, 0, 0, 3, 0, 6, 0}, data[:18])
	got := make([]byte, 12)
	require.NoError(t, v.Load(got))
	assert.Equal(t, dense, got)
	assert.False(t, v.Contiguous())
	v.Strides = []int64{3, 1}
	assert.True(t, v.Contiguous())

	far := newRemote(64)
	defer far.Release()
	w := View{Buf: far, Off: 2, Type: v.Type, Strides: []int64{1, 3}}
	require.NoError(t, w.Store(dense))
	assert.Equal(t, data, far.mem)
	clear(got)
	require.NoError(t, w.Load(got))
	assert.Equal(t, dense, got)
}

func TestView_refuses(t *testing.T) {
	b := Borrow(make([]byte, 16), nil)
	defer b.Release()
	f := tensor.Float32
	for name, c := range map[string]struct {
		v    View
		kind fault.Kind
	}{
		"too small":       {View{Buf: b, Type: tensor.T(f, 5)}, fault.Memory},
		"offset":          {View{Buf: b, Off: 4, Type: tensor.T(f, 4)}, fault.Memory},
		"negative offset": {View{Buf: b, Off: -1, Type: tensor.T(f, 1)}, fault.Memory},
		"no buffer":       {View{Type: tensor.T(f, 1)}, fault.Memory},
		"unknown size":    {View{Buf: b, Type: tensor.Type{DType: f, Shape: tensor.AnyOfRank(1)}}, fault.Shape},
		"overflow":        {View{Buf: b, Type: tensor.T(f, 1<<40, 1<<40)}, fault.Shape},
		"stride":          {View{Buf: b, Type: tensor.T(f, 2, 2), Strides: []int64{4, 1}}, fault.Memory},
		"stride count":    {View{Buf: b, Type: tensor.T(f, 2, 2), Strides: []int64{1}}, fault.Shape},
		"stride overflow": {View{Buf: b, Type: tensor.T(f, 3, 3), Strides: []int64{1 << 61, 1 << 61}}, fault.Shape},
		"negative stride": {View{Buf: b, Type: tensor.T(f, 2), Strides: []int64{-1}}, fault.Shape},
		"strided int4":    {View{Buf: b, Type: tensor.T(tensor.Int4, 2), Strides: []int64{2}}, fault.Shape},
	} {
		_, err := c.v.Span()
		require.Error(t, err, name)
		assert.Equal(t, c.kind, fault.KindOf(err), "%s: %v", name, err)
	}
}

// overrun writes in guard mode as far behind a buffer as how says; "page" must die of a fault, "slack" of the check
// when it is freed.
func overrun(how string) {
	SetGuard(true)
	b, err := Host(13, Options{})
	if err != nil {
		os.Exit(3)
	}
	data, _ := b.Map()
	n := map[string]int{"page": 16, "slack": 13, "none": 12}[how]
	unsafe.Slice(unsafe.SliceData(data), 4096)[n] = 1
	b.Release()
	os.Exit(0)
}

func TestSetGuard_catchesOverruns(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("guard pages are tested on Linux only")
	}
	for how, want := range map[string]string{"page": "unexpected fault address",
		"slack": "bytes behind a buffer were written", "none": ""} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "MEM_OVERRUN="+how)
		out, err := cmd.CombinedOutput()
		assert.Equal(t, want != "", err != nil, how)
		assert.Contains(t, string(out), want, how)
	}
}
