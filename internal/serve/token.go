package serve

import (
	"crypto/sha256"
	"crypto/subtle"
)

// same compares two texts in a time that does not depend on what they have in common, nor on their lengths.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
