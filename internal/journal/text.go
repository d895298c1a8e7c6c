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

// Neutralise makes text that we did not write safe to stand above our markers: no HTML comment survives in it, so no
// marker can be forged through us and none of ours can be swallowed; and a code fence that it leaves open is closed, so
// that our hidden lines stay hidden.
func Neutralise(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\uFFFD")
	text = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
	text = strings.ReplaceAll(text, "<!--", "&lt;!--")
	return strings.TrimRight(markdown.CloseFence(text), " \t\n")
}

// cut shortens text to limit bytes, which is never more than limit characters, with a notice at the end.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	// Room for the notice and for the fence that the cut may have opened.
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

// maxOutbox bounds what a marker may inflate to.
const maxOutbox = 8 << 20

// Packed is the marker as it is written: with its outbox deflated where the plain JSON would take too much of a comment.
func Packed(m model.TurnMarker) model.TurnMarker {
	if m.Outbox == nil {
		return m
	}
	raw, err := json.Marshal(m.Outbox)
	if err != nil || len(raw) <= plainOutbox { // an error shows when the whole marker is encoded
		return m
	}
	var z bytes.Buffer
	w, _ := flate.NewWriter(&z, flate.BestCompression) // the level is valid, the only error there is
	_, _ = w.Write(raw)                                // a bytes.Buffer takes everything
	_ = w.Close()
	// RawStdEncoding has no "-", so the marker needs no escapes here.
	m.Outbox, m.OutboxZ = nil, base64.RawStdEncoding.EncodeToString(z.Bytes())
	return m
}

func unpackOutbox(kind string, m *model.TurnMarker) error {
	if m.OutboxZ == "" {
		return nil
	}
	z, err := base64.RawStdEncoding.DecodeString(m.OutboxZ)
	if err != nil {
		return fmt.Errorf("mergexo-%s marker: outbox_z: %w", kind, err)
	}
	raw, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(z)), maxOutbox+1))
	if err != nil {
		return fmt.Errorf("mergexo-%s marker: outbox_z: %w", kind, err)
	}
	if len(raw) > maxOutbox {
		return fmt.Errorf("mergexo-%s marker: outbox_z: more than %d bytes", kind, maxOutbox)
	}
	var o model.Outbox
	if err := json.Unmarshal(raw, &o); err != nil {
		return fmt.Errorf("mergexo-%s marker: outbox_z: %w", kind, err)
	}
	m.Outbox, m.OutboxZ = &o, ""
	return nil
}
