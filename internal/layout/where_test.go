package layout

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every row of docs/map.md leads somewhere: its paths exist, and the words after a path and a colon occur in the files
// there.
func TestMap_leadsSomewhere(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "map.md"))
	require.NoError(t, err)
	_, section, ok := strings.Cut(string(text), "\n## Subjects\n")
	require.True(t, ok)
	section, _, _ = strings.Cut(section, "\n## ")
	path := regexp.MustCompile(`^[a-z_]+(/[A-Za-z0-9_.<>-]+)+$`)
	code := regexp.MustCompile("`([^`]+)`")
	rows := 0
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if len(cells) != 2 || cells[0] == "subject" {
			continue
		}
		rows++
		folder := ""
		for _, m := range code.FindAllStringSubmatch(cells[1], -1) {
			switch word := m[1]; {
			case strings.Contains(word, " "): // a command line
			case path.MatchString(word):
				folder = strings.ReplaceAll(word, "<api>", "rknn")
				_, err := os.Stat(filepath.Join(root(t), folder))
				assert.NoError(t, err, "%s: %s", cells[0], word)
			case strings.HasSuffix(word, ".go"):
				assert.FileExists(t, filepath.Join(root(t), folder, word), cells[0])
			default:
				assert.True(t, occurs(t, filepath.Join(root(t), folder), word[strings.LastIndex(word, ".")+1:]),
					"%s: %s has no %s", cells[0], folder, word)
			}
		}
		assert.NotEmpty(t, folder, cells[0])
	}
	assert.GreaterOrEqual(t, rows, 20)
}

// occurs reports whether a word stands in a file, or in a file of a folder.
func occurs(t *testing.T, path, word string) bool {
	files, err := filepath.Glob(filepath.Join(path, "*"))
	require.NoError(t, err)
	whole := regexp.MustCompile(`\b` + regexp.QuoteMeta(word) + `\b`)
	for _, f := range append(files, path) {
		if text, err := os.ReadFile(f); err == nil && whole.Match(text) {
			return true
		}
	}
	return false
}
