package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
)

func TestCompletion_valuesOfFlags(t *testing.T) {
	_, out, _ := anynpu("__complete", "exec", "--api", "")
	for _, api := range vendorAPIs() {
		assert.Contains(t, out, api+"\n")
	}
	assert.Contains(t, out, "rknn\n")
	_, out, _ = anynpu("__complete", "bench", "--api", "")
	assert.Equal(t, "ohnn\nrknn\n:4\n", out)
	for _, verb := range []string{"run", "bench", "profile", "check"} {
		want := ""
		for _, isa := range kernel.Supported() {
			want += isa.String() + "\n"
		}
		_, out, _ = anynpu("__complete", verb, "--isa", "")
		assert.Equal(t, want+":4\n", out, verb)
	}
}

func TestMetadata_saysThatThereIsNone(t *testing.T) {
	model := writeFile(t, "m.onnx", vectorModel("Add"))
	code, out, errs := anynpu("metadata", model)
	assert.Equal(t, 0, code, errs)
	assert.Equal(t, "no metadata: neither the model nor a file "+model+".anynpu.json has any\n", out)
}
