package remote

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/internal/remote/fake"
)

func sharing(s *fake.Server) { s.Shared = true }

func inShared(r *dl.Remote) { r.SharedMemory, r.DeadlineMS = true, 60000 }

// linked are the files of shared memory that have a name, of the program that made one of those that this process has
// mapped: others may be tests' that run at the same time.
func linked(t testing.TB) (list []string) {
	all, err := filepath.Glob("/dev/shm/anynpu-*")
	require.NoError(t, err)
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	program := func(name string) string { return name[:strings.LastIndexByte(name, '-')] }
	mapped := map[string]bool{}
	for _, name := range all {
		var st unix.Stat_t
		if unix.Stat(name, &st) == nil && strings.Contains(string(maps), fmt.Sprintf(" %d ", st.Ino)) {
			mapped[program(name)] = true
		}
	}
	return slices.DeleteFunc(all, func(name string) bool { return !mapped[program(name)] })
}

// TestShared: tensors lie where the server reads and writes them, and nothing is left there or at the server.
func TestShared(t *testing.T) {
	s := start(t, nil, sharing)
	var made []string
	t.Run("runs", func(t *testing.T) {
		d, _ := open(t, manifest(inShared, s.GRPC()))
		for range 3 {
			j := prepare(t, d, twice(t, 50), 50)
			for i := range 4 {
				require.NoError(t, j.run(float32(i), device.RunRequest{}))
				j.right(float32(i))
			}
		}
		assert.Equal(t, 3, s.Regions())
		made = linked(t)
		assert.Len(t, made, 3)
		state, _, err := d.State(t.Context(), false)
		require.NoError(t, err)
		assert.Equal(t, int64(12), state[0].Runs)
		assert.Less(t, state[0].Sent, int64(12*500), "50 x 3 numbers are 600 bytes")
		assert.Less(t, state[0].Received, int64(12*600))
	})
	there := func(name string) bool {
		_, err := os.Stat(name)
		return !errors.Is(err, fs.ErrNotExist)
	}
	soon(t, func() bool { return s.Regions() == 0 && !slices.ContainsFunc(made, there) })
}

// TestShared_elsewhere: tensors go over the wire to a server that takes no shared memory, and to one that has lost it.
func TestShared_elsewhere(t *testing.T) {
	plain, other := start(t, nil), start(t, nil, sharing)
	d, _ := open(t, manifest(func(r *dl.Remote) { inShared(r); r.Choice = dl.ChoiceRoundRobin }, plain.GRPC(),
		other.GRPC(), other.REST()))
	j := prepare(t, d, twice(t, 4), 4)
	for i := range 12 {
		if i == 6 {
			other.Forget()
		}
		require.NoError(t, j.run(float32(i), device.RunRequest{}))
		j.right(float32(i))
	}
	assert.Positive(t, plain.Infers.Load())
	assert.Equal(t, 1, other.Regions(), "it has been registered again")
}

// TestShared_lost: a server that ends in the middle of a run may write to the memory afterwards, which no run has then.
func TestShared_lost(t *testing.T) {
	first, second := start(t, nil, sharing), start(t, nil, sharing)
	d, _ := open(t, manifest(inShared, first.GRPC(), second.GRPC()))
	failed, errs := crowd(t, d, 4, 25, first.Kill)
	assert.Zero(t, failed, "%v", errs)
	for _, f := range []fake.Fault{fake.Cut, fake.Broken, fake.WrongShape} {
		t.Run(fmt.Sprint(f), func(t *testing.T) {
			s := start(t, nil, sharing)
			d, _ := open(t, manifest(inShared, s.GRPC()))
			j := prepare(t, d, twice(t, 4), 4)
			require.NoError(t, j.run(1, device.RunRequest{}))
			s.Fault.Store(int32(f))
			require.Error(t, j.run(2, device.RunRequest{}))
			s.Fault.Store(int32(fake.None))
			soon(t, func() bool { return j.run(3, device.RunRequest{}) == nil })
			j.right(3)
			soon(t, func() bool { return s.Regions() == 1 })
		})
	}
}
