package hbdnn

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestGenerationOf_versions(t *testing.T) {
	for version, want := range map[string]string{"1.1.0": "1.9", "1.9.7_(3.14.5 HBRT)": "1.9", "1.11.0": "1.9",
		"1.12.3": "1.12", "1.13.9": "1.12", "1.14.1": "1.14", "1.17": "1.14", "1.18.6": "1.18", "1.22.6": "1.18",
		"1.23.10":       "1.23",
		"1.24.5_(fake)": "1.23", "1.99.0": "1.23"} {
		g := generationOf(version)
		if assert.NotNil(t, g, version) {
			assert.Equal(t, want, g.name, version)
		}
	}
	for _, version := range []string{"", "1", "2.0.0", "v1.9.7", "one"} {
		assert.Nil(t, generationOf(version), version)
	}
}
