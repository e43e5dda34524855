// Command sbom prints an SPDX 2.3 document (JSON) about the Go programs and libraries that it is given: each file, and
// the modules and the Go release that it is built from, as `go version -m` has them, with the licences of their
// sources.
//
//	sbom VERSION FILE...
//
// SOURCE_DATE_EPOCH, seconds since 1970, is the document's time.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const project = "github.com/anynpu/anynpu"

type document struct {
	SPDXVersion       string         `json:"spdxVersion"`
	DataLicense       string         `json:"dataLicense"`
	SPDXID            string         `json:"SPDXID"`
	Name              string         `json:"name"`
	DocumentNamespace string         `json:"documentNamespace"`
	CreationInfo      creation       `json:"creationInfo"`
	Packages          []pkg          `json:"packages"`
	Files             []file         `json:"files"`
	Relationships     []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type pkg struct {
	Name             string        `json:"name"`
	SPDXID           string        `json:"SPDXID"`
	VersionInfo      string        `json:"versionInfo"`
	DownloadLocation string        `json:"downloadLocation"`
	FilesAnalyzed    bool          `json:"filesAnalyzed"`
	LicenseConcluded string        `json:"licenseConcluded"`
	LicenseDeclared  string        `json:"licenseDeclared"`
	CopyrightText    string        `json:"copyrightText"`
	ExternalRefs     []externalRef `json:"externalRefs"`
}

type externalRef struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type file struct {
	Name             string     `json:"fileName"`
	SPDXID           string     `json:"SPDXID"`
	Types            []string   `json:"fileTypes"`
	Checksums        []checksum `json:"checksums"`
	LicenseConcluded string     `json:"licenseConcluded"`
	CopyrightText    string     `json:"copyrightText"`
}

type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type relationship struct {
	Element string `json:"spdxElementId"`
	Type    string `json:"relationshipType"`
	Related string `json:"relatedSpdxElement"`
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom VERSION FILE...")
		os.Exit(2)
	}
	epoch, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		fail(fmt.Errorf("SOURCE_DATE_EPOCH: %w", err))
	}
	d, err := describe(os.Args[1], time.Unix(epoch, 0).UTC(), os.Args[2:])
	if err != nil {
		fail(err)
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		fail(err)
	}
	fmt.Printf("%s\n", text)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "sbom:", err)
	os.Exit(1)
}

// describe returns the document about files of a version of the project.
func describe(version string, created time.Time, files []string) (*document, error) {
	d := &document{SPDXVersion: "SPDX-2.3", DataLicense: "CC0-1.0", SPDXID: "SPDXRef-DOCUMENT", Name: "AnyNPU-" + version,
		CreationInfo: creation{created.Format(time.RFC3339), []string{"Tool: anynpu-sbom"}}}
	root := module(project, version, "Apache-2.0")
	d.Packages = append(d.Packages, root)
	d.relate(d.SPDXID, "DESCRIBES", root.SPDXID)
	all := sha256.New()
	sources, err := folders()
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return nil, err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		sum := fmt.Sprintf("%x", sha256.Sum256(content))
		fmt.Fprintln(all, sum)
		f := file{Name: filepath.Base(path), SPDXID: id("File", filepath.Base(path)), Types: []string{"BINARY"},
			Checksums: []checksum{{"SHA256", sum}}, LicenseConcluded: "NOASSERTION", CopyrightText: "NOASSERTION"}
		d.Files = append(d.Files, f)
		d.relate(root.SPDXID, "CONTAINS", f.SPDXID)
		d.use(f.SPDXID, module("stdlib", strings.TrimPrefix(info.GoVersion, "go"), "BSD-3-Clause"))
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			expression, err := licence(sources[m.Path+"@"+m.Version])
			if err != nil {
				return nil, fmt.Errorf("module %s %s: %w", m.Path, m.Version, err)
			}
			d.use(f.SPDXID, module(m.Path, m.Version, expression))
		}
	}
	// An SPDX document is named by a URI that no other document has.
	d.DocumentNamespace = fmt.Sprintf("https://%s/spdx/%s-%x", project, version, all.Sum(nil)[:16])
	return d, nil
}

// use notes that a file is built from a package.
func (d *document) use(fileID string, p pkg) {
	if !slices.ContainsFunc(d.Packages, func(q pkg) bool { return q.SPDXID == p.SPDXID }) {
		d.Packages = append(d.Packages, p)
	}
	d.relate(fileID, "GENERATED_FROM", p.SPDXID)
}

func (d *document) relate(a, relation, b string) {
	d.Relationships = append(d.Relationships, relationship{a, relation, b})
}

func module(path, version, license string) pkg {
	return pkg{Name: path, SPDXID: id("Package", path+"-"+version), VersionInfo: version, DownloadLocation: "NOASSERTION",
		LicenseConcluded: "NOASSERTION", LicenseDeclared: license, CopyrightText: "NOASSERTION",
		ExternalRefs: []externalRef{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + path + "@" + version}}}
}

// id makes an SPDX identifier, which has letters, digits, "." and "-".
func id(kind, name string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-':
			return r
		default:
			return '-'
		}
	}, name)
	return "SPDXRef-" + kind + "-" + clean
}
