// Package built tells where the Makefile puts what it builds.
package built

import (
	"cmp"
	"os"
	"path/filepath"
)

// Folder is the folder that the environment variable BUILD names, else build. A relative name is relative to the
// repository's root.
func Folder() string { return cmp.Or(os.Getenv("BUILD"), "build") }

// Library is the file of a library, such as librknnrt.so. root is the repository's root, as the caller reaches it.
func Library(root, name string) string { return Path(root, "lib", name) }

// Path is a file or folder below that folder. root is the repository's root, as the caller reaches it.
func Path(root string, parts ...string) string {
	folder := Folder()
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(root, folder)
	}
	return filepath.Join(append([]string{folder}, parts...)...)
}
