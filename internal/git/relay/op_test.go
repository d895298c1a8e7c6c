package relay

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// pushOf is a push of moves as git says it, the capabilities with the first one.
func pushOf(able string, moves ...Move) string {
	said := ""
	for _, m := range moves {
		said, able = said+pkt(m.From+" "+m.To+" "+m.Ref+"\x00"+able), ""
	}
	return said + "0000"
}

// vetted is why a push is refused.
func vetted(allowed Op, text string, at map[string]string, boundary []byte) error {
	said, err := readPushRequest(strings.NewReader(text))
	if err != nil {
		return err
	}
	return allowed.vetPush(said, at, boundary)
}

func TestAPushIsTheMovesThatAreDueAndNoOthers(t *testing.T) {
	const x, stage, gone, able = "refs/heads/x", "refs/mergexo/turn/1", "refs/mergexo/turn/2", "report-status-v2 atomic"
	other := strings.Repeat("3", 40)
	at, ahead, elsewhere := map[string]string{x: here, stage: there}, map[string]string{x: there, stage: there}, map[string]string{x: other, stage: there}
	moved, dropped := Move{here, there, x}, Move{there, ZeroID, stage}
	both := Op{service: receivePack, moves: []Move{moved, {AnyID, ZeroID, stage}}, Atomic: true}
	forced, forcedNew, gc := Pushing(Move{AnyID, here, stage}), Pushing(Move{AnyID, here, gone}), Pushing(Move{AnyID, ZeroID, gone})
	many := Pushing(Move{here, ZeroID, x}, Move{here, ZeroID, stage}, Move{here, ZeroID, gone})
	type row struct {
		allowed Op
		at      map[string]string
		said    string
		right   bool
	}
	must.Each(t, map[string]row{
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
		"without a report":                     {both, at, pushOf("atomic", moved, dropped), false},
		"one ref more":                         {both, at, pushOf(able, moved, dropped, Move{here, ZeroID, "refs/heads/main"}), false},
		"the same twice":                       {both, at, pushOf(able, moved, dropped, dropped), false},
		"a push option besides":                {both, at, pushOf(able+" push-options", moved, dropped), false},
		"it need not be atomic and is":         {Pushing(moved), at, pushOf(able, moved), true},
		"what is not there is deleted":         {gc, at, pushOf("report-status", Move{ZeroID, ZeroID, gone}), true},
		"it is created instead":                {gc, at, pushOf("report-status", Move{ZeroID, here, gone}), false},
		"forced from where it is":              {forced, at, pushOf("report-status", Move{there, here, stage}), true},
		"forced from elsewhere":                {forced, at, pushOf("report-status", Move{other, here, stage}), false},
		"forced to another commit":             {forced, at, pushOf("report-status", Move{there, other, stage}), false},
		"deleted instead":                      {forced, at, pushOf("report-status", Move{there, ZeroID, stage}), false},
		"forced to where nothing was":          {forcedNew, at, pushOf("report-status", Move{ZeroID, here, gone}), true},
		"created":                              {Pushing(Move{ZeroID, here, gone}), at, pushOf("report-status", Move{ZeroID, here, gone}), true},
		"created over what is there":           {Pushing(Move{ZeroID, here, stage}), at, pushOf("report-status", Move{there, here, stage}), false},
		"those that are where they were":       {many, at, pushOf("report-status", Move{here, ZeroID, x}), true},
		"one of them that is not":              {many, at, pushOf("report-status", Move{here, ZeroID, x}, Move{there, ZeroID, stage}), false},
		"one of them that is gone":             {many, at, pushOf("report-status", Move{here, ZeroID, x}, Move{here, ZeroID, gone}), false},
		"none of them":                         {many, elsewhere, pushOf(""), false},
	}, func(t *testing.T, test row) {
		err := vetted(test.allowed, test.said+"PACK", test.at, nil)
		assert.Equal(t, test.right, err == nil, "%v", err)
	})
}

func TestWhatIsReadIsWhatWasAskedFor(t *testing.T) {
	list := pkt("command=ls-refs\n") + pkt("agent=git/2.39.5") + "0001" + pkt("peel\n") + pkt("ref-prefix refs/heads/x\n") + "0000"
	fetch := pkt("command=fetch") + "0001" + pkt("want "+here+"\n") + "0000"
	type row struct {
		said        string
		list, fetch int // the requests that are passed on; -1: there is one that is refused
	}
	must.Each(t, map[string]row{
		"a listing":                 {list, 1, 1},
		"a listing and more":        {list + fetch, -1, 2},
		"a listing, and the end":    {list + "0000" + fetch, 1, 1},
		"a listing that breaks off": {list[:len(list)-4], -1, -1},
		"a listing without an end":  {pkt("command=ls-refs") + strings.Repeat(pkt("ref-prefix "+strings.Repeat("x", 60000)), 1200), -1, -1},
		"a fetch":                   {fetch, -1, 1},
		"a fetch of an old client":  {pkt("want "+here+" side-band-64k\n") + "0000" + pkt("done\n"), -1, -1},
		"another command":           {pkt("command=object-info") + "0001" + pkt("oid "+here) + "0000", -1, -1},
		"a push":                    {pkt(rightMove) + "0000", -1, -1},
		"a flush":                   {"0000", 0, 0},
		"nothing":                   {"", 0, 0},
		"no line":                   {"zzzz", -1, -1},
	}, func(t *testing.T, test row) {
		for allowed, want := range map[*Op]int{&Listing: test.list, &Fetching: test.fetch} {
			in, n := strings.NewReader(test.said), 0
			for {
				request, err := allowed.readRequest(in)
				if err != nil {
					n = -1
				}
				if request == nil {
					break
				}
				n++
			}
			assert.Equal(t, want, n, allowed)
		}
	})
}

