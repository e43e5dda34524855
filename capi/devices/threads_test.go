package devices

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestThreads_ofTheProcess asks processes that were started with other settings: a number beyond the limit is ignored,
// as everywhere.
func TestThreads_ofTheProcess(t *testing.T) {
	const asked = "ANYNPU_TEST_THREADS"
	if os.Getenv(asked) != "" {
		fmt.Printf("threads %d\n", Threads())
		return
	}
	with := func(value string) string {
		cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), asked+"=1", "ANYNPU_THREADS="+value)
		out, err := cmd.Output()
		require.NoError(t, err)
		line, _, _ := strings.Cut(string(out), "\n")
		return line
	}
	usual := with("")
	assert.Equal(t, "threads 1", with("1"))
	assert.Equal(t, "threads 3", with("3"))
	assert.NotEqual(t, "threads 0", usual)
	for _, value := range []string{"1025", "9999", "0", "-1", "two"} {
		assert.Equal(t, usual, with(value), value)
	}
}
