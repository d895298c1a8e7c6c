package relay

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pushOf is a push of moves as git says it, the capabilities with the first one.
func pushOf(able string, moves ...Move) string {
	said := ""
	for _, m := range moves {
		said, able = said+pkt(m.From+" "+m.To+" "+m.Ref+"\x00"+able), ""
	}
	return said + "0000"
}

func TestAPushIsTheMovesThatAreDueAndNoOthers(t *testing.T) {
	const x, stage, gone, able = "refs/heads/x", "refs/mergexo/turn/1", "refs/mergexo/turn/2", "report-status-v2 atomic"
	other := strings.Repeat("3", 40)
	at, ahead, elsewhere := map[string]string{x: here, stage: there}, map[string]string{x: there, stage: there}, map[string]string{x: other, stage: there}
	moved, dropped := Move{here, there, x}, Move{there, ZeroID, stage}
	both := Op{service: receivePack, moves: []Move{moved, {AnyID, ZeroID, stage}}, Atomic: true}
	forced, forcedNew, gc := Pushing(Move{AnyID, here, stage}), Pushing(Move{AnyID, here, gone}), Pushing(Move{AnyID, ZeroID, gone})
	many := Pushing(Move{here, ZeroID, x}, Move{here, ZeroID, stage}, Move{here, ZeroID, gone})
	for name, test := range map[string]struct {
		allowed Op
		at      map[string]string
		said    string
		right   bool
	}{
		"both":                                 {both, at, pushOf(able, moved, dropped), true},
		"both, the other way round":            {both, at, pushOf(able, dropped, moved), true},
		"both, each for itself":                {both, at, pushOf("report-status-v2", moved, dropped), false},
		"the first of two":                     {both, at, pushOf(able, moved), false},
		"the second of two":                    {both, at, pushOf(able, dropped), false},
		"the branch is there already":          {both, ahead, pushOf(able, dropped), true},
		"the branch is elsewhere":              {both, elsewhere, pushOf(able, dropped), false},
		"the branch is elsewhere, and nothing": {both, elsewhere, pkt("shallow "+here) + "0000", false},
		"the server has said nothing":          {both, nil, pushOf(able, moved, dropped), false},
		"another old value of what is dropped": {both, at, pushOf(able, moved, Move{other, ZeroID, stage}), false},
		"another value of what is dropped":     {both, at, pushOf(able, moved, Move{there, other, stage}), false},
		"one ref more":                         {both, at, pushOf(able, moved, dropped, Move{here, ZeroID, "refs/heads/main"}), false},
		"the same twice":                       {both, at, pushOf(able, moved, dropped, dropped), false},
		"a push option besides":                {both, at, pushOf(able+" push-options", moved, dropped), false},
		"it need not be atomic and is":         {Pushing(moved), at, pushOf(able, moved), true},
		"what is not there is deleted":         {gc, at, pushOf("", Move{ZeroID, ZeroID, gone}), true},
		"it is created instead":                {gc, at, pushOf("", Move{ZeroID, here, gone}), false},
		"forced from where it is":              {forced, at, pushOf("", Move{there, here, stage}), true},
		"forced from elsewhere":                {forced, at, pushOf("", Move{other, here, stage}), false},
		"forced to another commit":             {forced, at, pushOf("", Move{there, other, stage}), false},
		"deleted instead":                      {forced, at, pushOf("", Move{there, ZeroID, stage}), false},
		"forced to where nothing was":          {forcedNew, at, pushOf("", Move{ZeroID, here, gone}), true},
		"created":                              {Pushing(Move{ZeroID, here, gone}), at, pushOf("", Move{ZeroID, here, gone}), true},
		"created over what is there":           {Pushing(Move{ZeroID, here, stage}), at, pushOf("", Move{there, here, stage}), false},
		"those that are where they were":       {many, at, pushOf("", Move{here, ZeroID, x}), true},
		"one of them that is not":              {many, at, pushOf("", Move{here, ZeroID, x}, Move{there, ZeroID, stage}), false},
		"one of them that is gone":             {many, at, pushOf("", Move{here, ZeroID, x}, Move{here, ZeroID, gone}), false},
		"none of them":                         {many, elsewhere, pushOf(""), true}, // which asks nothing
	} {
		t.Run(name, func(t *testing.T) {
			pack := strings.NewReader("PACK")
			if test.said == "0000" {
				pack = strings.NewReader("")
			}
			_, err := test.allowed.vetPush(io.MultiReader(strings.NewReader(test.said), pack), test.at, nil)
			assert.Equal(t, test.right, err == nil, "%v", err)
		})
	}
}

