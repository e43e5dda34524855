package main

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/core/fault"
)

// listenFlags say where serve listens and who may talk to it.
type listenFlags struct {
	grpc, http                string
	cert, key, clientCA, file string
	insecure                  bool
}

func (f *listenFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.grpc, "grpc", "127.0.0.1:8001", "listen for gRPC on `ADDRESS`: host:port, unix:PATH, or off")
	fl.StringVar(&f.http, "http", "127.0.0.1:8000",
		"listen for HTTP on `ADDRESS`, which may be that of --grpc; both answer "+
			"both")
	fl.StringVar(&f.cert, "tls-cert", "", "`FILE` of the certificate and those that signed it, PEM")
	fl.StringVar(&f.key, "tls-key", "", "`FILE` of its key, PEM")
	fl.StringVar(&f.clientCA, "tls-client-ca", "", "`FILE` of certificates, PEM, one of which has signed a client's")
	fl.StringVar(&f.file, "token-file", "", "`FILE` of the token that clients have to show (Authorization: Bearer TOKEN)")
	fl.BoolVar(&f.insecure, "insecure", false, "listen on other addresses than this machine's without TLS or token")
}

// off stands for no address.
const off = "off"

func (f *listenFlags) check() error {
	switch {
	case f.grpc == off && f.http == off:
		return usage("--grpc off --http off: there would be nothing to serve [tool-serving-nothing]")
	case (f.cert == "") != (f.key == ""):
		return usage("--tls-cert and --tls-key go together [tool-serving-pair]")
	case f.clientCA != "" && f.cert == "":
		return usage("--tls-client-ca: want --tls-cert and --tls-key, too [tool-serving-client-ca]")
	}
	for _, at := range []struct{ flag, address string }{{"grpc", f.grpc}, {"http", f.http}} {
		if at.address == off {
			continue
		}
		local, err := isLocal(at.address)
		switch {
		case err != nil:
			return usage("--%s %s: want host:port, unix:PATH or off: %v [tool-serving-address]", at.flag, at.address, err)
		case local || f.insecure:
		case f.cert == "":
			return usage("--%s %s: others can reach this address; want --tls-cert and --tls-key, or --insecure "+
				"[tool-serving-tls]", at.flag, at.address)
		case f.file == "" && f.clientCA == "":
			return usage("--%s %s: others can reach this address; want --token-file or --tls-client-ca, or --insecure "+
				"[tool-serving-token]", at.flag, at.address)
		}
	}
	return nil
}

// isLocal tells whether only this machine reaches an address.
func isLocal(address string) (bool, error) {
	if path, is := strings.CutPrefix(address, "unix:"); is {
		if path == "" {
			return false, fault.New(fault.Argument, "no path [tool-serving-no-path]")
		}
		return true, nil
	}
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return false, err
	}
	return a.IP.IsLoopback(), nil
}

// security holds the token that clients show, and the certificates.
type security struct {
	tls   *tls.Config
	token string
}

// maxToken bounds a file of a token.
const maxToken = 64 << 10

// security reads the files.
func (f *listenFlags) security() (s security, err error) {
	if f.file != "" {
		text, err := os.ReadFile(f.file)
		if err != nil {
			return s, fault.As(fault.File, cause(err), "--token-file %s", f.file)
		}
		s.token = strings.TrimSpace(string(text))
		if s.token == "" || len(s.token) > maxToken || strings.ContainsAny(s.token, "\r\n \t") {
			return s, fault.New(fault.File, "--token-file %s: want one word of at most %d bytes [tool-serving-word]",
				f.file, maxToken)
		}
	}
	if f.cert == "" {
		return s, nil
	}
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return s, fault.As(fault.File, err, "--tls-cert %s --tls-key %s", f.cert, f.key)
	}
	s.tls = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if f.clientCA != "" {
		text, err := os.ReadFile(f.clientCA)
		if err != nil {
			return s, fault.As(fault.File, cause(err), "--tls-client-ca %s", f.clientCA)
		}
		s.tls.ClientCAs, s.tls.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
		if !s.tls.ClientCAs.AppendCertsFromPEM(text) {
			return s, fault.New(fault.File, "--tls-client-ca %s: no certificate in it [tool-serving-no-certificate]", f.clientCA)
		}
	}
	return s, nil
}

// listen listens on the addresses and returns the listeners by their use.
func (f *listenFlags) listen(tell func(string)) (map[string]net.Listener, error) {
	all := map[string]net.Listener{}
	for _, at := range []struct{ use, address string }{{"gRPC", f.grpc}, {"HTTP", f.http}} {
		if at.address == off || at.use == "HTTP" && f.http == f.grpc && !anyPort(f.http) {
			continue
		}
		network, address := "tcp", at.address
		if path, is := strings.CutPrefix(address, "unix:"); is {
			network, address = "unix", path
		}
		l, err := net.Listen(network, address)
		if err != nil {
			for _, l := range all {
				l.Close()
			}
			return nil, fault.As(fault.Device, err, "%s on %s", at.use, at.address)
		}
		use := at.use
		if f.grpc == f.http && !anyPort(f.http) {
			use = "gRPC and HTTP"
		}
		all[use] = l
		if local, _ := isLocal(at.address); !local && f.insecure && (f.cert == "" || f.file == "" && f.clientCA == "") {
			tell("warning: --insecure: whoever reaches " + l.Addr().String() + " can use the models")
		}
	}
	return all, nil
}

// anyPort tells whether the system chooses the port.
func anyPort(address string) bool {
	_, port, err := net.SplitHostPort(address)
	n, bad := strconv.Atoi(port)
	return err == nil && bad == nil && n == 0
}
