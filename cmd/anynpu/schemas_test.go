package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/record"
)

// TestSchemas_holdWhatTheVerbsWrite: the JSON of each verb that has a schema, with the members that only some calls
// have.
func TestSchemas_holdWhatTheVerbsWrite(t *testing.T) {
	model := writeFile(t, "m.onnx", vectorModel("Add"))
	other := writeFile(t, "other.onnx", vectorModel("Mul"))
	baseline := filepath.Join(t.TempDir(), "base.json")
	calls := map[string][][]string{
		"run": {{"run", model, "--shape", "x=4", "--random", "--top-k", "2", "--json"}},
		"bench": {{"bench", model, "--shape", "x=4", "--time", "10ms", "--warmup", "0s", "--spread", "1000", "--json"},
			{"bench", model, "--shape", "x=4", "--time", "10ms", "--warmup", "0s", "--spread", "1000", "--tolerance", "1e9",
				"--baseline", baseline, "--json"}},
		"check": {{"check", model, "--json"}, {"check", model, "--shape", "x=4", "--engine", "--passes", "--json"},
			{"check", writeFile(t, "bad.onnx", vectorModel("example.Frob")), "--json"}},
		"profile": {{"profile", model, "--shape", "x=4", "--runs", "1", "--json"}},
		"compare": {{"compare", model, other, "--shape", "x=4", "--json"},
			{"compare", model, other, "--shape", "x=4", "--layers", "--json"}},
		"doctor": {{"doctor", "--json"}},
	}
	files, err := filepath.Glob("../../docs/schemas/*.json")
	require.NoError(t, err)
	for _, file := range files {
		verb := strings.TrimSuffix(filepath.Base(file), ".json")
		if verb == "report" {
			continue
		}
		require.NotEmpty(t, calls[verb], "%s: no call of this test writes it", file)
		s := readSchema(t, file)
		for _, args := range calls[verb] {
			_, out, errs := anynpu(args...)
			var v any
			require.NoError(t, json.Unmarshal([]byte(out), &v), "%v: %s", args, errs)
			assert.Empty(t, s.faults("", v), "%v", args)
			v.(map[string]any)["more"] = nil
			assert.Len(t, s.faults("", v), 1, "%v: a member that the schema lacks", args)
			if verb == "bench" {
				require.NoError(t, os.WriteFile(baseline, []byte(out), 0o600))
			}
		}
	}
	assert.Len(t, files, len(calls)+1, "the report has a test of its own")
}

// TestSchemas_report: the JSON of exec --report, of a process with all that a record can have.
func TestSchemas_report(t *testing.T) {
	r := newCallReport([]string{"./program"}, time.Unix(0, 0), &ended{took: time.Second}, []record.Process{{
		PID: 7, Program: []string{"./program"}, Converted: time.Millisecond,
		Functions: []record.Function{{Name: "f", Calls: 3, Refused: 1, Times: &record.Times{Calls: 3,
			Total: 10 * time.Millisecond, Median: 2 * time.Millisecond, P99: 6 * time.Millisecond}}, {Name: "g", Calls: 1}},
		Refused:  []record.Counted{{Event: record.Event{Function: "f", Text: "x: NULL", ID: "argument-null"}, Times: 1}},
		Messages: []record.Counted{{Event: record.Event{Level: "warn", Component: "a", Text: "odd [a-odd]"}, Times: 2}},
		Models:   []record.LoadedModel{{Model: record.Model{Name: "m.onnx", Bytes: 9, Instead: "m.rknn"}, Times: 1}},
		Graphs: []record.RunGraph{{Graph: record.Graph{Name: "g", Devices: []record.Device{{Name: "cpu", Operators: 2}}},
			Runs: 4, Mean: time.Millisecond, Least: time.Millisecond, Most: 2 * time.Millisecond}},
		Left: &record.Left{Objects: []string{"a.B 1"}, Buffers: 1, Bytes: 64},
	}})
	var text bytes.Buffer
	require.NoError(t, writeJSON(&text, r.document()))
	var v any
	require.NoError(t, json.Unmarshal(text.Bytes(), &v))
	assert.Empty(t, readSchema(t, "../../docs/schemas/report.json").faults("", v))
	assert.Contains(t, text.String(), `"median_ms": 2,`)
	assert.Contains(t, text.String(), `"id": "argument-null"`)
	text.Reset()
	require.NoError(t, r.text(&text))
	assert.Contains(t, text.String(), "  name  calls  refused  total    median    p99\n"+
		"  f     3      1        10.0 ms  2.000 ms  6.000 ms\n  g     1      0        -        -         -\n"+
		"  conversions of inputs and outputs: 1.000 ms, 10.0 % of the time in calls\n")
	assert.Contains(t, text.String(), "  f: x: NULL [argument-null]\n")
	text.Reset()
	require.NoError(t, r.page(&text))
	assert.Contains(t, text.String(), `data-is="Total">10.0 ms</td>`)
	assertLabels(t, text.String(), 2)
}

// assertLabels: each number of a page's tables that phones show without their heads names its column.
func assertLabels(t *testing.T, page string, tables int) {
	t.Helper()
	part := regexp.MustCompile(`(?s)<table class="rows">.*?</table>`)
	head, label := regexp.MustCompile(`<th class="n">(.*?)</th>`), regexp.MustCompile(`<td class="n[^"]*" data-is="(.*?)">`)
	found := part.FindAllString(page, -1)
	assert.Len(t, found, tables)
	for _, table := range found {
		heads, labels := head.FindAllStringSubmatch(table, -1), label.FindAllStringSubmatch(table, -1)
		assert.Len(t, labels, strings.Count(table, `<td class="n`), table)
		require.NotEmpty(t, heads)
		for i, l := range labels {
			assert.Equal(t, heads[i%len(heads)][1], l[1], table)
		}
	}
}
