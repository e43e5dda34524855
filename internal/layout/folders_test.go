package layout

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// foldersOf returns, for the folders of some depth, those that their files import; tests may import any. Files of a
// folder count for it and for the folders above.
func foldersOf(all []imported, depth int) map[string][]string {
	cut := func(folder string) string {
		parts := strings.Split(folder, "/")
		return path.Join(parts[:min(depth, len(parts))]...)
	}
	next := map[string][]string{}
	for _, i := range all {
		target, ours := strings.CutPrefix(i.path, module)
		if !ours || strings.HasSuffix(i.file, "_test.go") {
			continue
		}
		from, to := cut(path.Dir(i.file)), cut(target)
		if from != to && !slices.Contains(next[from], to) {
			next[from] = append(next[from], to)
		}
	}
	return next
}

// ring returns folders each of which imports the next one, and the last one the first; nil if there is no such ring.
func ring(next map[string][]string) []string {
	done := map[string]bool{}
	var way []string
	var follow func(folder string) []string
	follow = func(folder string) []string {
		if at := slices.Index(way, folder); at >= 0 {
			return way[at:]
		}
		if done[folder] {
			return nil
		}
		way = append(way, folder)
		for _, n := range next[folder] {
			if r := follow(n); r != nil {
				return r
			}
		}
		way = way[:len(way)-1]
		done[folder] = true
		return nil
	}
	for folder := range next {
		if r := follow(folder); r != nil {
			return r
		}
	}
	return nil
}

// Folders, of the tree and of core, import one another one way, as packages do: test support included, which is in no
// file of a test.
func TestFolders_importOneWay(t *testing.T) {
	all := imports(t, root(t))
	assert.Nil(t, ring(foldersOf(all, 1)))
	core := slices.DeleteFunc(slices.Clone(all), func(i imported) bool { return !strings.HasPrefix(i.file, "core/") })
	require.NotEmpty(t, core)
	assert.Nil(t, ring(foldersOf(core, 2)))
	for _, wrong := range []imported{
		{"internal/drivertest/split.go", module + "conformance/graphs"},
		{"backends/cpu/device.go", module + "internal/leak"},
	} {
		assert.NotNil(t, ring(foldersOf(append(slices.Clone(all), wrong), 1)), "%s imports %s", wrong.file, wrong.path)
	}
	wrong := imported{"core/device/devicetest/toy/execution.go", module + "core/exec"}
	assert.NotNil(t, ring(foldersOf(append(slices.Clone(core), wrong), 2)))
}

// withoutFacades are the folders that must not import any of capi: a tool is no part of the library, and links no C.
var withoutFacades = []string{"cmd/anynpu"}

func TestTools_importNoFacade(t *testing.T) {
	wrong := func(i imported) bool {
		return below(path.Dir(i.file), withoutFacades) && strings.HasPrefix(i.path, module+"capi")
	}
	for _, i := range imports(t, root(t)) {
		assert.False(t, wrong(i), "%s imports %s", i.file, i.path)
	}
	assert.True(t, wrong(imported{"cmd/anynpu/exec.go", module + "capi/abi"}))
}
