package layout

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// numbersOf is a list of sections: "3", "3.1", "3 and 4", "2 to 7", "1, 2 and 6".
const numbersOf = `(\d+(?:\.\d+)?(?:(?:, | and | to )\d+(?:\.\d+)?)*)`

var (
	// A comment names sections of the notes of its API, or of a file of docs/abi.
	citesSections = regexp.MustCompile(`(?:docs/abi/(\w+)\.md, )?(?:(types|matmul|operator) notes,? )?\b[Ss]ections? ` +
		numbersOf)
	citesParts   = regexp.MustCompile(`docs/abi/(\w+)\.md, (types|matmul|operators) ` + numbersOf)
	notesHeading = regexp.MustCompile(`(?m)^##+ ((?:types |matmul |operators )?\d+(?:\.\d+)?)\.? `)
	oneNumber    = regexp.MustCompile(`(, | and | to )?(\d+(?:\.\d+)?)`)
)

// citation is a section of a file of docs/abi, such as "matmul 3".
type citation struct{ api, section string }

// expanded are the numbers of a list of sections.
func expanded(list string) (out []string) {
	for _, m := range oneNumber.FindAllStringSubmatch(list, -1) {
		if m[1] == " to " {
			from, _ := strconv.Atoi(out[len(out)-1])
			to, _ := strconv.Atoi(m[2])
			for n := from + 1; n < to; n++ {
				out = append(out, strconv.Itoa(n))
			}
		}
		out = append(out, m[2])
	}
	return out
}

// citations are the sections that a comment in a file cites.
func citations(file, comment string) (out []citation) {
	text := strings.Join(strings.Fields(strings.ReplaceAll(comment, "//", " ")), " ")
	api := ""
	for _, a := range []string{"ohnn", "rknn", "hbdnn", "hbucp", "nnapi"} {
		if strings.Contains(file, "/"+a+"/") {
			api = a
		}
	}
	for _, m := range citesSections.FindAllStringSubmatch(text, -1) {
		of, part := m[1], ""
		if of == "" {
			of = api
		}
		if m[2] != "" {
			part = m[2] + " "
		}
		if part == "operator " {
			part = "operators "
		}
		if of == "" {
			continue // of something else, such as a file format
		}
		for _, n := range expanded(m[3]) {
			out = append(out, citation{of, part + n})
		}
	}
	for _, m := range citesParts.FindAllStringSubmatch(text, -1) {
		for _, n := range expanded(m[3]) {
			out = append(out, citation{m[1], m[2] + " " + n})
		}
	}
	return out
}

func TestCitations_areFound(t *testing.T) {
	for _, c := range []struct {
		file, comment string
		want          []citation
	}{
		{"capi/rknn/run.go", "// It runs (sections\n// 4 and 11).", []citation{{"rknn", "4"}, {"rknn", "11"}}},
		{"capi/rknn/perf.go", "// the tables of section 3.2. Cycles", []citation{{"rknn", "3.2"}}},
		{"capi/rknn/m.go", "// (matmul notes, sections 3 and 4)", []citation{{"rknn", "matmul 3"}, {"rknn", "matmul 4"}}},
		{"capi/ohnn/l.go", "// operator notes section 5.", []citation{{"ohnn", "operators 5"}}},
		{"core/op/conv.go", "// (docs/abi/ohnn.md,\n// operators 3, 4 and 6)", []citation{{"ohnn", "operators 3"},
			{"ohnn", "operators 4"}, {"ohnn", "operators 6"}}},
		{"conformance/nnapi/x.go", "// (sections 2 to 5)", []citation{{"nnapi", "2"}, {"nnapi", "3"}, {"nnapi", "4"},
			{"nnapi", "5"}}},
		{"backends/dl/elf.go", "// an ELF file of section 7", nil},
	} {
		assert.Equal(t, c.want, citations("/checkout/"+c.file, c.comment), c.comment)
	}
}

// Every section that a comment cites is in docs/abi, where a reader finds it.
func TestCitations_haveASection(t *testing.T) {
	has := map[citation]bool{}
	files, err := filepath.Glob("../../docs/abi/*.md")
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, m := range notesHeading.FindAllStringSubmatch(string(text), -1) {
			has[citation{strings.TrimSuffix(filepath.Base(f), ".md"), m[1]}] = true
		}
	}
	require.Greater(t, len(has), 70)
	cited := 0
	for _, path := range goFiles(t, "../..") {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, group := range file.Comments {
			text := ""
			for _, c := range group.List {
				text += c.Text + "\n"
			}
			for _, c := range citations(path, text) {
				cited++
				assert.True(t, has[c], "%s: docs/abi/%s.md has no section %q", path, c.api, c.section)
			}
		}
	}
	assert.Greater(t, cited, 90, "too few of the comments are understood")
}

// goFiles are the Go files of the tree, test data and build output left out.
func goFiles(t *testing.T, root string) (paths []string) {
	seen := map[string]bool{}
	for _, i := range imports(t, root) {
		if !seen[i.file] {
			seen[i.file] = true
			paths = append(paths, filepath.Join(root, i.file))
		}
	}
	return paths
}
