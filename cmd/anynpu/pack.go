package main

import (
	"io"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/model"
)

// eachOf calls f for the model at path, or for each model of the pack list there, whose failures go to stderr. The
// error has the exit code of the model, or of the first model of the pack that is not usable, or else of the first that
// is not as expected.
func eachOf(path string, stderr io.Writer, f func(path string) error) (pack bool, err error) {
	files, err := model.Pack(path)
	if err != nil {
		return false, exit(exitModel, err)
	}
	if files == nil {
		return false, f(path)
	}
	var first *exitError
	failed := 0
	for _, file := range files {
		err := exit(exitModel, f(file))
		if err == nil {
			continue
		}
		failed++
		printf(stderr, "anynpu: %s\n", err)
		if e := err.(*exitError); first == nil || first.code == exitDifferent {
			first = e
		}
	}
	if first == nil {
		return true, nil
	}
	return true, &exitError{code: first.code, err: fault.New(fault.KindOf(first),
		"pack list %s: %d of %d models %s not as expected [tool-pack-list-models]", path, failed, len(files),
		verb(failed, "is", "are"))}
}
