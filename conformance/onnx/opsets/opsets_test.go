package opsets

import (
	"os"
	"testing"

	"github.com/anynpu/anynpu/conformance/onnx/node/nodetest"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/internal/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m, mem.LiveCounters)) }

func TestOpsets_agreeWithTheEvaluators(t *testing.T) {
	nodetest.Archive(t, Archive(), 500, "swiglu_half")
}
