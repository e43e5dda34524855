package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDrivers_listsThemWithReasons(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("1.json", `{"schema": "anynpu.driver/1", "name": "Board", "api": "rknn", "library": "`+dir+`/text.so"}`)
	write("2.json", `{"schema": "anynpu.driver/1", "name": "Other", "api": "ohnn", "library": "/none.so",
		"environment": {"BOARD": "y"}}`)
	write("3.json", `{"schema": "anynpu.driver/1", "libary": "/none.so"}`)
	write("text.so", "INPUT(librknnrt.so)")
	t.Setenv("ANYNPU_DRIVERS", dir)
	t.Setenv("XDG_CACHE_HOME", dir)
	t.Setenv("ANYNPU_PROBE", "off")

	code, out, errs := anynpu("drivers", "--json")
	require.Equal(t, 0, code, errs)
	var v any
	require.NoError(t, json.Unmarshal([]byte(out), &v))
	assert.Empty(t, readSchema(t, "../../docs/drivers.schema.json").faults("", v))
	var d drivers
	require.NoError(t, json.Unmarshal([]byte(out), &d))
	require.Len(t, d.Drivers, 3)
	for i, want := range []string{`library: "` + dir + `/text.so": not an ELF file, want a shared library`,
		`environment: BOARD is "", and the manifest is for "y"`, `unknown key "libary": want anynpu, api,`} {
		assert.Contains(t, d.Drivers[i].Reason, want)
		assert.False(t, d.Drivers[i].Used)
	}

	code, out, errs = anynpu("drivers")
	require.Equal(t, 0, code, errs)
	assert.Contains(t, out, "driver      rknn Board: refused\n  "+dir+"/text.so, as "+dir+"/1.json says\n  library: ")
	code, out, errs = anynpu("info")
	require.Equal(t, 0, code, errs)
	assert.Contains(t, out, "driver      ohnn Other: skipped\n")

	code, out, _ = anynpu("drivers", "rknn")
	assert.Equal(t, 2, code, out)

	t.Setenv("ANYNPU_DRIVERS", dir+"/nothing.d")
	require.NoError(t, os.Mkdir(dir+"/nothing.d", 0o755))
	_, out, _ = anynpu("drivers")
	assert.Equal(t, "no driver: no manifest is on the search path, and no variable names one\n", out)
}

// TestDrivers_functionsThatAreLacking: a library of the functions without which nothing works, and one more.
func TestDrivers_functionsThatAreLacking(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "board.c")
	require.NoError(t, os.WriteFile(source, []byte("int rknn_init, rknn_destroy, rknn_query, rknn_run, rknn_wait, "+
		"other;\n"+
		"static int rknn_inputs_set; int *p = &rknn_inputs_set; extern int rknn_outputs_get; int *q = &rknn_outputs_get;\n"),
		0o600))
	out, err := exec.Command("gcc", "-shared", "-fPIC", "-o", dir+"/board.so", source).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, os.WriteFile(dir+"/1.json", []byte(`{"schema": "anynpu.driver/1", "name": "Board", "api": "rknn",
		"library": "`+dir+`/board.so"}`), 0o600))
	t.Setenv("ANYNPU_DRIVERS", dir+"/1.json")
	t.Setenv("XDG_CACHE_HOME", dir)
	t.Setenv("ANYNPU_PROBE", "off")
	code, text, errs := anynpu("drivers", "--json")
	require.Equal(t, 0, code, errs)
	var d drivers
	require.NoError(t, json.Unmarshal([]byte(text), &d))
	require.Len(t, d.Drivers, 1, text)
	lacks := d.Drivers[0].Lacks
	assert.Subset(t, lacks, []string{"rknn_inputs_set", "rknn_outputs_get", "rknn_matmul_run"}, "static, and undefined")
	for _, has := range []string{"rknn_init", "rknn_destroy", "rknn_query", "rknn_run", "rknn_wait"} {
		assert.NotContains(t, lacks, has)
	}
	_, text, _ = anynpu("drivers")
	assert.Regexp(t, `(?m)^  lacks \d+ functions of the API:\n    rknn_`, text)
}
