package onnxruntime

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
)

// oneNode is an ONNX file, y = operator(x) of float [4]; in an operator set of another domain if that is named.
func oneNode(domain, operator string) []byte {
	part := func(to []byte, field protowire.Number, data []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(to, field, protowire.BytesType), data)
	}
	number := func(to []byte, field protowire.Number, n uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(to, field, protowire.VarintType), n)
	}
	set := func(domain string, version uint64) []byte { return number(part(nil, 1, []byte(domain)), 2, version) }
	value := func(name string) []byte {
		tensor := part(number(nil, 1, 1), 2, part(nil, 1, number(nil, 1, 4)))
		return part(part(nil, 1, []byte(name)), 2, part(nil, 1, tensor))
	}
	node := part(part(part(part(nil, 1, []byte("x")), 2, []byte("y")), 3, []byte("n")), 4, []byte(operator))
	node = part(node, 7, []byte(domain))
	graph := part(part(part(part(nil, 1, node), 2, []byte("g")), 11, value("x")), 12, value("y"))
	model := part(part(number(nil, 1, 8), 7, graph), 8, set("", 17))
	if domain != "" {
		model = part(model, 8, set(domain, 1))
	}
	return model
}

// TestStatus_codes provokes errors of the runtime: the sentence has the runtime's own code and words.
func TestStatus_codes(t *testing.T) {
	const fnCreateSession = fnCreateSessionFromArray - 1
	l := bind(t, newest(t))
	cpu := &provider{Provider: Provider{Name: CPUProvider}}
	options, err := l.options(cpu, "codes", forRuns, efforts[0], false)
	require.NoError(t, err)
	defer l.raw(fnReleaseSessionOptions, options)
	missing := word(filepath.Join(t.TempDir(), "missing.onnx"))
	name := word("NoSuchProvider")
	session := func(model []byte) error {
		at, err := l.session(model, cpu, "codes", forRuns)
		if err == nil {
			l.end(at)
		}
		return err
	}
	require.NoError(t, session(oneNode("", "Relu")))
	failed := func() error {
		_, err := l.plug("Missing", filepath.Join(t.TempDir(), "missing.so"), "")
		return err
	}
	opened := func() error {
		_, err := l.made(fnCreateSession, l.env, address(missing), options)
		return err
	}
	for _, c := range []struct {
		code string
		err  error
		kind fault.Kind
		text string
	}{
		{"1", failed(), fault.Unsupported, "missing.so"},
		{"2", l.call(fnSessionOptionsAppendExecutionProvider, options, address(name), 0, 0, 0), fault.Device,
			"NoSuchProvider"},
		{"3", opened(), fault.Device, "missing.onnx"},
		{"7", session([]byte("\xff no model")), fault.Unsupported, "protobuf"},
		{"9", session(oneNode("com.microsoft", "EPContext")), fault.Unsupported, "EPContext"},
		{"10", session(oneNode("", "NoSuchOperator")), fault.Unsupported, "NoSuchOperator"},
	} {
		require.Error(t, c.err, c.code)
		assert.ErrorContains(t, c.err, "ONNX Runtime's code is "+c.code+": ")
		assert.ErrorContains(t, c.err, c.text)
		assert.Equal(t, c.kind, fault.KindOf(c.err), "%v", c.err)
		assert.NotContains(t, c.err.Error(), "\n")
	}
}

// TestStatus_everyCode makes each status of the API itself: a device is lost with one code alone, and a want of memory
// is known by its words. A refusal hides neither.
func TestStatus_everyCode(t *testing.T) {
	const fnCreateStatus, codes = 0, 16
	l := bind(t, newest(t))
	for code := 1; code <= codes; code++ {
		for text, kind := range map[string]fault.Kind{"two\nlines": fault.Device,
			"Failed to allocate memory for 5 bytes": fault.Memory, "std::bad_alloc": fault.Memory} {
			if code == 5 {
				kind = fault.Device
			}
			words := word(text)
			err := l.call(fnCreateStatus, uintptr(code), address(words))
			require.Error(t, err)
			assert.Equal(t, kind, fault.KindOf(err), "%v", err)
			assert.Equal(t, code == 5, errors.Is(err, device.ErrDied), "%v", err)
			assert.Equal(t, kind == fault.Memory, errors.Is(err, mem.ErrExhausted), "%v", err)
			assert.NotContains(t, err.Error(), "\n")
			judgement := fault.KindOf(refused(err))
			if code != 5 && kind == fault.Device {
				assert.Equal(t, fault.Unsupported, judgement, "%v", err)
			} else {
				assert.Equal(t, kind, judgement, "%v", err)
			}
		}
	}
}

// TestStatus_runOfProvider provokes a failed run of a provider, by a back end of QNN that no manifest may name: it
// makes a session, writes it to a file of the current folder, and runs nothing.
func TestStatus_runOfProvider(t *testing.T) {
	plugin := file(t, "onnxruntime_qnn/onnxruntime_qnn/libonnxruntime_providers_qnn.so")
	d := open(t, newest(t), Provider{Name: "Failing", Plugin: plugin, Options: map[string]string{"backend_type": "ir"}})
	t.Chdir(t.TempDir())
	e, out := bound(t, d, products(t, 2, 16), 2)
	defer e.Release()
	defer out.Release()
	err := run(e, time.Time{})
	require.Error(t, err)
	assert.ErrorContains(t, err, "ONNX Runtime's code is 11: ")
	assert.NotContains(t, err.Error(), "\n")
}