func TestWhatIsReadIsWhatWasAskedFor(t *testing.T) {
	list := pkt("command=ls-refs\n") + pkt("agent=git/2.39.5") + "0001" + pkt("peel\n") + pkt("ref-prefix refs/heads/x\n") + "0000"
	want := pkt("want "+here+" side-band-64k\n") + "0000" + pkt("done\n")
	fetch := pkt("command=fetch") + "0001" + pkt("want "+here+"\n") + "0000"
	for name, test := range map[string]struct {
		said        string
		second      bool
		list, fetch bool
	}{
		"a listing":                     {list, true, true, true},
		"a listing of an old client":    {list, false, false, false},
		"a listing and more":            {list + fetch, true, false, false},
		"a listing that breaks off":     {list[:len(list)-4], true, false, false},
		"a listing without an end":      {pkt("command=ls-refs") + strings.Repeat(pkt("ref-prefix "+strings.Repeat("x", 60000)), 80), true, false, false},
		"a fetch":                       {fetch, true, false, true},
		"a fetch of an old client":      {want, false, false, true},
		"a fetch of an old one, as new": {want, true, false, false},
		"a fetch of a new one, as old":  {fetch, false, false, false},
		"another command":               {pkt("command=object-info") + "0001" + pkt("oid "+here) + "0000", true, false, false},
		"a push":                        {pkt(rightMove) + "0000", false, false, false},
		"a flush":                       {"0000", true, false, false},
		"nothing":                       {"", true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			for allowed, right := range map[*Op]bool{&Listing: test.list, &Fetching: test.fetch} {
				_, err := allowed.vetRead(strings.NewReader(test.said), test.second)
				assert.Equal(t, right, err == nil, "%s: %v", allowed, err)
			}
		})
	}
}

// advertised is what is read of an advertisement, in pieces of so many bytes, and what it notes.
func advertised(text []byte, size int) (passed []byte, noted map[string]string, err error) {
	a := &advertisement{in: bufio.NewReader(bytes.NewReader(text)), at: map[string]string{"refs/heads/x": ""}}
	a.note = func(at map[string]string) { noted = at }
	passed, err = io.ReadAll(bufio.NewReaderSize(a, size))
	return passed, noted, err
}

func TestWhereTheServersRefsAreIsNotedAndPassedOn(t *testing.T) {
	said := pkt("# service=git-receive-pack\n") + "0000" + pkt(there+" refs/heads/a\x00report-status\n") + pkt(here+" refs/heads/x\n") + pkt("shallow "+there) + "0000"
	for _, size := range []int{16, 64, 1 << 20} {
		passed, noted, err := advertised([]byte(said), size)
		require.NoError(t, err)
		assert.Equal(t, said, string(passed))
		assert.Equal(t, map[string]string{"refs/heads/x": here}, noted, "only what is asked about")
	}
	_, noted, err := advertised([]byte(said[:len(said)-4]), 64)
	require.NoError(t, err)
	assert.Nil(t, noted, "not all was said")
	_, _, err = advertised([]byte(said[:len(said)-6]), 64)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

// FuzzAdvertisement: what comes through is what there is, up to where it is none of git's.
func FuzzAdvertisement(f *testing.F) {
	for _, said := range []string{"", "0000", "0000" + pkt(here+" refs/heads/x") + "0000", pkt("x")[:3], "zzzz", "0005"} {
		f.Add([]byte(said))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		passed, _, err := advertised(text, 64)
		if !bytes.HasPrefix(text, passed) || err == nil && len(passed) != len(text) {
			t.Fatalf("%q became %q: %v", text, passed, err)
		}
	})
}

