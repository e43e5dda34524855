package built

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLibrary(t *testing.T) {
	for _, c := range []struct{ build, want string }{
		{"", "../../build/lib/x.so"},
		{"out/arm64", "../../out/arm64/lib/x.so"},
		{"/tmp/out", "/tmp/out/lib/x.so"},
	} {
		t.Setenv("BUILD", c.build)
		assert.Equal(t, c.want, Library("../..", "x.so"), "BUILD=%s", c.build)
	}
}
