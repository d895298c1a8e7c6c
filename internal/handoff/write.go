package handoff

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Fresh creates a handoff's directory, or reports that it is not empty. Call it before the agent costs anything.
func Fresh(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("create the handoff directory: %w", err)
	}
	there, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read directory of the handoff: %w", err)
	}
	if len(there) > 0 {
		return fmt.Errorf("%s is not empty (%s): want a new directory for every run", dir, excerpt(there[0].Name()))
	}
	return nil
}

// Write writes a handoff into a fresh directory. It sets Version, and Bundle if there are commits; commits is called to
// write the bundle file and may be nil without commits. Long details and notes are cut with a notice, and what the flow has no
// place for in an outcome is left out; anything else over a limit is a *Refusal, and then the directory is empty again, so that the refusal can be written.
func Write(dir string, h Handoff, commits func(file string) error) (err error) {
	if err := Fresh(dir); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, clear(dir))
		}
	}()
	h.Version, h.Bundle, h.Detail = Version, nil, shorten(h.Detail, maxDetail)
	h.Notes = append([]string(nil), h.Notes[:min(len(h.Notes), maxNotes)]...)
	for i := range h.Notes {
		h.Notes[i] = shorten(h.Notes[i], maxNote)
	}
	if h.Outcome, err = partOf(h.Flow, h.Outcome); err != nil {
		return err
	}
	if h.Commits() {
		if h.Bundle, err = writeBundle(BundlePath(dir), commits); err != nil {
			return err
		}
	}
	if err := h.validate(); err != nil {
		return err
	}
	text, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("encode handoff: %w", err)
	}
	if len(text) > MaxOutcome {
		return refuse(OutcomeFile, "%d bytes, at most %d: the agent's answers are too long", len(text), MaxOutcome)
	}
	if _, err := decode(text); err != nil { // better known here than where it is read
		return err
	}
	return replace(dir, OutcomeFile, text)
}

// writeBundle writes the bundle and describes it.
func writeBundle(path string, commits func(file string) error) (*Bundle, error) {
	if commits == nil {
		return nil, errors.New("write handoff: there are commits and nothing to write them with")
	}
	if err := commits(path); err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", BundleFile, err)
	}
	defer file.Close()
	b, err := describe(file)
	return &b, err
}

// replace writes a file atomically, by renaming.
func replace(dir, name string, text []byte) error {
	file, err := os.CreateTemp(dir, ".mergexo-")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// clear removes what a failed write left.
func clear(dir string) error {
	there, err := os.ReadDir(dir)
	errs := []error{err}
	for _, e := range there {
		errs = append(errs, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return errors.Join(errs...)
}

// shorten cuts the middle out of a text that is too long, in bytes.
func shorten(text string, limit int) string {
	const notice = "\n[... cut ...]\n"
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= limit {
		return text
	}
	head := (limit - len(notice)) / 4
	tail := limit - len(notice) - head
	return strings.ToValidUTF8(text[:head], "") + notice + strings.ToValidUTF8(text[len(text)-tail:], "")
}
