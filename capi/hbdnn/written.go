package hbdnn

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/anynpu/anynpu/capi/boundary"
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
