package leak

import (
	"context"
	"encoding/base64"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zricethezav/gitleaks/v8/config"
)

// hostile are texts that were made to take long, each repeated as often as it takes.
func hostile(t testing.TB) map[string]string {
	t.Helper()
	random := rand.New(rand.NewPCG(7, 8))
	noise := func(n int, set string) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = set[random.IntN(len(set))]
		}
		return string(b)
	}
	bytes := make([]byte, 1<<20)
	for i := range bytes {
		bytes[i] = byte(random.Uint32())
	}
	files, err := filepath.Glob("../*/*.go")
	require.NoError(t, err)
	var source strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		source.Write(text)
	}
	s, err := New()
	require.NoError(t, err)
	var keywords strings.Builder
	for _, r := range s.rules {
		keywords.WriteString(strings.Join(r.Keywords, " ") + "\n")
	}
	const hexadecimal = "0123456789abcdef"
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	hidden := base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("password = none ", 3000)))))
	return map[string]string{
		"source code":                    source.String(),
		"one keyword":                    "key",
		"one keyword and a sign":         "key=",
		"one keyword of few letters":     "ey.",
		"all keywords":                   keywords.String(),
		"all keywords as names":          strings.ReplaceAll(keywords.String(), " ", "="),
		"base64 in one line":             base64.StdEncoding.EncodeToString(bytes),
		"base64 in lines":                wrap(base64.StdEncoding.EncodeToString(bytes), 76),
		"base64 of base64 of keywords":   hidden,
		"base64 of text, in short lines": wrap(base64.StdEncoding.EncodeToString([]byte(source.String())), 40),
		"percent":                        "%6b%65%79%3d",
		"escapes":                        `\u006b\u0065\u0079\x3d`,
		"random bytes":                   string(bytes),
		"random bytes of Unicode":        noise(1<<20, "\xe2\x80\x8b\xc2\xad\xef\xbb\xbf\xf3\xa0"),
		"invisible characters":           "k\u200be\u00ady\U000E0041=",
		"hexadecimal":                    noise(1<<20, hexadecimal),
		"one letter":                     "a",
		"new lines":                      "\n",
		"almost tokens":                  "ghp_" + noise(35, letters) + ".",
		"almost tokens, broken":          "ghp_" + noise(20, letters) + "\n" + noise(15, letters) + ".\n",
		"beginnings of tokens, broken":   "ghp_12345678\n",
		"almost keys":                    "-----BEGIN RSA PRIVATE KEY-----\n" + noise(40, letters) + "\n",
		"headers of keys":                "-----BEGIN",
		"assignments":                    "api_key = aaaaaaaaaaaaaaaaaaaa\n",
		"assignments of words":           "token: \"" + noise(12, letters) + "example\"\n",
		"passwords":                      "password = \"Passw0rd!x\"\n",
		"long values":                    "secret=" + noise(149, letters),
		"ids of AWS":                     "AKIA" + "IOSFODNN7EXAMPLE ",
		"addresses":                      "https://a:b",
		"addresses with passwords":       "redis://u:password@localhost ",
		"netrc":                          "machine a login b password ",
		"curl":                           "curl -u a:b -H \"X: ",
		"curl in lines":                  "curl -u $A:$B\n",
		"a manifest":                     "kind: Secret\ndata:\n  a: ",
		"a manifest, apart":              "kind: Secret " + noise(7, letters) + "\ndata: kind: " + noise(50, letters),
		"jwt":                            "ey" + noise(20, letters) + ".ey" + noise(20, letters) + ".",
		"jwt, apart":                     "/ey" + noise(20, letters),
		"sourcegraph":                    "sourcegraph " + noise(40, hexadecimal) + "a ",
		"facebook":                       "facebook 123456789012345|" + noise(26, letters),
		"openai":                         "sk-proj-" + noise(58, letters) + "T3Blb" + "kFJ",
		"discord":                        "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.",
	}
}

// wrap breaks a text into lines.
func wrap(text string, width int) string {
	var b strings.Builder
	for len(text) > width {
		b.WriteString(text[:width] + "\n")
		text = text[width:]
	}
	return b.String() + text + "\n"
}

// fill repeats a text to n bytes.
func fill(text string, n int) []byte {
	return []byte(strings.Repeat(text, n/len(text)+1)[:n])
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_, err := compile(config.DefaultConfig + ours)
		require.NoError(b, err)
	}
}

func BenchmarkScan(b *testing.B) {
	const size = 8 << 20
	texts := hostile(b)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		text := texts[name]
		b.Run(name, func(b *testing.B) {
			s, err := New()
			require.NoError(b, err)
			all := fill(text, size)
			b.SetBytes(size)
			before := cpu(b)
			for b.Loop() {
				_, err := s.Scan(context.Background(), Piece{Path: "a.yaml", Line: 1, Text: all})
				require.NoError(b, err)
			}
			b.ReportMetric((cpu(b)-before)/float64(b.N)*100e6/size, "cpu-s/100MB")
		})
	}
}

// cpu is the time that this process has had of all processors, in seconds: it says more than a clock where others run too.
func cpu(b *testing.B) float64 {
	b.Helper()
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
