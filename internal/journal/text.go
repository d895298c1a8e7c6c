package journal

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

const cutNotice = "\n\n*(cut here: a comment on GitHub holds 65,536 characters)*"

// Neutralise makes foreign text safe above our markers. No HTML comment survives, so it can neither forge a marker nor
// swallow one of ours; an open code fence is closed, so that our hidden lines stay hidden.
func Neutralise(text string) string {
	text = strings.ReplaceAll(markdown.Printable(text), "<!--", "&lt;!--")
	return strings.TrimRight(markdown.CloseFence(text), " \t\n")
}

// cut shortens text to limit bytes (never more characters than that), with a notice at the end.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	// Room for the notice and for closing a fence.
	end := max(0, limit-len(cutNotice)-16)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	kept := text[:end]
	if i := strings.LastIndexByte(kept, '\n'); i > end-200 && i > 0 {
		kept = kept[:i]
	}
	closed := markdown.CloseFence(kept)
	if len(closed)+len(cutNotice) > limit {
		closed = ""
	}
	return closed + cutNotice
}

// plainOutbox is the size up to which an outbox stays readable in the comment's source.
const plainOutbox = 16 << 10

// maxOutbox limits the inflated size of a marker.
const maxOutbox = 8 << 20

// Packed is the marker as written: its outbox is deflated if plain JSON would take too much of the comment.
func Packed(m model.TurnMarker) model.TurnMarker {
	if m.Outbox == nil {
		return m
	}
	raw, err := json.Marshal(m.Outbox)
	if err != nil || len(raw) <= plainOutbox { // encoding the whole marker reports the error
		return m
	}
	var z bytes.Buffer
	w, _ := flate.NewWriter(&z, flate.BestCompression) // the only possible error is an invalid level
	_, _ = w.Write(raw)                                // a bytes.Buffer takes everything
	_ = w.Close()
	// RawStdEncoding has no "-", so the marker needs no escapes here.
	m.Outbox, m.OutboxZ = nil, base64.RawStdEncoding.EncodeToString(z.Bytes())
	return m
}

func unpackOutbox(m *model.TurnMarker) error {
	if m.OutboxZ == "" {
		return nil
	}
	z, err := base64.RawStdEncoding.DecodeString(m.OutboxZ)
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(z)), maxOutbox+1))
	if err != nil {
		return err
	}
	if len(raw) > maxOutbox {
		return fmt.Errorf("more than %d bytes", maxOutbox)
	}
	var o model.Outbox
	err = json.Unmarshal(raw, &o)
	m.Outbox, m.OutboxZ = &o, ""
	return err
}
