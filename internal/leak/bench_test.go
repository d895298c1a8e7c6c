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

	"github.com/mergexo/mergexo/internal/must"
)

// texts are what an agent may write, and one that was made to take long, each repeated as often as it takes.
func texts(t testing.TB) map[string]string {
	t.Helper()
	random, bytes := rand.New(rand.NewPCG(7, 8)), make([]byte, 1<<20)
	for i := range bytes {
		bytes[i] = byte(random.Uint32())
	}
	files := must.Get(filepath.Glob("../*/*.go"))(t)
	var source, keywords strings.Builder
	for _, name := range files {
		text := must.Get(os.ReadFile(name))(t)
		source.Write(text)
	}
	s := must.Get(New())(t)
	for _, r := range s.rules {
		keywords.WriteString(strings.Join(r.Keywords, " ") + "\n")
	}
	coded := base64.StdEncoding.EncodeToString(bytes)
	return map[string]string{
		"source code": source.String(), "assignments": "api_key = aaaaaaaaaaaaaaaaaaaa\n", "all keywords": keywords.String(),
		"random bytes": string(bytes), "base64 in one line": coded, "base64 in lines": strings.Join(strings.SplitAfter(coded, "/"), "\n"),
	}
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, must.Err(compile()))
	}
}

func BenchmarkScan(b *testing.B) {
	const size = 1 << 20
	all := texts(b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b.Run(name, func(b *testing.B) {
			s := must.Get(New())(b)
			text := []byte(strings.Repeat(all[name], size/len(all[name])+1)[:size])
			b.SetBytes(size)
			before := cpu(b)
			for b.Loop() {
				require.NoError(b, must.Err(s.Scan(context.Background(), Piece{Path: "a.yaml", Line: 1, Text: text})))
			}
			b.ReportMetric((cpu(b)-before)/float64(b.N), "cpu-s/MB")
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
