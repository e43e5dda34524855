//go:build !race

// Type-checking the library takes a minute with the race detector, which has nothing to find in it.

package semantics

import (
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asTheyAre has the sources of the repository, which are type-checked once for all tests.
var asTheyAre = sync.OnceValues(func() (*loader, error) {
	root, err := filepath.Abs("../../..")
	return newLoader(root, nil), err
})

// The mutants must fit the sources as they are: patches apply, and the library with all of them still type-checks.
func TestMutants_fitTheSources(t *testing.T) {
	sources, err := asTheyAre()
	require.NoError(t, err)
	made, err := mutants(sources, 1, Scope{})
	require.NoError(t, err)
	perArea := map[string]int{}
	for _, m := range made {
		perArea[m.Area]++
	}
	assert.GreaterOrEqual(t, len(made), 150)
	for _, a := range Areas {
		assert.GreaterOrEqual(t, perArea[a.Name], 30, "%s: the areas have similar numbers of mutants", a.Name)
	}
	ids := map[string]bool{}
	for _, m := range made {
		ids[m.ID] = true
	}
	argued, err := Argued()
	require.NoError(t, err)
	for _, a := range argued { // what is made from the syntax may belong to another seed, or come back
		for _, m := range a.members {
			assert.True(t, ids[m.id] || strings.Contains(m.id, ":"), "argued.txt explains %s, which there is not", m.id)
		}
	}
	files, err := Overlay(sources.root, made)
	require.NoError(t, err)
	l := newLoader(sources.root, files)
	for name := range files {
		p, err := l.load(path.Dir(name))
		require.NoError(t, err)
		assert.NoError(t, p.err)
	}
}

func TestMutants_ofFolders(t *testing.T) {
	sources, err := asTheyAre()
	require.NoError(t, err)
	const quota = 6 // of capi/hb
	perFolder := func(scope Scope) map[string]int {
		made, err := mutants(sources, 1, scope)
		require.NoError(t, err)
		n := map[string]int{}
		for _, m := range made {
			n[path.Dir(m.File)]++
		}
		return n
	}
	usual := perFolder(Scope{Folders: []string{"capi/hb"}})
	more := perFolder(Scope{Folders: []string{"capi/hb"}, Count: quota + 5})
	all := perFolder(Scope{Folders: []string{"capi/hb"}, Count: 1_000_000})
	assert.Len(t, usual, 1)
	assert.Equal(t, usual["capi/hb"]+5, more["capi/hb"])
	assert.Greater(t, all["capi/hb"], more["capi/hb"])
	_, err = mutants(sources, 1, Scope{Folders: []string{"capi/none"}})
	assert.EqualError(t, err, "no area has the folder capi/none")
}
