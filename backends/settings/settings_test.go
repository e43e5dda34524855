package settings

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/pool"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/logging"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/internal/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m, mem.LiveCounters)) }

// read reads an environment and returns the lines of the log.
func read(environment map[string]string) (CPU, string) {
	var lines strings.Builder
	c := Read(func(name string) string { return environment[name] }, func(component, message string, pairs ...any) {
		lines.WriteString(logging.Line(component, message, pairs))
	})
	return c, lines.String()
}

func TestRead_threads(t *testing.T) {
	const wrong = "cpu: value ignored ANYNPU_THREADS=%s want=\"1 to 1024\" [device-setting-ignored]\n"
	for value, want := range map[string]int{"1": 1, "1024": 1024, "": pool.DefaultThreads(), "0": pool.DefaultThreads(),
		"1025": pool.DefaultThreads(), "two": pool.DefaultThreads()} {
		c, lines := read(map[string]string{"ANYNPU_THREADS": value})
		assert.Equal(t, want, c.Threads, value)
		if value == "" || value == "1" || value == "1024" {
			assert.Empty(t, lines, value)
		} else {
			assert.Equal(t, strings.ReplaceAll(wrong, "%s", value), lines)
		}
	}
}

func TestRead_reference(t *testing.T) {
	for value, want := range map[string]bool{"": false, "auto": false, "ref": true, "REF": false} {
		c, lines := read(map[string]string{"ANYNPU_CPU": value})
		assert.Equal(t, want, c.Reference, value)
		assert.Equal(t, value == "REF", lines == "cpu: value ignored ANYNPU_CPU=REF want=\"auto or ref\" "+
			"[device-setting-ignored]\n", lines)
	}
}

func TestRead_instructions(t *testing.T) {
	supported := kernel.Supported()
	best := supported[len(supported)-1]
	for _, isa := range supported {
		c, lines := read(map[string]string{"ANYNPU_CPU_ISA": isa.String()})
		assert.Equal(t, isa, c.ISA)
		assert.Empty(t, lines)
	}
	c, lines := read(nil)
	assert.Equal(t, best, c.ISA)
	assert.Empty(t, lines)
	c, lines = read(map[string]string{"ANYNPU_CPU_ISA": "sse9"})
	assert.Equal(t, best, c.ISA)
	assert.Contains(t, lines, "cpu: value ignored ANYNPU_CPU_ISA=sse9 why=")
}

func TestRead_memory(t *testing.T) {
	for value, want := range map[string]int64{
		"": 0, "1": 1, "500000000": 500_000_000, "3K": 3 << 10, "512M": 512 << 20, "4G": 4 << 30,
		"0": 0, "-1": 0, "M": 0, "4T": 0, "4g": 0, "9000000000G": 0, "1.5G": 0,
	} {
		c, lines := read(map[string]string{"ANYNPU_MEMORY_LIMIT": value})
		assert.Equal(t, want, c.Memory, "%q", value)
		assert.Equal(t, want == 0 && value != "", lines != "", "%q: %s", value, lines)
	}
}

func TestRead_guard(t *testing.T) {
	for value, want := range map[string]bool{"": false, "guard": true, "on": false} {
		c, lines := read(map[string]string{"ANYNPU_MEM": value})
		assert.Equal(t, want, c.Guard, value)
		assert.Equal(t, value == "on", lines == "cpu: value ignored ANYNPU_MEM=on want=guard "+
			"[device-setting-ignored]\n", lines)
	}
}

func TestApply_holdsForTheProcess(t *testing.T) {
	before := kernel.Active()
	defer func() { require.NoError(t, (&CPU{ISA: before}).Apply()) }()
	require.NoError(t, (&CPU{ISA: kernel.Generic, Guard: true, Memory: 1}).Apply())
	assert.Equal(t, kernel.Generic, kernel.Active())
	assert.True(t, mem.Guarded())
	assert.ErrorContains(t, mem.Admit(1<<20), "ANYNPU_MEMORY_LIMIT")
}

func TestOrder_wantedFirst(t *testing.T) {
	var all []device.Device
	for _, id := range []string{"rknn", "ohnn", "cpu"} {
		d, err := cpu.New(cpu.Config{ID: id})
		require.NoError(t, err)
		all = append(all, d)
	}
	var lines strings.Builder
	tell := func(component, message string, pairs ...any) {
		lines.WriteString(logging.Line(component, message, pairs))
	}
	wanted := Wanted(func(name string) string {
		return map[string]string{"ANYNPU_DEVICE": " cpu ,,gpu,ohnn,cpu"}[name]
	})
	assert.Equal(t, []string{"cpu", "gpu", "ohnn", "cpu"}, wanted)
	assert.Equal(t, "cpu, ohnn, rknn", ids(Order(all, wanted, tell)))
	assert.Equal(t, "boundary: value ignored ANYNPU_DEVICE=gpu want=\"cpu, rknn, ohnn\" [device-setting-ignored]\n",
		lines.String())
	assert.Equal(t, "rknn, ohnn, cpu", ids(Order(all, nil, tell)))
}
