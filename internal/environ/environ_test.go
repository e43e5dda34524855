package environ

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const root = "../../"

// sorted returns the names once each, in order.
func sorted(names []string) []string {
	s := slices.Clone(names)
	slices.Sort(s)
	return slices.Compact(s)
}

// read returns the first groups of every match in the file.
func read(t *testing.T, path string, pattern *regexp.Regexp) (names []string) {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, m := range pattern.FindAllSubmatch(text, -1) {
		names = append(names, string(m[1]))
	}
	return names
}

func TestNames_areThoseThatTheLibraryReads(t *testing.T) {
	// HOME, LD_LIBRARY_PATH and their like are the system's.
	getenv := regexp.MustCompile(`getenv\("((?:ANYNPU|RKNN|HB_DNN)_[A-Z_]+)"\)`)
	goGetenv := regexp.MustCompile(`[gG]etenv\("((?:ANYNPU|RKNN|HB_DNN)_[A-Z_]+)"\)`)
	var names []string
	for _, folder := range []string{"capi", "core", "backends"} {
		require.NoError(t, filepath.WalkDir(root+folder, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go"):
			case strings.HasSuffix(path, ".c"):
				names = append(names, read(t, path, getenv)...)
			case strings.HasSuffix(path, ".go"):
				names = append(names, read(t, path, goGetenv)...)
			}
			return err
		}))
	}
	assert.Equal(t, sorted(names), sorted(Names))
}

func TestNames_areInTheDocument(t *testing.T) {
	first := regexp.MustCompile("(?m)^\\| (`[A-Z_`, ]+) \\|")
	name := regexp.MustCompile("`((?:ANYNPU|RKNN|HB_DNN)_[A-Z_]+)`")
	var names []string
	for _, cell := range read(t, root+"docs/environment.md", first) {
		for _, m := range name.FindAllStringSubmatch(cell, -1) {
			names = append(names, m[1])
		}
	}
	assert.Equal(t, sorted(slices.Concat(Names, TestNames)), sorted(names))
}

func TestOf(t *testing.T) {
	set, unknown := Of([]string{"PATH=/bin", "ANYNPU_THREDS=4", "RKNN_LOG_LEVEL=3", "ANYNPU_CPU=",
		"ANYNPU_LOG=warn,ohnn=trace",
		"ANYNPU_CTS_LIBRARY=x", "ANYNPU_THREADS=2", "ANYNPU_loglevel=x", "ANYNPU_NOTHING="})
	assert.Equal(t, []Setting{{"ANYNPU_LOG", "warn,ohnn=trace"}, {"ANYNPU_THREADS", "2"}, {"RKNN_LOG_LEVEL", "3"}}, set)
	require.Len(t, unknown, 2)
	assert.Equal(t, Unknown{"ANYNPU_THREDS", "4", "ANYNPU_THREADS"}, unknown[0])
	assert.Equal(t, "ANYNPU_loglevel", unknown[1].Name)
}

func TestNearest(t *testing.T) {
	for name, want := range map[string]string{"ANYNPU_LOGFILE": "ANYNPU_LOG_FILE",
		"ANYNPU_OHNN_DEVICE": "ANYNPU_OHNN_DEVICES", "ANYNPU_MODELMAP": "ANYNPU_MODEL_MAP", "ANYNPU_LOG": "ANYNPU_LOG"} {
		assert.Equal(t, want, Nearest(name), name)
	}
}
