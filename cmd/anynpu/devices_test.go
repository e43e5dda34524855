package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/devicetest/toy"
	"github.com/anynpu/anynpu/internal/devicecheck"
)

func TestDevices_lists(t *testing.T) {
	t.Setenv("ANYNPU_DRIVERS", t.TempDir())
	code, out, errs := anynpu("devices")
	assert.Equal(t, 0, code, errs)
	assert.Equal(t, "cpu     CPU\n", out)
	_, out, _ = anynpu("devices", "--json")
	var r devicesReport
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	assert.Equal(t, devicesReport{"anynpu.devices/1", []listedDevice{{"cpu", "CPU", ""}}}, r)
}

// Every operator passes on the CPU's fast kernels and by the reference.
func TestDevices_testOfTheCPU(t *testing.T) {
	code, out, errs := anynpu("devices", "--test", "--json")
	require.Equal(t, 0, code, errs)
	var r deviceTest
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	assert.Equal(t, "anynpu.devices-test/1 cpu", r.Schema+" "+r.Device)
	assert.Greater(t, r.Pass, 2900)
	assert.Len(t, r.Results, r.Pass)
	assert.Zero(t, r.Refused+r.Wrong+r.NotRun)

	code, out, errs = anynpu("devices", "--test", "--ref", "--op", "relu", "--op", "conv")
	require.Equal(t, 0, code, errs)
	assert.Contains(t, out, "device      cpu, kernels reference\n")
	assert.Contains(t, out, "pass     relu float32[2,3,4]\n")
	assert.Contains(t, out, "Dilations=[2 1]")
	assert.Contains(t, out, " cases of 2 operators: ")

	code, out, errs = anynpu("devices", "--test", "--op", "relu", "--perf")
	require.Equal(t, 0, code, errs)
	assert.Contains(t, out, " ms\n")
}

func TestDevices_badInput(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--test", "--op", "softmx"}, 2, "--op softmx: there is no such operator; did you mean softmax?"},
		{[]string{"--test", "--op", "custom"}, 2, "--op custom: it has no cases: a program supplies its function"},
		{[]string{"--test", "--device", "npu9"}, 4, `no device "npu9"; there is: cpu, and with a driver`},
		{[]string{"--op", "relu"}, 2, "--op goes with --test"},
		{[]string{"--device", "cpu"}, 2, "--device goes with --test"},
		{[]string{"--test", "relu"}, 2, `devices: takes no arguments, got "relu"`},
		{[]string{"--test", "--isa", "mmx"}, 2, "--isa mmx"},
	} {
		code, out, errs := anynpu(append([]string{"devices"}, c.args...)...)
		assert.Equal(t, c.code, code, "%v: %s", c.args, errs)
		assert.Contains(t, errs, c.says, "%v", c.args)
		assert.Empty(t, out, "%v", c.args)
	}
}

// What a device does not do right is said with its reason, and decides the exit code.
func TestDevices_wrongDevices(t *testing.T) {
	checks, err := devicecheck.Checks("add", "sub")
	require.NoError(t, err)
	for _, c := range []struct {
		mode  toy.Mode
		code  int
		error string
		says  string
	}{
		{toy.FailRun, 1, " cases are wrong", "  2 failed: toy: the hardware reports error 7\n"},
		{toy.Dead, 5, fmt.Sprintf("the device has died; %d of %d cases were not run", len(checks)-1, len(checks)),
			fmt.Sprintf("0 pass, 0 refused, 1 wrong, %d not run\n", len(checks)-1)},
	} {
		d := toy.New("toy")
		d.Set(c.mode)
		var out bytes.Buffer
		f := devicesFlags{}
		err := f.tested(d, &machine{}, checks, &out)
		var coded *exitError
		require.ErrorAs(t, err, &coded)
		assert.Equal(t, c.code, coded.code)
		assert.ErrorContains(t, err, c.error)
		assert.Contains(t, out.String(), c.says)
	}
}

func TestDevices_completion(t *testing.T) {
	_, out, _ := anynpu("__complete", "devices", "--op", "")
	ops := strings.Split(out, "\n")
	for _, name := range []string{"add", "softmax", "scan"} {
		assert.Contains(t, ops, name)
	}
	assert.NotContains(t, ops, "custom")
	_, out, _ = anynpu("__complete", "devices", "--device", "")
	assert.Equal(t, "cpu\n"+strings.Join(driverDevices, "\n")+"\n:4\n", out)
}

func TestDevices_manual(t *testing.T) {
	dir := t.TempDir()
	code, _, errs := anynpu("man", dir)
	require.Equal(t, 0, code, errs)
	page, err := os.ReadFile(filepath.Join(dir, "anynpu-devices.1"))
	require.NoError(t, err)
	assert.True(t, slices.ContainsFunc([]string{`\-\-op`, `--op`},
		func(s string) bool { return strings.Contains(string(page), s) }))
}
