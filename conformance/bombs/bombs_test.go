package bombs

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/internal/leak"
)

// A child is this program with the name of a bomb, the bytes of data that it may have, and whether it runs the model.
const childVariable = "ANYNPU_TEST_BOMB"

func TestMain(m *testing.M) {
	if job := os.Getenv(childVariable); job != "" {
		try(job)
		return
	}
	os.Exit(leak.Run(m, mem.LiveCounters))
}

func try(job string) {
	f := strings.Fields(job)
	n, err := strconv.ParseUint(f[1], 10, 64)
	if err == nil {
		err = Confine(n, n)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	d, err := cpu.New(cpu.Config{})
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	for _, b := range Known() {
		if b.Name != f[0] {
			continue
		}
		t := Trial{Seed: 1, Costly: true}
		if f[2] == "run" {
			t.Limit = time.Hour
		}
		o := Try(b.Model, d, t)
		var r unix.Rusage
		_ = unix.Getrusage(unix.RUSAGE_SELF, &r)
		fmt.Printf("stage=%s kind=%v costly=%v build=%v resident=%d MiB error=%v\n", o.Stage, fault.KindOf(o.Err),
			o.CostlyRun, o.Build, r.Maxrss>>10, o.Err)
	}
}

// child returns what a child says of a bomb. It must live, and speak before long.
func child(t *testing.T, b Bomb, bytes uint64, how string) string {
	t.Helper()
	if raceDetector {
		t.Skip("SKIP: the race detector takes memory that nobody asked for, and ends a process that has none left")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %s", childVariable, b.Name, bytes, how))
	killed := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	defer killed.Stop()
	out, err := cmd.CombinedOutput()
	text := string(out[:min(len(out), 3000)])
	require.NoError(t, err, "%s", text)
	t.Log(text)
	return text
}

func TestKnown_areBuiltOrRefusedInLittleMemory(t *testing.T) {
	for _, b := range Known() {
		t.Run(b.Name, func(t *testing.T) {
			require.Less(t, len(b.Model), 600)
			got := child(t, b, 256<<20, "build")
			assert.Regexp(t, "^stage=(import|build) ", got)
			assert.Regexp(t, "error=<nil>|kind=(memory|unsupported) ", got)
		})
	}
}

func TestKnown_runsEndWithAnErrorOfMemory(t *testing.T) {
	for _, b := range Known() {
		if b.Runs {
			t.Run(b.Name, func(t *testing.T) {
				got := child(t, b, 300<<20, "run")
				assert.Contains(t, got, "stage=run kind=memory")
				assert.Regexp(t, "(output|carried value) [01]:", got, "the message says where")
			})
		}
	}
}

func TestRandom_isTheSameForASeed(t *testing.T) {
	assert.Equal(t, Random(7), Random(7))
	assert.NotEqual(t, Random(7), Random(8))
}
