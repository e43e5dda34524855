package hbucp

import (
	"maps"
	"os"
	"testing"

	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/internal/leak"
)

func TestMain(m *testing.M) {
	counters := maps.Clone(mem.LiveCounters)
	counters["handles"] = func() int64 { return int64(handle.Live()) }
	os.Exit(leak.Run(m, counters))
}
