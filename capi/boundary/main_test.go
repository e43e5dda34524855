package boundary

import (
	"os"
	"testing"

	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/internal/leak"
)

func TestMain(m *testing.M) {
	os.Exit(leak.Run(m, map[string]func() int64{"handles": func() int64 { return int64(handle.Live()) }}))
}
