package boundary

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Nothing in the library reads the environment but by anynpu_getenv, which a set-id program's caller has no say in.
func TestGetenv_alone(t *testing.T) {
	reads := map[string]*regexp.Regexp{
		".go": regexp.MustCompile(`\b(os|syscall|unix)\.(Getenv|LookupEnv|Environ|ExpandEnv|User\w+Dir)\(|\bC\.getenv\(`),
		".c":  regexp.MustCompile(`\bgetenv\(`),
		".h":  regexp.MustCompile(`\bgetenv\(`),
	}
	files := 0
	for _, root := range []string{"../../capi", "../../core", "../../backends"} {
		require.NoError(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			pattern := reads[filepath.Ext(path)]
			if err != nil || pattern == nil || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if bytes.Contains(text, []byte("env")) || bytes.Contains(text, []byte("Env")) ||
				bytes.Contains(text, []byte("Dir(")) {
				assert.Empty(t, pattern.FindAllString(string(text), -1), path)
			}
			files++
			return err
		}))
	}
	assert.Greater(t, files, 100)
}
