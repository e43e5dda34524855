package model

import (
	"bytes"

	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/format/rknn"
)

// Format is the format of a file.
type Format uint8

// The formats that something is done with.
const (
	Unknown Format = iota
	ONNX
	RKNN // compiled by Rockchip's converter, plain or encrypted
	JSON // such as a pack list
)

// Recognize tells the format of a file by its first bytes, of which some thousand are enough.
func Recognize(head []byte) Format {
	switch {
	case rknn.Recognize(head):
		return RKNN
	case bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")):
		return JSON
	case onnx.Recognize(head) && len(foreignTo(head).name) == 0:
		return ONNX
	}
	return Unknown
}

// foreign is a format that only other software reads.
type foreign struct {
	start string // the first bytes
	name  string
	needs string // what reads it
}

var foreignFormats = []foreign{
	{"RKNN", "a Rockchip RKNN model", "that vendor's device"},
	{"RKCE", "an encrypted Rockchip RKNN model", "that vendor's device"},
	{"CYPTRKNN", "an encrypted Rockchip RKNN model", "that vendor's device"},
	{"IMOD", "an offline model for Ascend or Kirin", "that vendor's device"},
	{"\x7fELF", "an ELF file", ""},
	{"PK\x03\x04", "a ZIP archive", ""},
	{"\x93NUMPY", "a .npy file", ""},
}

func foreignTo(head []byte) foreign {
	for _, f := range foreignFormats {
		if bytes.HasPrefix(head, []byte(f.start)) {
			return f
		}
	}
	if len(head) > 8 && string(head[4:7]) == "MSL" {
		return foreign{name: "a MindSpore Lite model", needs: "its own engine to build it"}
	}
	return foreign{}
}

// Foreign says what a file is that only other software reads, and what that needs: "a Rockchip RKNN model", "that
// vendor's device". name is empty when the file is not known as one, needs where there is nothing to say.
func Foreign(head []byte) (name, needs string) {
	f := foreignTo(head)
	return f.name, f.needs
}
