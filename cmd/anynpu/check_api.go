package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/anynpu/anynpu/backends/dl/loader"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/internal/nnapicalls"
)

// loadLimit is how long an API may take to load a model.
const loadLimit = 10 * time.Minute

// loadingAPIs are the APIs that check can have load a model, each with the function that does.
var loadingAPIs = map[string]string{
	apiRKNN: "rknn_init", "hbdnn": "hbDNNInitializeFromFiles", apiOHNN: "OH_NNCompilation_Build",
	"nnapi": "ANeuralNetworksCompilation_finish",
}

// checkLoad is the JSON form of check with an API.
type checkLoad struct {
	Schema   string `json:"schema"` // "anynpu.check-api/1"
	File     string `json:"file"`
	API      string `json:"api"`
	Function string `json:"function"` // the last one that a program calls to load it
	Usable   bool   `json:"usable"`
	Error    string `json:"error,omitempty"` // the sentence of the call that failed
}

// checkAPI has an API load the model at path in a process of its own, and reports what it says.
func checkAPI(path, api string, asJSON bool, stdout, stderr io.Writer) error {
	r := checkLoad{Schema: "anynpu.check-api/1", File: path, API: api, Function: loadingAPIs[api]}
	if r.Function == "" {
		return usage("check: --api %s: want %s [tool-check-api]", api, strings.Join(sorted(loadingAPIs), ", "))
	}
	if _, err := os.Stat(path); err != nil {
		return exit(exitModel, fault.New(fault.File, "model %s: %v [tool-model]", path, cause(err)))
	}
	file := path
	if api == "nnapi" {
		calls, refused, err := writeCalls(path, stderr)
		if err != nil {
			return err
		}
		defer os.Remove(calls)
		if refused != nil {
			r.Error = fmt.Sprintf("NNAPI has no operation for it: %v", refused)
		}
		file = calls
	}
	if r.Error == "" {
		var err error
		if r.Error, err = loadIn(api, file, stderr); err != nil {
			return err
		}
	}
	r.Usable = r.Error == ""
	if asJSON {
		if err := writeJSON(stdout, r); err != nil {
			return err
		}
	} else if r.Usable {
		printf(stdout, "%s: %s takes it\n", path, r.Function)
	}
	if !r.Usable {
		text, id := fault.Cut(r.Error)
		return &exitError{exitDifferent, errors.New(text), id}
	}
	return nil
}

// loadIn has the library load a file and returns the sentence of the call that failed, "" if none did. The library's
// other messages go to stderr.
func loadIn(api, file string, stderr io.Writer) (string, error) {
	lacks := func(what string) error {
		return exit(exitDevice, fault.New(fault.Device, "check: %s is not beside this tool, as make and make "+
			"install put it [tool-check-beside-make]",
			what))
	}
	helper, stubs := helperFile(), stubFolder()
	if helper == "" {
		return "", lacks("the program that loads models")
	}
	core := loader.In(stubs, loader.Core)
	if core == "" {
		core = loader.In(filepath.Dir(stubs), loader.Core)
	}
	if core == "" {
		return "", lacks(loader.Core)
	}
	var log bytes.Buffer
	o, err := runHelperTo(&log, []string{helper, "--load", api, core, file}, nil, loadLimit)
	if err != nil {
		return "", exit(exitDevice, fmt.Errorf("check: %w", err))
	}
	sentence, refused := strings.CutPrefix(strings.TrimSpace(o.Output), "refused ")
	for line := range strings.Lines(log.String()) {
		if !refused || !strings.Contains(line, ": call failed ") {
			printf(stderr, "%s", line)
		}
	}
	switch {
	case refused:
		return sentence, nil
	case o.TimedOut:
		return "", exit(exitTimeout, fmt.Errorf("check: %s has not ended after %v", loadingAPIs[api], loadLimit))
	case o.Exit != 0:
		return "", exit(exitRun, fmt.Errorf("check: the program that calls %s ended with exit code %d, signal %d",
			loadingAPIs[api], o.Exit, o.Signal))
	}
	return "", nil
}

// writeCalls writes the calls by which programs of NNAPI say the model at path to a file. The API has no files; refused
// is why the model cannot be said.
func writeCalls(path string, stderr io.Writer) (file string, refused, err error) {
	m, err := load(path, nil, stderr)
	if err != nil {
		return "", nil, err
	}
	defer m.weights.Release()
	described, refused := nnapicalls.Describe(m.Graph)
	f, err := os.CreateTemp("", "anynpu-calls-*")
	if err != nil {
		return "", nil, err
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if refused == nil {
		err = nnapicalls.Write(f, described)
	}
	return f.Name(), refused, err
}
