package transcript_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"maps"
	mathrand "math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/transcript"
)

var about = transcript.About{
	Repository: "octo/widgets", PullRequest: 7, Adapter: "codex", Session: "01a1ff04-9f24-7780-b9ad-15ba7fdf2248/300/60/0",
}

// rollout is a path as Codex files its transcripts.
const rollout = "2026/11/21/rollout-2026-11-21T16-50-55-01a1ff04-9f24-7780-b9ad-15ba7fdf2248.jsonl"

// fresh is a new key, as age knows it and as we do.
func fresh(t testing.TB) (*age.X25519Identity, transcript.Key) {
	t.Helper()
	id := must.Get(age.GenerateX25519Identity())(t)
	return id, must.Get(transcript.ParseKey(id.String()))(t)
}

// encrypted is an age file as anybody can make it who knows for whom.
func encrypted(t testing.TB, to age.Recipient, plain []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := must.Get(age.Encrypt(&out, to))(t)
	require.NoError(t, must.Err(w.Write(plain)))
	require.NoError(t, w.Close())
	return out.Bytes()
}

func kindOf(t *testing.T, err error) transcript.Kind {
	t.Helper()
	var failed *transcript.Error
	require.ErrorAs(t, err, &failed)
	assert.NotContains(t, err.Error(), "\n", "one line")
	assert.NotContains(t, err.Error(), "AGE-SECRET")
	return failed.Kind
}

func TestWhatIsSealedIsOpenedAgain(t *testing.T) {
	random := mathrand.New(mathrand.NewPCG(1, 2))
	_, k := fresh(t)
	for range 50 {
		files := map[string][]byte{}
		for range 1 + random.IntN(5) {
			name := strings.Repeat("d/", random.IntN(4)) + fmt.Sprintf("%0*d ä.jsonl", 1+random.IntN(150), random.IntN(1000))
			text := make([]byte, random.IntN(1<<random.IntN(17)))
			_, _ = rand.Read(text[:len(text)/2]) // half of it compresses
			files[name] = text
		}
		sealed := must.Get(k.Seal(about, files))(t)
		for _, text := range files {
			if len(text) > 100 {
				assert.False(t, bytes.Contains(sealed, text[:40]), "it is nowhere as it is")
			}
		}
		opened := must.Get(k.Open(about, transcript.Digest(sealed), sealed))(t)
		require.Equal(t, len(files), len(opened))
		for path := range files {
			require.True(t, bytes.Equal(files[path], opened[path]), path)
		}
	}
}

func TestTheSameFilesMakeTheSameArchive(t *testing.T) {
	id, k := fresh(t)
	files := map[string][]byte{}
	for i := range 20 {
		files[fmt.Sprintf("d%d/x.jsonl", i)] = bytes.Repeat([]byte{byte(i)}, 1000)
	}
	var first []byte
	for range 5 {
		sealed := must.Get(k.Seal(about, maps.Clone(files)))(t)
		in := must.Get(age.Decrypt(bytes.NewReader(sealed), id))(t)
		plain := must.Get(io.ReadAll(in))(t)
		if first == nil {
			first = plain
		}
		require.Equal(t, first, plain)
	}
}

func TestWhoHasTheKeyCanLookIntoItWithoutUs(t *testing.T) {
	id, k := fresh(t)
	sealed := must.Get(k.Seal(about, map[string][]byte{rollout: []byte("{}\n"), "b": nil}))(t)
	in := must.Get(age.Decrypt(bytes.NewReader(sealed), id))(t)
	list := exec.Command("tar", "-tz")
	list.Stdin = in
	out, err := list.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Equal(t, "about.json\nfiles/"+rollout+"\nfiles/b\n", string(out))
}

