package record

import (
	"os"
	"testing"

	"github.com/anynpu/anynpu/internal/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m, nil)) }