func TestARequestGoesOnUncompressedAndWithItsLength(t *testing.T) {
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		seen = append(seen, fmt.Sprintf("%s %q %q %d of %d", r.URL.Path, r.Header.Get("Git-Protocol"), r.Header.Get("Content-Encoding"), r.ContentLength, len(body)))
	}))
	defer server.Close()
	r := relayOf(t, server.URL, Fetching, packLimit)
	long := pkt("command=fetch") + strings.Repeat(pkt("have "+here), 40000)
	for _, body := range []string{pkt("command=fetch") + "0000", long} {
		for _, encoding := range []string{"", "gzip"} {
			sent := io.Reader(strings.NewReader(body))
			if encoding != "" {
				var small bytes.Buffer
				z := gzip.NewWriter(&small)
				_, err := io.WriteString(z, body)
				require.NoError(t, err)
				require.NoError(t, z.Close())
				sent = &small
			}
			q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.Address+"/git-upload-pack", struct{ io.Reader }{sent})
			require.NoError(t, err)
			q.Header.Set("Git-Protocol", "version=2")
			q.Header.Set("Content-Encoding", encoding)
			answer, err := http.DefaultClient.Do(q)
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())
		}
	}
	short, streamed := `/git-upload-pack "version=2" "" 21 of 21`, fmt.Sprintf(`/git-upload-pack "version=2" "" -1 of %d`, len(long))
	assert.Equal(t, []string{short, short, streamed, streamed}, seen)
}

// allocated is how many bytes were allocated meanwhile, those that are free again included.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// through sends a pack of so many bytes through a relay, to the server or from it.
func through(t testing.TB, size int64, push bool) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, err := io.Copy(io.Discard, r.Body)
		assert.NoError(t, err)
		if push {
			assert.Equal(t, size, got)
			return
		}
		_, err = io.CopyN(w, zeros{}, size)
		assert.NoError(t, err)
	}))
	defer server.Close()
	allowed, said, sent := Pushing(one), pkt(rightMove)+"0000", size
	if !push {
		allowed, said = Fetching, pkt("want "+here+"\n")+"0000"
		sent = int64(len(said))
	}
	r := relayOf(t, server.URL, allowed, packLimit)
	body := io.MultiReader(strings.NewReader(said), io.LimitReader(zeros{}, sent-int64(len(said))))
	answer, err := http.Post(r.Address+"/"+allowed.service, "", struct{ io.Reader }{body})
	require.NoError(t, err)
	defer func() { assert.NoError(t, answer.Body.Close()) }()
	require.Equal(t, http.StatusOK, answer.StatusCode)
	got, err := io.Copy(io.Discard, answer.Body)
	require.NoError(t, err)
	if !push {
		require.Equal(t, size, got)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestThePackIsNotHeldInMemory(t *testing.T) {
	for name, push := range map[string]bool{"push": true, "fetch": false} {
		t.Run(name, func(t *testing.T) {
			const size = 128 << 20
			assert.Less(t, allocated(func() { through(t, size, push) }), uint64(size/8))
		})
	}
}

// BenchmarkRelayOfALargePack sends 1 GB through a relay.
func BenchmarkRelayOfALargePack(b *testing.B) {
	for name, push := range map[string]bool{"push": true, "fetch": false} {
		b.Run(name, func(b *testing.B) {
			const size = 1 << 30
			b.SetBytes(size)
			var most uint64
			for b.Loop() {
				most = max(most, allocated(func() { through(b, size, push) }))
			}
			b.ReportMetric(float64(most)/(1<<20), "MiB-allocated")
		})
	}
}
