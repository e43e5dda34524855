package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/conformance/suite"
)

// call runs the command and returns its exit code and what it prints.
func call(in string, args ...string) (code int, stdout, stderr string) {
	var out, err strings.Builder
	code = run(args, strings.NewReader(in), &out, &err)
	return code, out.String(), err.String()
}

func TestRun_exitCodes(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		says string // on either stream
	}{
		{"", 0, "judges libraries of the APIs"},
		{"ohnn", 0, "operators"},
		{"ohnn rules --help", 0, "Modes: manual, reference."},
		{"rknn rules --list", 0, "not checked: 3: drv_version is the kernel driver's: there is no driver"},
		{"ohnn operators --list", 0, "HSWISH                   float16, float32, float64, quantized int8, quantized uint8\n"},
		{"all --help", 0, "APIs: ohnn, rknn, hbdnn, hbucp, nnapi."},
		{"all --api nothing", 2, "--api nothing: want one of ohnn, rknn, hbdnn, hbucp, nnapi"},
		{"all --library ohnn", 2, "--library ohnn: want API=FILE"},
		{"all --library more=file", 2, "API one of ohnn, rknn, hbdnn"},
		{"all --api rknn --suite operators", 2, "--suite operators: the API has none of that name"},
		{"models", 2, "--out: want the folder for the models"},
		{"models --api ohnn --out x", 2, "--api ohnn: want one of rknn, hbdnn, hbucp"},
		{"diff main.go main.go", 2, "main.go: no result of conformance"},
		{"all --api rknn --models no/such --run 1.a_exports", 2, "has no sheets of models"},
		{"nothing", 2, `unknown command "nothing"`},
		{"rknn nothing", 2, `unknown command "nothing"`},
		{"ohnn rules more", 2, `unknown command "more"`},
		{"rknn rules --nothing", 2, "unknown flag: --nothing"},
		{"rknn rules --sample 3 --share 3", 2, "--share 3: want a number from 0 to 2, below that of --sample"},
		{"rknn rules --share 1", 2, "--share 1: want a number from 0 to 0"},
		{"rknn rules --sample 3 --share -1", 2, "--share -1: want a number from 0 to 2"},
		{"ohnn rules --mode nothing", 2, `ohnn rules: no mode "nothing"`},
		{"onnx kernels --archive ../../../bench/networks.zip --run nothing", 2, `no network's name contains "nothing"`},
		{"onnx outputs", 2, "accepts 1 arg(s), received 0"},
		{"onnx node --known no/such/list no/such/folder", 2, "no/such/list"},
	} {
		code, out, err := call("", strings.Fields(c.args)...)
		assert.Equal(t, c.code, code, "%s: %s", c.args, err)
		assert.Contains(t, out+err, c.says, c.args)
	}
}

// A library whose cases hand no model over, as one that cannot be loaded, is an error.
func TestHandedOver(t *testing.T) {
	a := &suite.APIReport{Name: "rknn", Library: "l.so", Suites: []suite.SuiteReport{{Name: "rules",
		Reports: []*suite.Report{
			{Results: []suite.Result{{ID: "a", Status: suite.Skip}, {ID: "b", Status: suite.Crash, Message: "exit code 1"}}}}}}}
	assert.EqualError(t, handedOver(a), "rknn: l.so: no model was handed over: rules b: exit code 1")
	a.Suites[0].Reports[0].Results[0].Models = []string{"digits"}
	assert.NoError(t, handedOver(a))
}

func TestSuite_helpHidesWhatTheCommandUsesItself(t *testing.T) {
	_, out, _ := call("", "rknn", "rules", "--help")
	assert.Contains(t, out, "ANYNPU_RKNN_LIBRARY")
	assert.Contains(t, out, "--junit file")
	assert.NotContains(t, out, "--child")
	assert.NotContains(t, out, "--mode mode", "the RKNN suites have no modes")
	_, out, _ = call("", "bombs", "--help")
	assert.NotContains(t, out, "--from")
}

func TestGenerate_writesWhatTheRepositoryHolds(t *testing.T) {
	dir := t.TempDir()
	code, _, errors := call("", "generate", "bombs", dir)
	require.Zero(t, code, errors)
	models, err := filepath.Glob(filepath.Join(dir, "*.onnx"))
	require.NoError(t, err)
	committed, err := filepath.Glob("../../../ctest/bombs/*.onnx")
	require.NoError(t, err)
	assert.Len(t, models, len(committed))
	code, _, errors = call("{}{", "generate", "graphs", dir)
	assert.Equal(t, 2, code, errors)
}
