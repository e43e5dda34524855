package forms

import (
	"os"
	"testing"

	"github.com/anynpu/anynpu/conformance/onnx/node/nodetest"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/internal/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m, mem.LiveCounters)) }

func TestForms_agreeWithTheEvaluators(t *testing.T) { nodetest.Archive(t, Archive(), 4200) }
