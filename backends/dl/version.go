package dl

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
)

// versions reads the key "anynpu".
func (m *Manifest) versions(keys map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		into := map[string]*string{"from": &m.Least, "below": &m.Below}[key]
		if into == nil {
			return fault.New(fault.File, "%s: anynpu: unknown key %s: want from and below", m.File, short(key))
		}
		if _, ok := parseVersion(keys[key]); !ok {
			return fault.New(fault.File, "%s: anynpu.%s: %s: want a version such as 0.1.0", m.File, key, short(keys[key]))
		}
		*into = keys[key]
	}
	return nil
}

// parseVersion reads up to three numbers between dots.
func parseVersion(text string) (v [3]int, ok bool) {
	parts := strings.Split(text, ".")
	if len(parts) > len(v) {
		return v, false
	}
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 31)
		if err != nil {
			return v, false
		}
		v[i] = int(n)
	}
	return v, true
}

// versionLess compares versions that parseVersion reads.
func versionLess(a, b string) bool {
	x, _ := parseVersion(a)
	y, _ := parseVersion(b)
	return slices.Compare(x[:], y[:]) < 0
}
