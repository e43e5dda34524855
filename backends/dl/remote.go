package dl

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/anynpu/anynpu/core/fault"
)

// RemoteSchema is the value of the key "schema" of a manifest that names servers in place of a driver.
const RemoteSchema = "anynpu.remote/1"

// RemoteAPI is the Candidate.API of servers: the Open Inference Protocol.
const RemoteAPI = "oip"

// The defaults of a manifest of servers.
const (
	RemoteDeadline = 10 * time.Second
	RemoteLargest  = 256 << 20
	UploadDeadline = time.Minute
	mostAddresses  = 64
	mostMessage    = 1<<31 - 1
)

// The values of Choice and Fallback.
const (
	ChoiceOrder      = "order"
	ChoiceRoundRobin = "round-robin"
	FallbackCPU      = "cpu"
	FallbackOff      = "off"
)

// The values of Upload.Backend.
const (
	UploadTriton       = "triton"
	UploadTritonPython = "triton-python"
)

var (
	remoteName  = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)
	headerName  = regexp.MustCompile(`^[a-z0-9_.-]{1,64}$`)
	modelNumber = regexp.MustCompile(`^[1-9][0-9]{0,8}$`)
	hostAndPort = regexp.MustCompile(`^([A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})$`)
)

// parseRemote reads a manifest whose schema is RemoteSchema.
func parseRemote(file string, keys map[string]json.RawMessage) (*Manifest, error) {
	bad := func(format string, args ...any) (*Manifest, error) {
		return nil, fault.New(fault.File, file+": "+format, args...)
	}
	r := &Remote{Choice: ChoiceOrder, DeadlineMS: RemoteDeadline.Milliseconds(), Connections: 1, Largest: RemoteLargest,
		Fallback: FallbackCPU}
	schema, versions := "", map[string]string{}
	m := &Manifest{File: file, API: RemoteAPI, Mode: ModeDevice, Remote: r}
	known := map[string]any{"schema": &schema, "name": &r.Name, "addresses": &r.Addresses, "choice": &r.Choice,
		"model": &r.Model, "version": &r.Version, "models": &r.Models, "deadline_ms": &r.DeadlineMS,
		"connections": &r.Connections, "largest_message": &r.Largest, "headers": &r.Headers, "tls": &r.TLS,
		"token": &r.Token, "fallback": &r.Fallback, "shared_memory": &r.SharedMemory, "upload": &r.Upload,
		"anynpu": &versions, "environment": &m.Environment}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		into := known[key]
		if into == nil {
			return bad("unknown key %s: want %s", short(key), strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		d := json.NewDecoder(strings.NewReader(string(keys[key])))
		d.DisallowUnknownFields()
		if err := d.Decode(into); err != nil || string(keys[key]) == "null" {
			return bad("%s: %s: want %s", key, short(string(keys[key])), remoteKinds[key])
		}
	}
	m.Name = r.Name
	for _, a := range r.Addresses {
		if !validAddress(a) {
			return bad("addresses: %s: want grpc://HOST:PORT, or grpcs, http or https", short(a))
		}
	}
	for i, e := range r.Models {
		if e.Model == "" || e.Name == "" && e.SHA256 == "" {
			return bad("models: entry %d: want model, and name or sha256 of the graph", i)
		}
	}
	for name, value := range r.Headers {
		if !headerName.MatchString(name) || strings.ContainsAny(value, "\r\n\x00") {
			return bad("headers: %s: want lower-case names and values of one line", short(name))
		}
	}
	paths := []struct{ key, value string }{{"tls.ca", r.TLS.CA}, {"tls.certificate", r.TLS.Certificate},
		{"tls.key", r.TLS.Key}, {"token.file", r.Token.File}}
	for _, p := range paths {
		if p.value != "" && !filepath.IsAbs(p.value) {
			return bad("%s: %s: want an absolute path", p.key, short(p.value))
		}
	}
	switch {
	case !remoteName.MatchString(r.Name):
		return bad("name: %s: want 1 to 64 letters, digits, dots, dashes or underscores", short(r.Name))
	case len(r.Addresses) == 0 || len(r.Addresses) > mostAddresses:
		return bad("addresses: %d of them: want 1 to %d", len(r.Addresses), mostAddresses)
	case r.Choice != ChoiceOrder && r.Choice != ChoiceRoundRobin:
		return bad("choice: %s: want order or round-robin", short(r.Choice))
	case r.Model == "" && len(r.Models) == 0 && r.Upload == nil:
		return bad("model: missing or empty, and models has no entry")
	case r.Model == "" && r.Version != "":
		return bad("version: %s: it goes with model", short(r.Version))
	case r.DeadlineMS < 1 || r.DeadlineMS > 24*3600*1000:
		return bad("deadline_ms: %d: want 1 to 86400000", r.DeadlineMS)
	case r.Connections < 1 || r.Connections > 64:
		return bad("connections: %d: want 1 to 64", r.Connections)
	case r.Largest < 1024 || r.Largest > mostMessage:
		return bad("largest_message: %d: want 1024 to %d", r.Largest, mostMessage)
	case (r.TLS.Certificate == "") != (r.TLS.Key == ""):
		return bad("tls: certificate and key go together")
	case r.Token.File != "" && r.Token.Variable != "":
		return bad("token: want file or variable, not both")
	case r.Fallback != FallbackCPU && r.Fallback != FallbackOff:
		return bad("fallback: %s: want cpu or off", short(r.Fallback))
	}
	if why := r.upload(); why != "" {
		return bad("upload: %s", why)
	}
	if err := m.versions(versions); err != nil {
		return nil, err
	}
	return m, nil
}

// upload completes the key upload, and returns its fault, if any.
func (r *Remote) upload() (why string) {
	u := r.Upload
	if u == nil {
		return ""
	}
	if u.DeadlineMS == 0 {
		u.DeadlineMS = UploadDeadline.Milliseconds()
	}
	versions := []string{r.Version}
	for _, m := range r.Models {
		versions = append(versions, m.Version)
	}
	number := func(v string) bool { return v == "" || modelNumber.MatchString(v) }
	for _, a := range u.Addresses {
		if !validAddress(a) || !isHTTP(a) {
			return "addresses: " + short(a) + ": want http://HOST:PORT or https"
		}
	}
	switch {
	case u.Backend != UploadTriton && u.Backend != UploadTritonPython:
		return "backend: " + short(u.Backend) + ": want triton or triton-python"
	case u.Addresses == nil && slices.ContainsFunc(r.Addresses, func(a string) bool { return !isHTTP(a) }):
		return "addresses: missing: want the HTTP address of each of the manifest's addresses, as some are gRPC"
	case u.Addresses != nil && len(u.Addresses) != len(r.Addresses):
		return fmt.Sprintf("addresses: %d of them: want one for each of the manifest's %d", len(u.Addresses),
			len(r.Addresses))
	case u.DeadlineMS < 1 || u.DeadlineMS > 24*3600*1000:
		return fmt.Sprintf("deadline_ms: %d: want 1 to 86400000", u.DeadlineMS)
	case !slices.ContainsFunc(versions, func(v string) bool { return !number(v) }):
		return ""
	}
	return "a version of the manifest is no number from 1 to 999999999, as versions of models that are sent have to be"
}

func isHTTP(address string) bool { return strings.HasPrefix(address, "http") }

// Repository is the address that takes models for address i.
func (r *Remote) Repository(i int) string {
	if r.Upload.Addresses == nil {
		return r.Addresses[i]
	}
	return r.Upload.Addresses[i]
}

// remoteKinds says what the values of keys are.
var remoteKinds = map[string]string{"schema": "a string", "name": "a string", "addresses": "a list of strings",
	"choice": "a string", "model": "a string", "version": "a string",
	"models":      "a list of objects with name, sha256, model and version",
	"deadline_ms": "a whole number", "connections": "a whole number", "largest_message": "a whole number",
	"headers": "an object of strings", "tls": "an object of ca, certificate, key and server_name",
	"token": "an object with file or variable", "fallback": "a string", "shared_memory": "true or false",
	"upload": "an object of backend, addresses and deadline_ms", "anynpu": "an object of strings",
	"environment": "an object of strings"}

// validAddress checks SCHEME://HOST:PORT.
func validAddress(a string) bool {
	scheme, rest, ok := strings.Cut(a, "://")
	if !ok || !slices.Contains([]string{"grpc", "grpcs", "http", "https"}, scheme) {
		return false
	}
	parts := hostAndPort.FindStringSubmatch(rest)
	if parts == nil {
		return false
	}
	if host, is := strings.CutPrefix(parts[1], "["); is {
		if _, err := netip.ParseAddr(strings.TrimSuffix(host, "]")); err != nil {
			return false
		}
	}
	var port int
	for _, c := range parts[2] {
		port = port*10 + int(c-'0')
	}
	return port > 0 && port < 1<<16
}

// ModelFor returns the server's model for a graph of a name and a content hash; ok is false when there is none.
func (r *Remote) ModelFor(name, sum string) (model, version string, ok bool) {
	for _, e := range r.Models {
		if (e.Name == "" || e.Name == name) && (e.SHA256 == "" || strings.EqualFold(e.SHA256, sum)) {
			return e.Model, e.Version, true
		}
	}
	return r.Model, r.Version, r.Model != ""
}
