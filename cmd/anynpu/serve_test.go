package main

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/tensor"
)

// serveUntil runs serve with the arguments until SIGTERM and gives f the addresses that it prints once it is ready. It
// returns the exit code and the output.
func serveUntil(t *testing.T, f func(addresses map[string]string), args ...string) (code int, stdout, stderr string) {
	r, w := io.Pipe()
	var errs bytes.Buffer
	var running sync.WaitGroup
	running.Go(func() {
		code = command(append([]string{"serve", "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0"}, args...), w, &errs)
		w.Close()
	})
	addresses := map[string]string{}
	var all strings.Builder
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		all.WriteString(lines.Text() + "\n")
		if use, address, is := strings.Cut(lines.Text(), " on "); is && !strings.Contains(use, ":") {
			addresses[use] = address
		}
		if strings.HasPrefix(lines.Text(), "ready: ") {
			f(addresses)
			assert.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGTERM))
		}
	}
	running.Wait()
	return code, all.String(), errs.String()
}

// modelFolder is a folder with the example's model.
func modelFolder(t *testing.T) string {
	dir := t.TempDir()
	data, err := os.ReadFile(digits + "digits.onnx")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "digits.onnx"), data, 0o600))
	return dir
}

func TestServe_givesWhatRunGives(t *testing.T) {
	dir := modelFolder(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "strange.onnx"), vectorModel("Frobnicate"), 0o600))
	out := t.TempDir()
	code, _, errs := anynpu("run", digits+"digits.onnx", "-i", digits+"images/000_label4.pgm", "-o", out)
	require.Equal(t, 0, code, errs)
	want, err := tensor.ReadFloat32s(readNPY(t, filepath.Join(out, "probabilities.npy")).Data, 10)
	require.NoError(t, err)
	file, err := os.ReadFile(digits + "images/000_label4.pgm")
	require.NoError(t, err)
	pixels := make([]float32, 64)
	for i, b := range file[len(file)-64:] {
		pixels[i] = float32(b) / 16 // as the model's metadata have it
	}
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	code, stdout, errs := serveUntil(t, func(at map[string]string) {
		q, err := json.Marshal(map[string]any{"inputs": []any{map[string]any{"name": "image", "shape": []int{1, 1, 8, 8},
			"datatype": "FP32", "data": pixels}}})
		require.NoError(t, err)
		a, err := client.Post("http://"+at["HTTP"]+"/v2/models/digits/infer", "application/json", bytes.NewReader(q))
		require.NoError(t, err)
		defer a.Body.Close()
		assert.Equal(t, 200, a.StatusCode)
		var got struct{ Outputs []struct{ Data []float32 } }
		require.NoError(t, json.NewDecoder(a.Body).Decode(&got))
		require.Len(t, got.Outputs, 1)
		assert.InDeltaSlice(t, want, got.Outputs[0].Data, 1e-6)
		b, err := client.Get("http://" + at["gRPC"] + "/v2/models/strange/ready")
		require.NoError(t, err)
		defer b.Body.Close()
		text, err := io.ReadAll(b.Body)
		require.NoError(t, err)
		assert.Equal(t, 503, b.StatusCode)
		assert.Contains(t, string(text), "Frobnicate")
	}, dir)
	assert.Equal(t, 0, code, errs)
	assert.Contains(t, stdout, "ready: 1 of 2 models on cpu\n")
	assert.Contains(t, errs, "anynpu: model digits version 1 is loaded from ")
	assert.Contains(t, errs, "anynpu: model strange version 1 is not loaded: ")
}

// certificate writes a key and its certificate for 127.0.0.1 and returns their files and who trusts it.
func certificate(t *testing.T) (cert, key string, pool *x509.CertPool) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	data, err := x509.CreateCertificate(rand.Reader, about, about, &private.PublicKey, private)
	require.NoError(t, err)
	secret, err := x509.MarshalECPrivateKey(private)
	require.NoError(t, err)
	parsed, err := x509.ParseCertificate(data)
	require.NoError(t, err)
	pool = x509.NewCertPool()
	pool.AddCert(parsed)
	return writeFile(t, "cert.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: data})),
		writeFile(t, "key.pem", pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret})), pool
}

