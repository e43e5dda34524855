package kernel

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// disassembler is binutils' objdump for arm64, or "".
func disassembler() string {
	for _, name := range []string{"aarch64-linux-gnu-objdump", "objdump"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if out, err := exec.Command(path, "-i").Output(); err == nil && bytes.Contains(out, []byte("aarch64")) {
			return path
		}
	}
	return ""
}

var (
	wordLine = regexp.MustCompile(`(?m)^\tWORD \$0x([0-9a-f]{8}) // (.*)$`)
	codeLine = regexp.MustCompile(`(?m)^ *[0-9a-f]+:\t([0-9a-f]{8}) \t(.*)$`)
	hexText  = regexp.MustCompile(`#0x[0-9a-f]+`)
)

// Each word of the assembly for arm64 is the instruction of its comment, as binutils read it.
func TestWords_areTheirInstructions(t *testing.T) {
	objdump := disassembler()
	if objdump == "" {
		t.Skip("SKIP: no objdump for aarch64 (Debian: binutils-aarch64-linux-gnu)")
	}
	files, err := filepath.Glob("z*_arm64.s")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	want := map[string]string{}
	var code []byte
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, m := range wordLine.FindAllStringSubmatch(string(text), -1) {
			if before, ok := want[m[1]]; ok {
				require.Equal(t, before, m[2], "%s: two instructions of one word", f)
				continue
			}
			want[m[1]] = m[2]
			word, err := strconv.ParseUint(m[1], 16, 32)
			require.NoError(t, err)
			code = binary.LittleEndian.AppendUint32(code, uint32(word))
		}
		assert.Equal(t, strings.Count(string(text), "WORD "), len(wordLine.FindAllString(string(text), -1)),
			"%s: words without an instruction behind them", f)
	}
	file := filepath.Join(t.TempDir(), "words")
	require.NoError(t, os.WriteFile(file, code, 0o600))
	out, err := exec.Command(objdump, "-D", "-b", "binary", "-m", "aarch64", file).Output()
	require.NoError(t, err)
	lines := codeLine.FindAllStringSubmatch(string(out), -1)
	require.Len(t, lines, len(want))
	for _, m := range lines {
		got := hexText.ReplaceAllStringFunc(strings.ReplaceAll(m[2], "\t", " "), func(s string) string {
			n, _ := strconv.ParseUint(s[3:], 16, 64)
			return "#" + strconv.FormatUint(n, 10)
		})
		assert.Equal(t, want[m[1]], got, "word %s", m[1])
	}
}