func TestOnlyWhatTheReceiptMeansIsOpened(t *testing.T) {
	_, k := fresh(t)
	sealed := must.Get(k.Seal(about, map[string][]byte{rollout: []byte("first question\n")}))(t)
	digest := transcript.Digest(sealed)
	assert.Len(t, digest, 64)
	cased := about
	cased.Repository = "Octo/Widgets"
	require.NoError(t, must.Err(k.Open(cased, digest, sealed)), "names of repositories have no case")

	var lines []string
	for _, change := range []func(*transcript.About){
		func(a *transcript.About) { a.Repository = "octo/gadgets" },
		func(a *transcript.About) { a.PullRequest = 8 },
		func(a *transcript.About) { a.Adapter = "claude" },
		func(a *transcript.About) { a.Session = "another\nline" },
	} {
		wanted := about
		change(&wanted)
		files, err := k.Open(wanted, digest, sealed)
		assert.Equal(t, transcript.Foreign, kindOf(t, err))
		assert.Nil(t, files)
		lines = append(lines, err.Error())
	}
	_, other := fresh(t)
	_, err := other.Open(about, digest, sealed)
	assert.Equal(t, transcript.Locked, kindOf(t, err))
	lines = append(lines, err.Error())
	_, err = k.Open(about, strings.Repeat("0", 64), []byte("something"))
	assert.Equal(t, transcript.Changed, kindOf(t, err))
	golden.Text(t, "foreign.txt", strings.Join(append(lines, err.Error()), "\n"))

	again := must.Get(k.Seal(about, map[string][]byte{rollout: []byte("first question\n")}))(t)
	for _, wrong := range []string{transcript.Digest(again), "", strings.ToUpper(digest), digest[:63]} {
		_, err = k.Open(about, wrong, sealed)
		assert.Equal(t, transcript.Changed, kindOf(t, err))
	}
}

func TestNoByteOfItCanBeChanged(t *testing.T) {
	_, k := fresh(t)
	text := make([]byte, 100_000) // more than one of age's chunks
	_, _ = rand.Read(text)
	sealed := must.Get(k.Seal(about, map[string][]byte{rollout: text}))(t)
	head := bytes.Index(sealed, []byte("\n---")) + 50
	places := []int{len(sealed) - 1, len(sealed) - 20, head + 16, head + 64<<10, head + 64<<10 + 20}
	for i := range head { // age's header, the nonce and the beginning
		places = append(places, i)
	}
	refused := map[transcript.Kind]int{}
	for _, at := range places {
		for _, bit := range []byte{1, 0x80} {
			changed := bytes.Clone(sealed)
			changed[at] ^= bit
			_, err := k.Open(about, transcript.Digest(sealed), changed)
			require.Equal(t, transcript.Changed, kindOf(t, err))
			// And where the digest is somebody else's too.
			_, err = k.Open(about, transcript.Digest(changed), changed)
			refused[kindOf(t, err)]++
		}
	}
	assert.Positive(t, refused[transcript.Damaged])
	assert.Positive(t, refused[transcript.Locked], "the part of the header that is for the key")
	assert.Len(t, refused, 2)
	for _, n := range []int{0, 1, 20, head - 1, head, head + 16, head + 64<<10, head + 64<<10 + 32, len(sealed) - 16, len(sealed) - 1} {
		_, err := k.Open(about, transcript.Digest(sealed[:n]), sealed[:n])
		assert.Equal(t, transcript.Damaged, kindOf(t, err), n)
	}
	longer := append(bytes.Clone(sealed), 'x')
	_, err := k.Open(about, transcript.Digest(longer), longer)
	assert.Equal(t, transcript.Damaged, kindOf(t, err))
}

func TestWhatIsTooLongIsNotSealed(t *testing.T) {
	_, k := fresh(t)
	noise := make([]byte, transcript.MaxSealed)
	_, _ = rand.Read(noise)
	many := map[string][]byte{}
	for i := range 101 {
		many[fmt.Sprint(i)] = nil
	}
	var lines []string
	for _, files := range []map[string][]byte{
		nil, many, {"x": make([]byte, transcript.MaxPlain+1)}, {"x": noise}, {"../x": nil}, {"x:y": nil}, {strings.Repeat("x", 251): nil},
	} {
		_, err := k.Seal(about, files)
		kindOf(t, err)
		lines = append(lines, err.Error())
	}
	long := append(noise, 0)
	_, err := k.Open(about, transcript.Digest(long), long)
	assert.Equal(t, transcript.Size, kindOf(t, err))
	lines = append(lines, err.Error())
	for i, line := range lines {
		if strings.Contains(line, "sealed: at most") { // a few bytes more or less, by how gzip was built
			lines[i] = "transcript: it has N bytes when it is" + line[strings.Index(line, " sealed: "):]
		}
	}
	golden.Text(t, "size.txt", strings.Join(lines, "\n"))

	most := map[string][]byte{"x": make([]byte, transcript.MaxPlain)}
	sealed := must.Get(k.Seal(about, most))(t)
	files := must.Get(k.Open(about, transcript.Digest(sealed), sealed))(t, "what is sealed can be opened, up to the last byte")
	assert.Len(t, files["x"], transcript.MaxPlain)
}
