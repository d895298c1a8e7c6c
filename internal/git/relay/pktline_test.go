package relay

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

var (
	here, there = strings.Repeat("1", 40), strings.Repeat("a2", 20)
	one         = Move{here, there, "refs/heads/x"}
	rightMove   = here + " " + there + " refs/heads/x"
	opening     = pkt(rightMove+"\x00report-status") + "0000" // of the right push
)

func pkt(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }

func TestWhatIsSaidAheadOfThePackIsReadAndNoMore(t *testing.T) {
	said := pkt("shallow "+here) + pkt("shallow "+there+"\n") + pkt(rightMove+"\x00 report-status-v2 side-band-64k quiet atomic object-format=sha1 agent=git/2.39.5") +
		pkt(ZeroID+" "+here+" refs/heads/y\n") + "0000"
	r := strings.NewReader(said + "PACK")
	heard := must.Get(readPushRequest(r))(t)
	assert.Equal(t, pushRequest{
		raw: []byte(said), moves: []Move{one, {ZeroID, here, "refs/heads/y"}}, shallow: []string{here, there},
		capabilities: []string{"report-status-v2", "side-band-64k", "quiet", "atomic", "object-format=sha1", "agent=git/2.39.5"},
	}, heard)
	assert.Equal(t, "PACK", string(must.Get(io.ReadAll(r))(t)))
}

func TestOnlyTheOneMoveIsRight(t *testing.T) {
	boundary, at, able := []byte(here+"\n"), map[string]string{"refs/heads/x": here}, pkt(rightMove+"\x00report-status")
	for said, right := range map[string]bool{
		able: true, pkt("shallow "+here) + pkt(rightMove+"\x00report-status agent=x session-id=y"): true, pkt(rightMove + "\n\x00report-status"): true, pkt(rightMove + "\x00report-status\n"): true,
		pkt("shallow "+there) + able: false, pkt("shallow " + here): false, "": false, able + pkt(rightMove): false, pkt(rightMove): false,
		pkt(rightMove + "\x00report-status push-options"): false, pkt(rightMove + "\x00report-status push-cert=x"): false,
		pkt(rightMove + "\x00report-status object-format=sha256"): false, pkt(rightMove + "\x00report-status agent"): false,
		pkt(ZeroID + " " + there + " refs/heads/x\x00report-status"): false, pkt(here + " " + here + " refs/heads/x\x00report-status"): false,
		pkt(here + " " + there + " refs/heads/y\x00report-status"): false, able + pkt(here+" "+ZeroID+" refs/heads/main"): false,
	} {
		err := vetted(Pushing(one), said+"0000PACK", at, boundary)
		assert.Equal(t, right, err == nil, "%q: %v", said, err)
	}
}

func TestPktLinesThatGitDoesNotSendAreRefused(t *testing.T) {
	for _, said := range []string{
		"", "000", "0001", "0002", "0003", "0004", "00040000", "xxxx", "+001", "-001", "0x10", " 010", "00a0short", pkt(rightMove), "fff1" + strings.Repeat("x", 70000),
		pkt("push-cert\x00") + "0000", pkt(here+" "+there) + "0000", pkt(strings.ToUpper(there)+" "+here+" refs/heads/x") + "0000", pkt(here+" "+there+" x") + "0000",
		pkt(rightMove+"\r") + "0000", pkt("shallow "+here+"\x00quiet") + "0000", pkt("shallow x") + "0000", strings.Repeat(pkt("shallow "+here), 80700) + "0000",
	} {
		require.Error(t, must.Err(readPushRequest(strings.NewReader(said))), "%.60q", said)
	}
}

// FuzzHear: what was heard is what stands there byte by byte, and said again it means the same.
func FuzzHear(f *testing.F) {
	for _, said := range []string{"0000", pkt(rightMove+"\x00 quiet agent=x") + "0000PACK", pkt("shallow "+here) + pkt(rightMove) + "0000", "0004", "ffff", "0001", "00a0short", ""} {
		f.Add([]byte(said))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r := bytes.NewReader(text)
		heard, err := readPushRequest(r)
		if err != nil {
			return
		}
		if !bytes.HasPrefix(text, heard.raw) || len(heard.raw)+r.Len() != len(text) || !bytes.HasSuffix(heard.raw, []byte("0000")) {
			t.Fatalf("%q was heard as %q", text, heard.raw)
		}
		assert.Equal(t, heard, must.Get(readPushRequest(bytes.NewReader(heard.raw)))(t))
		if slices.Equal(heard.moves, []Move{one}) && !bytes.Contains(heard.raw, []byte(rightMove)) {
			t.Fatalf("%q is not the right move", heard.raw)
		}
	})
}
