package hbdnn

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/capi/hb"
	"github.com/anynpu/anynpu/core/fault"
)

// Which of the three kinds an error has is the library's own matter: argued.txt of the bugs of semantics rests on it.
func TestCodes_oneForWhatIsWrongInItself(t *testing.T) {
	assert.Equal(t, hb.KindCodes[fault.Argument], hb.KindCodes[fault.Shape])
	assert.Equal(t, hb.KindCodes[fault.Argument], hb.KindCodes[fault.Type])
}
