// Package strangers runs the command conformance against libraries that misbehave in every way a stranger's may: they
// print, hang, die, fail, compute wrongly, close what is not theirs. The command ends each time, with its reports, and
// within limits of memory and disk.
package strangers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/conformance/hbdnn"
	"github.com/anynpu/anynpu/conformance/hbucp"
	"github.com/anynpu/anynpu/conformance/nnapi"
	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/internal/built"
)

const root = "../.."

// subject is an API, with what a stranger's library of it needs to know.
type subject struct {
	*suite.API
	event string // a function that every case calls which computes
	code  int    // with which a function fails
	run   string // text in the names of a few cases that call event

	refused string // text in the names of a few cases that fail if everything is refused
}

var subjects = []subject{
	{ohnn.API, "OH_NNExecutor_RunSync", 1, "ADD/f32_rank", "ADD/f32_rank"},
	{rknn.API, "rknn_run", -1, "vectors/argmax", "m1.a_create"},
	{hbdnn.API, "hbDNNInfer", -6000001, "3.d_bytes_are_copied", "2.laa_layout"},
	{hbucp.API, "hbDNNInferV2", -100001, "5.1.c_ddr", "5.3.a_alloc"},
	{nnapi.API, "ANeuralNetworksExecution_compute", 5, "ADD/F32_3", "ADD/F32_3"},
}

// kinds are the ways to misbehave, as stranger.c has them.
const (
	prints        = "PRINTS"
	hangsAtLoad   = "HANGS_AT_LOAD"
	hangsInACall  = "HANGS_IN_A_CALL"
	hangsAtExit   = "HANGS_AT_EXIT"
	wrong         = "WRONG"
	fails         = "FAILS"
	crashes       = "CRASHES"
	crashesAtExit = "CRASHES_AT_EXIT"
	closes        = "CLOSES"
	writes        = "WRITES"
	forks         = "FORKS"
	exits         = "EXITS"
	strays        = "STRAYS"
	converted     = "CONVERTED" // loads no ONNX, and what stands for a vendor's models
)

// happens tells whether a kind misbehaves in a function of the API.
func happens(kind string) bool {
	return slices.Contains([]string{prints, hangsInACall, crashes, closes, writes, forks, exits, strays}, kind)
}

// definition is a function that a C file defines.
var definition = regexp.MustCompile(`(?m)^[A-Za-z].*?\b(\w+)\([^;]*$`)

// build compiles a library of an API that misbehaves and returns its file.
func (s *subject) build(t *testing.T, kind string) string {
	dir := t.TempDir()
	real, err := filepath.Abs(built.Library(root, s.Soname))
	require.NoError(t, err)
	require.FileExists(t, real, "make libs builds it")
	data, err := filepath.Abs("testdata")
	require.NoError(t, err)
	args := []string{"-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-I" + dir, "-I" +
		data,
		"-I" + filepath.Join(root, "include"), "-DKIND=" + kind, fmt.Sprintf("-DCODE=(%d)", s.code), `-DREAL="` + real + `"`}
	var own []string
	if happens(kind) {
		own = []string{s.event}
		args = append(args, "-DEVENT="+s.event)
	}
	if kind == wrong || kind == converted {
		name := strings.ToLower(kind) + "_" + s.Name + ".h"
		text, err := os.ReadFile(filepath.Join(data, name))
		require.NoError(t, err)
		if kind == converted && strings.HasPrefix(s.Name, "hb") { // both generations share the code
			text, err = os.ReadFile(filepath.Join(data, "converted_hb.h"))
			require.NoError(t, err)
		}
		for _, m := range definition.FindAllStringSubmatch(string(text), -1) {
			own = append(own, m[1])
		}
		args = append(args, `-DSPOILS="`+name+`"`)
	}
	var all, handedOn strings.Builder
	for _, f := range slices.Concat(s.Functions, s.Historical) {
		pointer := 0
		for _, p := range s.Headers.Prototypes {
			if head, _, _ := strings.Cut(p, f+"("); head != p && strings.HasSuffix(strings.TrimSpace(head), "*") {
				pointer = 1
			}
		}
		fmt.Fprintf(&all, "F(%s, %d)\n", f, pointer)
		if !slices.Contains(own, f) {
			fmt.Fprintf(&handedOn, "F(%s, %d)\n", f, pointer)
		}
	}
	for name, text := range map[string]string{"functions.h": all.String(), "handed_on.h": handedOn.String()} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	// The name is that of the API's library: it is found in the current folder without ./.
	file := filepath.Join(dir, s.Soname)
	args = append(args, filepath.Join(data, "stranger.c"), "-o", file, "-ldl", "-lpthread")
	out, err := exec.Command("cc", args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return file
}
