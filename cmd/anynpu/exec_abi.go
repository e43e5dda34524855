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

// propertiesABI are the versions of the hbDNN headers whose hbDNNTensorProperties has so many bytes. Programs get the
// newest layout by default.
var propertiesABI = map[int64]string{136: "1.12", 144: "1.14"}

// formerABI are the functions that took other arguments in the oldest version, which has the structs of 1.12.
var formerABI = []string{"hbDNNUnquantizeByScale", "hbDNNConvertLayoutRoi", "hbDNNConvertLayoutToNative1111"}

// maxDebug bounds the descriptions of types that are read.
const maxDebug = 1 << 28

// newerHB are the functions of hbDNN that its newer generation alone has, beside all of hbUCP.
var newerHB = []string{"hbDNNInferV2", "hbDNNGetHBMDesc", "hbDNNGetCompileBpuCoreNum",
	"hbDNNGetTaskOutputTensorProperties"}

// ucpLibrary is the file that tells a process of the newer generation.
const ucpLibrary = "libhbucp.so"

// libdnn is the file of the older generation.
const libdnn = "libdnn.so"

// hbProgram holds the facts in a program's file about the hbDNN that it was built for.
type hbProgram struct {
	Schema     string   `json:"schema"` // "anynpu.program/1"
	File       string   `json:"file"`
	Imports    []string `json:"imports"`    // functions of hbDNN, of either generation
	Generation string   `json:"generation"` // "hbdnn", "hbucp", "" if it imports none
	Properties int64    `json:"properties"` // bytes of hbDNNTensorProperties, 0: the file does not describe it
	ABI        string   `json:"abi"`        // the right ANYNPU_HBDNN_ABI, "": it need not be set, or is not known
	Note       string   `json:"note"`       // why, or the unknown part
	linked     bool     // with libdnn.so, and not for UCP
}

// readHB reads the file of a program or library.
func readHB(path string) (*hbProgram, error) {
	file, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	symbols, err := file.ImportedSymbols()
	if err != nil {
		return nil, err
	}
	p := &hbProgram{Schema: "anynpu.program/1", File: path, Imports: []string{}}
	libraries, linkage := file.ImportedLibraries()
	p.linked = slices.Contains(libraries, libdnn) && !slices.Contains(libraries, ucpLibrary)
	newer := ""
	for _, s := range symbols {
		if !strings.HasPrefix(s.Name, "hbDNN") && !strings.HasPrefix(s.Name, "hbSys") && !strings.HasPrefix(s.Name, "hbUCP") {
			continue
		}
		p.Imports = append(p.Imports, s.Name)
		if p.Generation = "hbdnn"; newer == "" && (strings.HasPrefix(s.Name, "hbUCP") || slices.Contains(newerHB, s.Name)) {
			newer = s.Name
		}
	}
	slices.Sort(p.Imports)
	p.Imports = slices.Compact(p.Imports)
	if newer != "" {
		p.Generation = "hbucp"
		if linkage == nil && !slices.Contains(libraries, ucpLibrary) {
			p.ABI = "ucp"
			p.Note = fmt.Sprintf("calls %s, which UCP alone has, and is not linked with %s, so %s is ucp", newer, ucpLibrary,
				abiVariable)
		}
		return p, nil
	}
	if p.Generation == "" {
		return p, nil
	}
	if s := file.Section(".debug_info"); s != nil && s.Size <= maxDebug {
		if types, err := file.DWARF(); err == nil {
			p.Properties = sizeOfType(types, "hbDNNTensorProperties")
		}
	}
	p.decide()
	return p, nil
}

// decide finds the version of the older generation's headers that the program was built with, as far as its file shows
// it.
func (p *hbProgram) decide() {
	switch p.ABI = propertiesABI[p.Properties]; {
	case p.ABI != "":
		p.Note = fmt.Sprintf("was built with hbDNN headers whose hbDNNTensorProperties has %d bytes, so %s is %s",
			p.Properties, abiVariable, p.ABI)
		for _, name := range p.Imports {
			if p.Properties == 136 && slices.Contains(formerABI, name) {
				p.Note += fmt.Sprintf("; it calls %s, and if its headers are 1.9 it wants %s=1.9", name, abiVariable)
				break
			}
		}
	case p.Properties != 0:
	case slices.Contains(p.Imports, "hbDNNSetTaskDoneCb"):
		p.Note = "calls hbDNNSetTaskDoneCb, so its headers are 1.18 or newer, as is expected"
	default:
		p.Note = fmt.Sprintf("does not say which version of the headers it was built with: if it crashes, or shapes are "+
			"wrong, %s=1.14 or 1.12 is for older ones", abiVariable)
	}
}

// untold reports whether the program uses the older generation, or a library of its own may, and says nothing of the
// version of its headers.
func (p *hbProgram) untold() bool {
	if p.Generation == "hbdnn" {
		return p.Properties == 0 && !slices.Contains(p.Imports, "hbDNNSetTaskDoneCb")
	}
	return p.Generation == "" && p.linked
}

// hbdnnABI returns what ANYNPU_HBDNN_ABI has to be for the program at path, as far as its file says so and another than
// the newest is meant, and a sentence about it; both are empty otherwise.
func hbdnnABI(path string) (abi, note string) {
	p, err := readHB(path)
	if err != nil || p.ABI == "" {
		return "", ""
	}
	return p.ABI, p.Note
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
