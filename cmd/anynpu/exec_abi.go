package main

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"slices"
	"strings"
)

// abiVariable names the version of the hbDNN headers that a program was built with.
const abiVariable = "ANYNPU_HBDNN_ABI"

// propertiesABI are the versions of the hbDNN headers whose hbDNNTensorProperties has so many bytes. The newest layout
// is what programs are served without a word.
var propertiesABI = map[int64]string{136: "1.12", 144: "1.14"}

// formerABI are the functions that took other arguments in the oldest version, whose structs are those of 1.12.
var formerABI = []string{"hbDNNUnquantizeByScale", "hbDNNConvertLayoutRoi", "hbDNNConvertLayoutToNative1111"}

// maxDebug bounds the descriptions of types that are read.
const maxDebug = 1 << 28

// hbdnnABI returns the version of the hbDNN headers that the program at path was built with, as far as the descriptions
// of its types say so and another than the newest is meant, and a sentence about it; both are empty otherwise.
func hbdnnABI(path string) (abi, note string) {
	file, err := elf.Open(path)
	if err != nil {
		return "", ""
	}
	defer file.Close()
	imports, err := file.ImportedSymbols()
	if err != nil || !slices.ContainsFunc(imports,
		func(s elf.ImportedSymbol) bool { return strings.HasPrefix(s.Name, "hbDNN") }) {
		return "", ""
	}
	if s := file.Section(".debug_info"); s == nil || s.Size > maxDebug {
		return "", ""
	}
	types, err := file.DWARF()
	if err != nil {
		return "", ""
	}
	size := sizeOfType(types, "hbDNNTensorProperties")
	if abi = propertiesABI[size]; abi == "" {
		return "", ""
	}
	note = fmt.Sprintf("was built with hbDNN headers whose hbDNNTensorProperties has %d bytes, so %s is %s", size,
		abiVariable, abi)
	for _, s := range imports {
		if size == 136 && slices.Contains(formerABI, s.Name) {
			note += fmt.Sprintf("; it calls %s, and if its headers are 1.9 it wants %s=1.9", s.Name, abiVariable)
			break
		}
	}
	return abi, note
}

// sizeOfType returns the bytes of the struct that C or C++ calls name, 0 if it is not described.
func sizeOfType(d *dwarf.Data, name string) int64 {
	r := d.Reader()
	for {
		e, err := r.Next()
		if err != nil || e == nil {
			return 0
		}
		named := e.Val(dwarf.AttrName) == name
		switch {
		case named && (e.Tag == dwarf.TagTypedef || e.Tag == dwarf.TagStructType):
			if t, err := d.Type(e.Offset); err == nil && t.Size() > 0 {
				return t.Size()
			}
		case e.Tag == dwarf.TagCompileUnit:
			continue
		}
		if e.Children {
			r.SkipChildren()
		}
	}
}

// setABI sets the version of the hbDNN headers that the program at path was built with, if that can be found and the
// environment names none.
func (f *execFlags) setABI(name, path string, environment []string) (_ []string, note string) {
	if lookup(environment)(abiVariable) != "" {
		return environment, ""
	}
	abi, note := hbdnnABI(path)
	if abi == "" {
		return environment, ""
	}
	return setVariable(environment, abiVariable, abi), name + ": " + note
}
