package main

import (
	"debug/buildinfo"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDescribe(t *testing.T) {
	self := filepath.Join(t.TempDir(), "anynpu")
	out, err := exec.Command("go", "build", "-o", self, project+"/cmd/anynpu").CombinedOutput()
	require.NoError(t, err, string(out))
	d, err := describe("1.2.3", time.Unix(86400, 0).UTC(), []string{self})
	require.NoError(t, err)
	assert.Equal(t, "1970-01-02T00:00:00Z", d.CreationInfo.Created)
	have := map[string]string{}
	names := regexp.MustCompile(`^SPDXRef-[A-Za-z0-9.-]+$`)
	for _, p := range d.Packages {
		have[p.Name] = p.VersionInfo
		assert.Regexp(t, names, p.SPDXID)
	}
	info, err := buildinfo.ReadFile(self)
	require.NoError(t, err)
	require.NotEmpty(t, info.Deps)
	for _, m := range info.Deps {
		assert.Equal(t, m.Version, have[m.Path], m.Path)
	}
	assert.Equal(t, "1.2.3", have[project])
	assert.Equal(t, "go"+have["stdlib"], info.GoVersion)
	known := map[string]bool{d.SPDXID: true}
	for _, p := range d.Packages {
		known[p.SPDXID] = true
	}
	for _, f := range d.Files {
		known[f.SPDXID] = true
	}
	for _, r := range d.Relationships {
		assert.True(t, known[r.Element] && known[r.Related], "%v", r)
	}

	again, err := describe("1.2.3", time.Unix(86400, 0).UTC(), []string{self})
	require.NoError(t, err)
	assert.Equal(t, d, again)
	_, err = describe("1.2.3", time.Now(), []string{"main.go"})
	assert.Error(t, err)
}
