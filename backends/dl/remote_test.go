package dl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const remoteManifest = `{"schema": "anynpu.remote/1", "name": "edge", "addresses": ["grpc://h:1", "https://[::1]:65535"],
	"model": "m", "models": [{"name": "digits", "model": "d", "version": "2"}, {"sha256": "AB", "model": "e"}]`

func TestParse_remote(t *testing.T) {
	m, err := Parse("f", []byte(remoteManifest+`, "choice": "round-robin", "deadline_ms": 50, "token": {"variable": "T"},
		"tls": {"ca": "/ca"}, "headers": {"application": "a"}, "fallback": "off", "anynpu": {"from": "1"}}`))
	require.NoError(t, err)
	assert.Equal(t, &Remote{Name: "edge", Addresses: []string{"grpc://h:1", "https://[::1]:65535"}, Choice: ChoiceRoundRobin,
		Model: "m", Models: []RemoteModel{{Name: "digits", Model: "d", Version: "2"},
			{SHA256: "AB", Model: "e"}}, DeadlineMS: 50,
		Connections: 1, Largest: 256 << 20, Headers: map[string]string{"application": "a"}, TLS: RemoteTLS{CA: "/ca"},
		Token: RemoteToken{Variable: "T"}, Fallback: FallbackOff}, m.Remote)
	assert.Equal(t, "1", m.Least)
	for _, c := range []struct{ name, sum, model, version string }{{"digits", "", "d", "2"}, {"x", "ab", "e", ""},
		{"x", "", "m", ""}} {
		model, version, ok := m.Remote.ModelFor(c.name, c.sum)
		assert.True(t, ok)
		assert.Equal(t, []string{c.model, c.version}, []string{model, version})
	}
	_, _, ok := (&Remote{Models: m.Remote.Models}).ModelFor("x", "")
	assert.False(t, ok)
}

func TestParse_remoteRefused(t *testing.T) {
	for more, want := range map[string]string{
		`, "library": "/x"}`:                          `unknown key "library"`,
		`, "addresses": []}`:                          "addresses: 0 of them",
		`, "addresses": ["h:1"]}`:                     `addresses: "h:1": want grpc://HOST:PORT`,
		`, "addresses": ["grpc://h"]}`:                "want grpc://HOST:PORT",
		`, "addresses": ["grpc://h:0"]}`:              "want grpc://HOST:PORT",
		`, "addresses": ["grpc://h:65536"]}`:          "want grpc://HOST:PORT",
		`, "addresses": ["ftp://h:1"]}`:               "want grpc://HOST:PORT",
		`, "addresses": ["grpc://h:1/path"]}`:         "want grpc://HOST:PORT",
		`, "addresses": ["grpc://[zz]:1"]}`:           "want grpc://HOST:PORT",
		`, "addresses": "grpc://h:1"}`:                "want a list of strings",
		`, "name": "a b"}`:                            `name: "a b"`,
		`, "choice": "random"}`:                       "want order or round-robin",
		`, "deadline_ms": 0}`:                         "deadline_ms: 0",
		`, "deadline_ms": 1.5}`:                       "want a whole number",
		`, "connections": 65}`:                        "connections: 65",
		`, "largest_message": 1}`:                     "largest_message: 1",
		`, "fallback": "gpu"}`:                        "want cpu or off",
		`, "tls": {"ca": "relative"}}`:                `tls.ca: "relative": want an absolute path`,
		`, "tls": {"certificate": "/c"}}`:             "certificate and key go together",
		`, "tls": {"password": "x"}}`:                 "want an object of ca, certificate, key and server_name",
		`, "token": {"file": "/f", "variable": "V"}}`: "want file or variable, not both",
		`, "headers": {"A": "b"}}`:                    "want lower-case names",
		`, "headers": {"a": "b\nc"}}`:                 "want lower-case names",
		`, "models": [{"model": "x"}]}`:               "models: entry 0",
		`, "models": null}`:                           "want a list of objects",
		`, "model": "", "models": []}`:                "model: missing or empty",
		`, "model": "", "version": "3"}`:              `version: "3": it goes with model`,
		`, "anynpu": {"to": "1"}}`:                    `anynpu: unknown key "to"`,
		`, "upload": "triton"}`:                       "want an object of backend, addresses and deadline_ms",
		`, "upload": {}}`:                             `upload: backend: "": want triton or triton-python`,
		`, "upload": {"backend": "kserve"}}`:          `upload: backend: "kserve": want triton or triton-python`,
		`, "upload": {"backend": "triton"}}`:          "upload: addresses: missing",
		`, "upload": {"backend": "triton", "addresses": ["http://h:1"]}}`: "upload: addresses: 1 of them: want one for " +
			"each of the manifest's 2",
		`, "upload": {"backend": "triton", "addresses": ["grpc://h:1", "http://h:1"]}}`: `upload: addresses: ` +
			`"grpc://h:1": want http://HOST:PORT`,
		`, "addresses": ["http://h:1"], "upload": {"backend": "triton", "deadline_ms": -1}}`:    "upload: deadline_ms: -1",
		`, "addresses": ["http://h:1"], "version": "x", "upload": {"backend": "triton"}}`:       "upload: a version",
		`, "addresses": ["http://h:1"], "upload": {"backend": "triton-python", "python": "1"}}`: "want an object of backend",
	} {
		_, err := Parse("f", []byte(remoteManifest+more))
		assert.ErrorContains(t, err, want, more)
	}
}

// TestParse_upload: servers may be sent models that the manifest does not name; each has an address that takes them.
func TestParse_upload(t *testing.T) {
	const begin = `{"schema": "anynpu.remote/1", "name": "edge", "addresses": ["http://h:1", "https://h:2"], "upload": `
	m, err := Parse("f", []byte(begin+`{"backend": "triton"}}`))
	require.NoError(t, err)
	assert.Equal(t, &RemoteUpload{Backend: UploadTriton, DeadlineMS: 60000}, m.Remote.Upload)
	assert.Equal(t, "https://h:2", m.Remote.Repository(1))
	m, err = Parse("f", []byte(begin+`{"backend": "triton-python", "addresses": ["http://a:1", "http://b:1"],
		"deadline_ms": 5}, "addresses": ["grpc://h:1", "http://h:2"], "model": "m", "version": "3"}`))
	require.NoError(t, err)
	assert.Equal(t, int64(5), m.Remote.Upload.DeadlineMS)
	assert.Equal(t, []string{"http://a:1", "http://b:1"}, []string{m.Remote.Repository(0), m.Remote.Repository(1)})
}

// TestList_remote: servers are no file, and each name stands for one device.
func TestList_remote(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o755))
	for _, name := range []string{"a.json", "b.json"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(remoteManifest+"}"), 0o644))
	}
	list := List(Options{Getenv: func(name string) string { return map[string]string{"ANYNPU_DRIVERS": dir}[name] }})
	require.Len(t, list, 2)
	assert.Equal(t, Usable, list[0].Status, list[0].Reason)
	assert.Equal(t, RemoteAPI, list[0].API)
	assert.Equal(t, "grpc://h:1, https://[::1]:65535", list[0].Path)
	assert.Empty(t, list[0].File)
	assert.Equal(t, Refused, list[1].Status)
	assert.True(t, strings.HasSuffix(list[1].Reason, "a.json"), list[1].Reason)
	list[0].Probe(Options{}) // nothing is run
	assert.Equal(t, Usable, list[0].Status)
}
