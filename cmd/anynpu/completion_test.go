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

func TestCompletion_keysOfMetadata(t *testing.T) {
	model := writeFile(t, "m.onnx", vectorModel("Add")) // y = x + x over float32[n]
	_, out, _ := anynpu("__complete", "metadata", model, "input.x.s")
	assert.Equal(t, "input.x.std=\ninput.x.scale=\ninput.x.source=\ninput.x.shapes=\ninput.x.shape=\n:6\n", out)
	_, out, _ = anynpu("__complete", "metadata", model, "anynpu.d")
	assert.Equal(t, "anynpu.dim.n=\n:6\n", out)
	_, out, _ = anynpu("__complete", "metadata", model, "v")
	assert.Equal(t, "value.x.stored=\nvalue.y.stored=\n:6\n", out)
	_, out, _ = anynpu("__complete", "metadata", model+"s", "na")
	assert.Equal(t, "name=\n:6\n", out)
	_, out, _ = anynpu("__complete", "metadata", "")
	assert.Equal(t, ":0\n", out)
	code, _, errs := anynpu("metadata", model, "name=digits", "dim.n=3")
	assert.Equal(t, 0, code, errs)
	_, out, _ = anynpu("__complete", "metadata", model, "--delete", "")
	assert.Equal(t, "anynpu.dim.n\nanynpu.name\n:4\n", out)
}
