package remote

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/internal/remote/fake"
)

// certificate writes a certificate that signs itself, for 127.0.0.1, and its key.
func certificate(t *testing.T, name string) (certFile, keyFile string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour),
		NotAfter:  time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")
	require.NoError(t, os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	return certFile, keyFile
}

func TestTLS_certificatesAndTokens(t *testing.T) {
	cert, key := certificate(t, "server")
	client, clientKey := certificate(t, "client")
	stranger, _ := certificate(t, "stranger")
	pair, err := tls.LoadX509KeyPair(cert, key)
	require.NoError(t, err)
	known, err := os.ReadFile(client)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(known))
	config := &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool,
		ClientAuth: tls.RequireAndVerifyClientCert}
	s := start(t, config, func(s *fake.Server) { s.Token = "secret" })
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte("secret\n"), 0o600))
	wrong := filepath.Join(t.TempDir(), "wrong")
	require.NoError(t, os.WriteFile(wrong, []byte("guess\n"), 0o600))
	t.Setenv("ANYNPU_TEST_TOKEN", "secret")
	good := dl.RemoteTLS{CA: cert, Certificate: client, Key: clientKey}

	for _, c := range []struct {
		name  string
		tls   dl.RemoteTLS
		token dl.RemoteToken
		why   string // a pattern, "": it works
	}{
		{"a file's token", good, dl.RemoteToken{File: token}, ""},
		{"a variable's token", good, dl.RemoteToken{Variable: "ANYNPU_TEST_TOKEN"}, ""},
		{"another token", good, dl.RemoteToken{File: wrong}, "no such token"},
		{"no token", good, dl.RemoteToken{}, "no such token"},
		{"a token's file that is not there", good, dl.RemoteToken{File: token + ".none"}, "no such file"},
		{"another CA", dl.RemoteTLS{CA: stranger, Certificate: client, Key: clientKey}, dl.RemoteToken{File: token}, "x509"},
		{"the system's CAs", dl.RemoteTLS{}, dl.RemoteToken{File: token}, "x509"},
		{"no client certificate", dl.RemoteTLS{CA: cert}, dl.RemoteToken{File: token},
			"certificate|no server"}, // the server's alert may come after its end of the connection
		{"another name", dl.RemoteTLS{CA: cert, Certificate: client, Key: clientKey, Server: "example.org"},
			dl.RemoteToken{File: token}, "x509"},
		{"a CA's file that is none", dl.RemoteTLS{CA: token}, dl.RemoteToken{}, "no certificate"},
	} {
		for _, address := range []string{s.GRPC(), s.REST()} {
			d, told := open(t, manifest(func(r *dl.Remote) { r.TLS, r.Token = c.tls, c.token }, address))
			answers, err := d.Support(twice(t, 4), device.Options{})
			require.NoError(t, err)
			if c.why != "" {
				assert.Regexp(t, c.why, answers[0].Reason, "%s, %s", c.name, address)
				assert.Len(t, *told, 1)
				assert.NotContains(t, answers[0].Reason, "secret")
				continue
			}
			require.True(t, answers[0].OK, "%s, %s: %s", c.name, address, answers[0].Reason)
			j := prepare(t, d, twice(t, 4), 4)
			require.NoError(t, j.run(1, device.RunRequest{}))
			j.right(1)
		}
	}
}
