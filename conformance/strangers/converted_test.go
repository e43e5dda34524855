package strangers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/models"
)

// convert makes of each ONNX model of a folder what stands for a vendor's converted one, and removes the ONNX. It
// leaves out those of which the sheets say that no converter makes them, and returns how many it has made.
func convert(t *testing.T, dir string) (made int) {
	sheets, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	for _, path := range sheets {
		sheet := &models.Sheet{}
		require.NoError(t, json.Unmarshal([]byte(text(t, path)), sheet))
		onnx := filepath.Join(dir, sheet.Model)
		data, err := os.ReadFile(onnx)
		require.NoError(t, err)
		require.NoError(t, os.Remove(onnx))
		if sheet.Reason != "" {
			continue
		}
		for i := range data {
			data[i] ^= 0x5a
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, sheet.Want[0]), append([]byte("STANDIN\x00"), data...), 0o600))
		made++
	}
	return made
}

// firstLine is what a run says that it will judge.
var firstLine = regexp.MustCompile(`this library loads no ONNX model: (\d+) of (\d+) cases need none, ` +
	`(\d+) have converted models, (\d+) lack one, (\d+) have models that no converter makes; (\d+) are AnyNPU's own or another board's`)

// TestConverted judges a library that loads no ONNX with models that a stand-in for its vendor's converter has made of
// those that the suite writes: every case that has them passes, those without are skipped, and the first line has said
// how many there are of each. In the short form it does so for some cases of one API.
func TestConverted(t *testing.T) {
	if testing.Short() {
		t.Skip("what computes are child processes: a short run, as that under the race detector, sees nothing of them")
	}
	conformance := command(t)
	whole := os.Getenv(everything)
	for _, s := range subjects {
		run := "5."
		if whole != "" {
			run = ""
		}
		if s.Models == nil || whole == "" && s.Name != "hbucp" || whole != "" && whole != "all" &&
			!strings.Contains(whole, s.Name) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			dir := t.TempDir()
			write := exec.Command(conformance, "models", "--api", s.Name, "--suite", "rules", "--out", dir, "--run", run)
			write.Dir = root
			out, err := write.CombinedOutput()
			require.NoError(t, err, "%s", out)
			made := convert(t, filepath.Join(dir, s.Name))
			require.Positive(t, made, "%s", out)
			left, err := filepath.Glob(filepath.Join(dir, s.Name, "*.onnx"))
			require.NoError(t, err)
			require.Empty(t, left, "no ONNX is given to the library")

			library := s.build(t, converted)
			result := filepath.Join(t.TempDir(), "result.json")
			o := s.judge(t, conformance, library, "--suite", "rules", "--models", dir, "--long", "--run", run,
				"--result", result)
			counts := o.statuses()
			line := firstLine.FindStringSubmatch(o.out)
			require.NotNil(t, line, "%s", clip(o.out))
			numbers := make([]int, 0, len(line))
			for _, text := range line[1:] {
				n, err := strconv.Atoi(text)
				require.NoError(t, err)
				numbers = append(numbers, n)
			}
			free, all, have, lack, never, own := numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]
			t.Logf("%d models converted; %s; %v%s", made, line[0], counts, o.failures())
			assert.Equal(t, all, free+have+lack+never+own)
			// Cases of RKNN that lay a model out in memory are skipped: two have no other model, two load a converted one,
			// too. Two more want the library under its other names.
			if s.Name == "rknn" {
				assert.Equal(t, 2, lack)
				have -= 4
			} else {
				assert.Zero(t, lack)
			}
			assert.Equal(t, free+have, counts[suite.Pass], "%s", clip(o.out))
			assert.Equal(t, all, counts[suite.Pass]+counts[suite.Skip])
			assert.Zero(t, o.code, "%s", clip(o.out))

			// Without the models, what needs none is judged.
			o = s.judge(t, conformance, library, "--suite", "rules", "--long", "--run", run)
			assert.Contains(t, o.out, fmt.Sprintf("this library loads no ONNX model: %d of %d cases need none; ", free, all))
			assert.Equal(t, free, o.statuses()[suite.Pass], "%s", clip(o.out))
			assert.Zero(t, o.code, "%s", clip(o.out))

			// What is submitted says which cases are worse.
			v, err := suite.ReadVerdict(strings.NewReader(text(t, result)))
			require.NoError(t, err)
			require.Len(t, v.APIs, 1)
			assert.Equal(t, counts, v.APIs[0].Counts)
			assert.Equal(t, s.Soname, v.APIs[0].Library)
			var key string
			for k, p := range v.APIs[0].Groups {
				if p.Counts[suite.Pass] > 0 && len(p.Cases) == 0 {
					key = k
				}
			}
			require.NotEmpty(t, key)
			v.APIs[0].Groups[key].Cases = map[string]suite.Status{"broken": suite.Fail}
			worse := filepath.Join(t.TempDir(), "worse.json")
			var text bytes.Buffer
			require.NoError(t, v.Write(&text))
			require.NoError(t, os.WriteFile(worse, text.Bytes(), 0o600))
			out, err = exec.Command(conformance, "diff", result, result).CombinedOutput()
			require.NoError(t, err, "%s", out)
			out, err = exec.Command(conformance, "diff", result, worse).CombinedOutput()
			assert.Error(t, err)
			assert.Contains(t, string(out), "worse  "+key+"/broken: fail, was pass")
		})
	}
}