// advertised is what git gets of an advertisement, and the lines that are shown.
func advertised(text []byte, second bool) (passed []byte, lines []string, err error) {
	var out bytes.Buffer
	err = passRefs(bufio.NewReader(bytes.NewReader(text)), bufio.NewWriter(&out), second, func(line string) { lines = append(lines, line) })
	return out.Bytes(), lines, err
}

func TestGitGetsWhatTheServerHasAsItsOwnProtocolSaysIt(t *testing.T) {
	refs := pkt(there+" refs/heads/a\x00report-status\n") + pkt(here+" refs/heads/x\n") + pkt("shallow "+there) + "0000"
	for _, ahead := range []string{"", pkt("# service=git-receive-pack\n") + "0000"} {
		passed, lines, err := advertised([]byte(ahead+refs), false)
		require.NoError(t, err)
		assert.Equal(t, refs, string(passed))
		assert.Equal(t, []string{there + " refs/heads/a", here + " refs/heads/x", "shallow " + there}, lines)
	}
	able := pkt("version 2\n") + pkt("ls-refs\n") + "0000"
	passed, _, err := advertised([]byte(pkt("# service=git-upload-pack\n")+"0000"+able), true)
	require.NoError(t, err)
	assert.Equal(t, able, string(passed))
	_, _, err = advertised([]byte(refs), true)
	require.ErrorContains(t, err, "does not speak version 2")
	for _, second := range []bool{true, false} {
		passed, _, err = advertised([]byte(pkt("# service=git-upload-pack\n")+"0000"+pkt("ERR we are away")), second)
		require.ErrorAs(t, err, new(overError))
		assert.Equal(t, pkt("ERR we are away"), string(passed))
	}
	for _, text := range []string{"", refs[:len(refs)-4], refs[:len(refs)-6], "# se", pkt("# service=git-receive-pack\n") + "0000"} {
		_, _, err = advertised([]byte(text), false)
		require.Error(t, err, "%q", text)
	}
}

// FuzzAdvertisement: what git gets is what stands there, up to the flush.
func FuzzAdvertisement(f *testing.F) {
	for _, said := range []string{"", "0000", "0000" + pkt(here+" refs/heads/x") + "0000", pkt("x")[:3], "zzzz", "0005", pkt("# service=x") + "0000" + pkt("version 2") + "0000"} {
		f.Add([]byte(said), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, second bool) {
		passed, _, err := advertised(text, second)
		if !bytes.Contains(text, passed) || err == nil && !bytes.HasSuffix(passed, []byte(flush)) {
			t.Fatalf("%q became %q: %v", text, passed, err)
		}
	})
}

func TestARequestGoesOnWithItsLength(t *testing.T) {
	var seen []string
	url := serving(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		seen = append(seen, fmt.Sprintf("%s %q %d of %d", r.URL.Path, r.Header.Get("Git-Protocol"), r.ContentLength, len(body)))
		assert.NoError(t, must.Err(io.WriteString(w, pkt("answer")+"0000")))
	})
	long := pkt("command=fetch") + strings.Repeat(pkt("have "+here), 40000) + "0000"
	answer := talk(t, relayOf(t, url, Fetching, packLimit), strings.NewReader(pkt("command=fetch")+"0000"+long+"0000"))
	assert.Equal(t, pkt("version 2\n")+pkt("ls-refs\n")+"0000"+strings.Repeat(pkt("answer")+"0000", 2), answer)
	assert.Equal(t, []string{`/git-upload-pack "version=2" 21 of 21`, fmt.Sprintf(`/git-upload-pack "version=2" -1 of %d`, len(long))}, seen)
}

// allocated is how many bytes were allocated meanwhile, those that are free again included.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// through sends a pack of about so many bytes through a relay, to the server or from it.
func through(t testing.TB, size int64, push bool) {
	url := serving(t, func(w http.ResponseWriter, r *http.Request) {
		got, err := io.Copy(io.Discard, r.Body)
		assert.NoError(t, err)
		if push {
			assert.Greater(t, got, size)
			return
		}
		line := fmt.Sprintf("%04x", packetLimit) + strings.Repeat("\x01", packetLimit-4)
		for range size/packetLimit + 1 {
			assert.NoError(t, must.Err(io.WriteString(w, line)))
		}
		assert.NoError(t, must.Err(io.WriteString(w, flush)))
	})
	if !push {
		r := relayOf(t, url, Fetching, packLimit)
		conn := must.Get(net.Dial("tcp4", r.listener.Address))(t)
		defer conn.Close()
		_ = must.Get(io.WriteString(conn, greeting(r)+pkt("command=fetch")+"0000"+"0000"))(t)
		require.Greater(t, must.Get(io.Copy(io.Discard, conn))(t), size)
		return
	}
	one, n := object(3, 1<<20), size>>20
	parts := []io.Reader{strings.NewReader(opening + packHead(int(n)))}
	for range n {
		parts = append(parts, strings.NewReader(one))
	}
	r := relayOf(t, url, Pushing(Move{here, there, "refs/heads/x"}), packLimit)
	talk(t, r, io.MultiReader(append(parts, strings.NewReader(strings.Repeat("c", 20)))...))
	require.Empty(t, r.Reword(""))
}

func TestThePackIsNotHeldInMemory(t *testing.T) {
	must.Each(t, map[string]bool{"push": true, "fetch": false}, func(t *testing.T, push bool) {
		const size = 128 << 20
		assert.Less(t, allocated(func() { through(t, size, push) }), uint64(size/8))
	})
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
