package cache

import (
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/fault"
)

// Private is the error, of kind fault.File, of a directory that is not there, or is a link, or belongs to another user
// or can be written by all: then others may put files there. What is no cache of this package, and nobody vouches for,
// is kept in no such directory.
func Private(dir string) error {
	fd, err := retry(func() (int, error) {
		return unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return fault.As(fault.File, err, "cache: open directory %q", dir)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fault.As(fault.File, err, "cache: open directory %q", dir)
	}
	switch owner := int(st.Uid); {
	case owner != 0 && owner != unix.Geteuid():
		return fault.New(fault.File, "cache: directory %q belongs to user %d", dir, owner)
	case st.Mode&unix.S_IWOTH != 0:
		return fault.New(fault.File, "cache: directory %q can be written by every user", dir)
	}
	return nil
}
