package suite

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Other people's libraries may lack operations; this project's has what the suites have.
func TestLacks_ofThisProjectsLibraryFails(t *testing.T) {
	ended := func(l *Library) (by any) {
		defer func() { by = recover() }()
		(&T{Library: l}).Lacks("%s is refused", "Add")
		return nil
	}
	theirs := &Library{calls: &calls{}}
	ours := &Library{calls: &calls{}, own: extras{version: 1}}
	assert.Equal(t, lacking("Add is refused"), ended(theirs))
	assert.Equal(t, violation("the library refuses what it has to compute: Add is refused"), ended(ours))
}
