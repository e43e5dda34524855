package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
	assert.Len(t, files, len(calls))
}
