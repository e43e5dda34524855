package model

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/metadata"
)

// Pack returns the files of the pack list at path; none when the file is no JSON, and so no list.
func Pack(path string) ([]string, error) {
	f, err := Source{Path: path}.Open()
	if err != nil {
		return nil, fault.Wrap(err, "model %s", path)
	}
	defer f.Close()
	if f.Format != JSON {
		return nil, nil
	}
	return metadata.ReadPack(path)
}
