package main

import (
	"debug/buildinfo"
	"os"
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

	declared := map[string]string{}
	for _, p := range d.Packages {
		declared[p.Name] = p.LicenseDeclared
	}
	assert.Equal(t, "BSD-3-Clause", declared["golang.org/x/sys"])
	assert.Equal(t, "Apache-2.0", declared["github.com/spf13/cobra"])
	assert.NotContains(t, declared, "NOASSERTION")

	again, err := describe("1.2.3", time.Unix(86400, 0).UTC(), []string{self})
	require.NoError(t, err)
	assert.Equal(t, d, again)
	_, err = describe("1.2.3", time.Now(), []string{"main.go"})
	assert.Error(t, err)
}

func TestLicence(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Licensed under the Apache License, Version 2.0 (the \"License\")", "Apache-2.0"},
		{"Redistribution and use in source and binary\n   forms, with or without ...\n Neither the name of X", "BSD-3-Clause"},
		{"Redistribution and use in source and binary forms, with or without", "BSD-2-Clause"},
		{"Permission is hereby granted, free of charge,\nto any person obtaining a copy ... Apache License, Version 2.0",
			"Apache-2.0 AND MIT"},
		{"You may do what you like", ""},
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "LICENSE.txt"), []byte(c.text), 0o600))
		got, err := licence(dir)
		assert.Equal(t, c.want, got)
		assert.Equal(t, c.want == "", err != nil, "%v", err)
	}
	_, err := licence(t.TempDir())
	assert.ErrorContains(t, err, "has no licence")
}
