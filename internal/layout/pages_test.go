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

// pages returns the Markdown files that people read, relative to the repository's root, with their texts.
func pages(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "*/RATIONALE.md", "*/*/RATIONALE.md",
		"*/*/*/RATIONALE.md"} {
		files, err := filepath.Glob(filepath.Join(root(t), pattern))
		require.NoError(t, err)
		for _, f := range files {
			text, err := os.ReadFile(f)
			require.NoError(t, err)
			name, err := filepath.Rel(root(t), f)
			require.NoError(t, err)
			texts[name] = string(text)
		}
	}
	return texts
}

// Every relative link of a page leads to a file or folder, and to a heading of it if it names one.
func TestPages_linksLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	texts := pages(t)
	links := 0
	for name, text := range texts {
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
				assert.Contains(t, anchors(texts[file]), anchor, "%s links to %s", name, m[1])
			}
		}
	}
	assert.Greater(t, links, 100)
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

// anchors returns what a renderer makes of a page's headings, and the ids that the page gives itself.
func anchors(text string) []string {
	var list []string
	drop := regexp.MustCompile("[^a-z0-9 _-]")
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		list = append(list, strings.ReplaceAll(drop.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	for _, m := range regexp.MustCompile(`<a (?:id|name)="([^"]+)"`).FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	return list
}
