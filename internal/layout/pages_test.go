package layout

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// texts returns the files of the repository whose names match, relative to its root, with their contents.
func texts(t *testing.T, match func(name string) bool) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(root(t), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root(t), path)
		if d.IsDir() {
			if name == "build" || name != "." && strings.HasPrefix(name, ".") {
				return fs.SkipDir
			}
			return err
		}
		if !match(name) {
			return err
		}
		text, err := os.ReadFile(path)
		found[name] = string(text)
		return err
	})
	require.NoError(t, err)
	return found
}

// pages returns the Markdown files.
func pages(t *testing.T) map[string]string {
	t.Helper()
	return texts(t, func(name string) bool { return filepath.Ext(name) == ".md" })
}

// Every relative link of a page leads to a file or folder, and to a heading of it if it names one. So does every name
// of a page's heading in sources.
func TestPages_linksLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	pages := pages(t)
	links := 0
	for name, text := range pages {
		for _, m := range link.FindAllStringSubmatch(prose(text), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			links++
			file := name
			if target != "" {
				file = filepath.Join(filepath.Dir(name), target)
			}
			if _, err := os.Stat(filepath.Join(root(t), file)); !assert.NoError(t, err, "%s links to %s", name, m[1]) {
				continue
			}
			if anchor != "" {
				assert.Contains(t, anchors(pages[file]), anchor, "%s links to %s", name, m[1])
			}
		}
	}
	assert.Greater(t, links, 300)

	named := regexp.MustCompile(`\b(docs/[\w/-]+\.md)#([\w-]+)`)
	sources := texts(t, func(name string) bool {
		return slices.Contains([]string{".go", ".txt", ".py", ".sh", ".html", ".h", ".in"}, filepath.Ext(name))
	})
	for name, text := range sources {
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			assert.Contains(t, anchors(pages[m[1]]), m[2], "%s names %s", name, m[0])
		}
	}
}

func TestAnchors(t *testing.T) {
	page := "# One `a_b` & two\n```\n# code\n```\n## Façade, [here](x.md): 1.5\n### Same\n### Same\n#none\n" +
		"<a name=\"no\"></a>\n"
	assert.Equal(t, []string{"one-a_b--two", "façade-here-15", "same", "same-1"}, anchors(page))
}

// docs/README.md is an index: every page of docs is in it, those of a folder by themselves or by the folder.
func TestPages_areInTheIndex(t *testing.T) {
	texts := pages(t)
	for name := range texts {
		page, ok := strings.CutPrefix(name, "docs/")
		if !ok || page == "README.md" {
			continue
		}
		folder := "](" + filepath.Dir(page) + ")"
		linked := strings.Contains(texts["docs/README.md"], "]("+page+")") ||
			filepath.Dir(page) != "." && strings.Contains(texts["docs/README.md"], folder)
		assert.True(t, linked, "docs/README.md does not link to %s", page)
	}
}

// The README is read by people who have not decided yet: at most 900 words, and no sentence above 30.
func TestReadme_isShort(t *testing.T) {
	text := pages(t)["README.md"]
	assert.LessOrEqual(t, len(strings.Fields(text)), 900)
	for _, s := range sentences(text) {
		assert.LessOrEqual(t, len(strings.Fields(s)), 30, s)
	}
}

// prose returns a page without its blocks of code, fenced or indented.
func prose(text string) string {
	var lines []string
	fenced := false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case !fenced && !strings.HasPrefix(line, "    "):
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// sentences returns those of a page's running text and of its lists; cells of tables are sentences of their own.
func sentences(text string) []string {
	var list []string
	block := regexp.MustCompile(`(?m)^\s*$|^[-#] |^\d+\. |^\|`)
	end := regexp.MustCompile(`[.:?!]\s|[;|]`)
	for _, paragraph := range block.Split(prose(text), -1) {
		list = append(list, end.Split(paragraph, -1)...)
	}
	return list
}

// anchors returns the names that GitHub gives a page's headings: letters of any script, digits, hyphens and underscores
// in lower case, a hyphen for each space, and a number for each further heading of a name.
func anchors(text string) (list []string) {
	heading, link := regexp.MustCompile(`(?m)^#{1,6} +(.*?) *$`), regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	drop := regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	seen := map[string]int{}
	for _, m := range heading.FindAllStringSubmatch(prose(text), -1) {
		name := drop.ReplaceAllString(strings.ToLower(link.ReplaceAllString(m[1], "$1")), "")
		name = strings.ReplaceAll(name, " ", "-")
		n := seen[name]
		seen[name]++
		if n > 0 {
			name += "-" + strconv.Itoa(n)
		}
		list = append(list, name)
	}
	return list
}
