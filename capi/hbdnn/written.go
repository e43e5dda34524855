package hbdnn

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/mem"
)

// folderOf returns the folder that a variable names, wherever the program goes later; ok is false when there is none,
// which is reported.
func folderOf(variable, value string) (folder string, ok bool) {
	if value == "" {
		return "", false
	}
	folder, err := filepath.Abs(value)
	if err == nil {
		var st fs.FileInfo
		if st, err = os.Stat(folder); err == nil && !st.IsDir() {
			err = syscall.ENOTDIR
		}
	}
	if err != nil {
		unwritten(variable, value, err)
		return "", false
	}
	return folder, true
}

// unwritten tells that a file which a variable asks for is not there.
func unwritten(variable, name string, err error) {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err // the name is reported already
	}
	boundary.Log(boundary.LevelError, "hbdnn", "not written [hbdnn-dump-not-written]", variable, name, "error", err)
}

// create writes a new file that only its owner reads. What cannot be written whole is not there.
func create(name string, data []byte) error {
	if err := mem.CheckFileSize(int64(len(data))); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		_ = os.Remove(name)
	}
	return err
}

// fileName is a model's or a tensor's name as a part of a file's: letters, digits, and what is harmless.
func fileName(s string) string {
	const most = 80
	s = strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '_'
	}, s)
	if strings.HasPrefix(s, ".") {
		s = "_" + s[1:]
	}
	return s[:min(len(s), most)]
}