func TestServe_withTLSAndToken(t *testing.T) {
	cert, key, pool := certificate(t)
	token := writeFile(t, "token", []byte("secret\n"))
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool},
		ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()
	code, _, errs := serveUntil(t, func(at map[string]string) {
		for header, status := range map[string]int{"": 401, "Bearer secret": 200} {
			q, err := http.NewRequest("GET", "https://"+at["gRPC"]+"/v2/models/digits", nil)
			require.NoError(t, err)
			q.Header.Set("Authorization", header)
			a, err := client.Do(q)
			require.NoError(t, err)
			a.Body.Close()
			assert.Equal(t, status, a.StatusCode)
			assert.Equal(t, 2, a.ProtoMajor)
		}
	}, modelFolder(t), "--tls-cert", cert, "--tls-key", key, "--token-file", token)
	assert.Equal(t, 0, code, errs)
	code, _, errs = serveUntil(t, func(at map[string]string) { // a client without a certificate
		a, err := client.Get("https://" + at["HTTP"] + "/v2/health/live")
		if err == nil {
			a.Body.Close()
		}
		assert.Error(t, err)
	}, modelFolder(t), "--tls-cert", cert, "--tls-key", key, "--tls-client-ca", cert)
	assert.Equal(t, 0, code, errs)
}

func TestServe_exitCodes(t *testing.T) {
	dir := modelFolder(t)
	bad := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bad, "strange.onnx"), vectorModel("Frobnicate"), 0o600))
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer busy.Close()
	cert, key, _ := certificate(t)
	empty := writeFile(t, "empty", nil)
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{}, 2, "want one DIR, got 0"},
		{[]string{"nowhere"}, 2, "serve nowhere: no such file"},
		{[]string{cert}, 2, "want a folder of models"},
		{[]string{bad}, 3, "none of 1 models can be loaded"},
		{[]string{dir, "--grpc", "off", "--http", "off"}, 2, "nothing to serve"},
		{[]string{dir, "--grpc", ":0"}, 2, "want --tls-cert and --tls-key, or --insecure"},
		{[]string{dir, "--grpc", ":0", "--tls-cert", cert, "--tls-key", key}, 2, "want --token-file or --tls-client-ca"},
		{[]string{dir, "--grpc", "8001"}, 2, "--grpc 8001: want host:port"},
		{[]string{dir, "--http", "unix:"}, 2, "no path"},
		{[]string{dir, "--http", busy.Addr().String()}, 2, "address already in use"},
		{[]string{dir, "--tls-cert", cert}, 2, "go together"},
		{[]string{dir, "--tls-cert", cert, "--tls-key", cert}, 2, "--tls-cert " + cert},
		{[]string{dir, "--tls-client-ca", cert}, 2, "want --tls-cert"},
		{[]string{dir, "--tls-cert", cert, "--tls-key", key, "--tls-client-ca", key}, 2, "no certificate"},
		{[]string{dir, "--token-file", "nowhere"}, 2, "--token-file nowhere: no such file"},
		{[]string{dir, "--token-file", empty}, 2, "want one word"},
		{[]string{dir, "--queue", "0"}, 2, "--queue 0: want 1 to"},
		{[]string{dir, "--batch", "70000"}, 2, "--batch 70000: want 1 to 65536"},
		{[]string{dir, "--timeout", "0s"}, 2, "--timeout 0s"},
		{[]string{dir, "--max-message", "2T"}, 2, "--max-message"},
		{[]string{dir, "--max-message", "64M", "--max-held", "32M"}, 2, "--max-held 32M: want at least --max-message 64M"},
		{[]string{dir, "--no-load", "--fixed"}, 2, "never be a model"},
		{[]string{dir, "--device", "warp"}, 4, `no device "warp"`},
	} {
		args := append([]string{"serve"}, c.args...)
		for _, flag := range []string{"--grpc", "--http"} {
			if !strings.Contains(strings.Join(args, " ")+" ", flag+" ") {
				args = append(args, flag, "127.0.0.1:0")
			}
		}
		code, _, errs := anynpu(args...)
		assert.Equal(t, c.code, code, "%v: %s", c.args, errs)
		assert.Contains(t, errs, c.says)
	}
}

func TestByteSize(t *testing.T) {
	for text, n := range map[string]int64{"1": 1, "64M": 64 << 20, "1024G": 1 << 40, "3K": 3 << 10} {
		var b byteSize
		require.NoError(t, b.Set(text))
		assert.EqualValues(t, n, b)
		assert.Equal(t, text, b.String())
	}
	for _, wrong := range []string{"", "0", "-1", "1T", "K", "2048G", "1.5M", "99999999999999999999"} {
		var b byteSize
		assert.Error(t, b.Set(wrong), wrong)
	}
}
