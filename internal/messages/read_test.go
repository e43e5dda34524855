package messages

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRead_everyMessageHasAnID: refusals and warnings of the APIs and of the tool.
func TestRead_everyMessageHasAnID(t *testing.T) {
	s, err := Read("../..")
	require.NoError(t, err)
	assert.Empty(t, strings.Join(s.Faults, "\n"))
	assert.Greater(t, len(s.Messages), 700, "the reader finds the messages of all APIs")
}

// TestRead_findsFaults: a source in which each rule is broken once.
func TestRead_findsFaults(t *testing.T) {
	root := t.TempDir()
	for folder := range prefixes {
		require.NoError(t, os.MkdirAll(filepath.Join(root, folder), 0o755))
	}
	for _, folder := range partly {
		require.NoError(t, os.MkdirAll(filepath.Join(root, folder), 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, "capi/rknn/a.go"), []byte(`package rknn
func invalid(format string, args ...any) error { return nil }
func warn(message string, pairs ...any) {}
func f(name string) {
	invalid("right %d " + "and long [rknn-right]", 1)
	invalid("right %d and long [rknn-right]", 2)
	invalid("without an id")
	invalid("foreign [ohnn-id]")
	invalid("twice [rknn-twice]")
	warn("another [rknn-twice]", "key", 1)
	warn("no id", "key", 1)
	text := name
	invalid(text)
	warn(name)
	boundary.Log(boundary.LevelInfo, "rknn", "an information")
}
`), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(root, "backends/b.go"), []byte(`package backends
func g(kind fault.Kind) {
	fault.New(fault.Type, "of a kind that a part of the page has")
	fault.As(fault.Kind(99), nil, "of none")
	fault.New(kind, "of another error's kind")
}
`), 0o644))
	require.NoError(t, os.MkdirAll(filepath.Join(root, "core/graph"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "core/graph/c.go"), []byte(`package graph
func h() { fault.New(fault.Timeout, "graphs have no times") }
`), 0o644))
	require.NoError(t, os.MkdirAll(filepath.Join(root, "core/fault"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "core/fault/d.go"), []byte(`package fault
func New(k Kind, format string, args ...any) error { return nil }
func As(k Kind, err error, format string, args ...any) error { return nil }
`), 0o644))
	s, err := Read(root)
	require.NoError(t, err)
	assert.Equal(t, []string{
		`capi/rknn/a.go:7: invalid("without an id"): the message has no id`,
		`capi/rknn/a.go:8: id ohnn-id: ids of this folder begin otherwise`,
		`capi/rknn/a.go:11: warn("no id"): the message has no id`,
		`capi/rknn/a.go:13: invalid: the message is no constant`,
		`core/graph/c.go:2: kinds.txt has no cause and remedy of graph-timeout`,
		`id rknn-twice is that of two messages: capi/rknn/a.go:9: "twice", capi/rknn/a.go:10: "another"`,
	}, s.Faults)
	ids := []string{}
	for _, m := range s.Messages {
		ids = append(ids, m.ID+"="+m.Text)
	}
	assert.Equal(t, []string{"ohnn-id=foreign", "rknn-right=right %d and long", "rknn-twice=twice"}, ids)
}
