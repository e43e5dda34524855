package mem

import (
	"os"

	"golang.org/x/sys/unix"
)

// sealedFile makes a file of length zero bytes that has no name and, where the system has seals, a fixed length.
func sealedFile(name string, length int64, flags int) (fd int, err error) {
	if name == "" {
		name = "anynpu"
	}
	fd, seals, err := sharedFile(name, length, flags)
	if err != nil {
		return -1, err
	}
	if seals != 0 {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
			unix.Close(fd)
			return -1, err
		}
	}
	return fd, nil
}

// sharedFile makes a file of length zero bytes that has no name, and tells the seals that can be added to it. Sandboxes
// that know no memfd_create, or refuse it, get an unlinked file in a folder for temporary files, which has none.
func sharedFile(name string, length int64, flags int) (fd, seals int, err error) {
	if err := CheckFileSize(length); err != nil {
		return -1, 0, err
	}
	fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|flags)
	switch {
	case err == nil:
		seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
		err = unix.Ftruncate(fd, length)
	case err == unix.ENOSYS || err == unix.EPERM || err == unix.EACCES:
		if fd = unlinkedFile(); fd < 0 {
			return -1, 0, err
		}
		err = unix.Fallocate(fd, 0, 0, length) // a file system that is full would fault at the first touch
	default:
		return -1, 0, err
	}
	if err != nil {
		unix.Close(fd)
		return -1, 0, err
	}
	return fd, seals, nil
}

// unlinkedFile opens a new file without a name, in memory if that is to be had; -1 if nowhere.
func unlinkedFile() int {
	for _, dir := range []string{"/dev/shm", os.TempDir()} {
		if fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600); err == nil {
			return fd
		}
	}
	return -1
}

// CheckFileSize returns EFBIG if the process may not have files of size bytes (RLIMIT_FSIZE). Growing one beyond that
// would not only fail: the kernel sends SIGXFSZ, which ends a program that does not handle it.
func CheckFileSize(size int64) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err == nil && uint64(size) > limit.Cur {
		return unix.EFBIG
	}
	return nil
}
