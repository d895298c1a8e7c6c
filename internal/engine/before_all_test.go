//go:build all

package engine_test

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// before is a story of testdata/before.zip: the worlds that a run of the version before this one left behind, which died before its first
// write, after that one, and so on. That version knew no lease in a marker, and hid no comment that had ended.
type before struct {
	Event  model.Event // of the run; none in the story of the fork, which a sweep finds
	Phases []struct {
		Origin, Head, Agent, Key, Token string
		Now                             time.Time
		Skew                            time.Duration
		Number, Random, TestRuns        int
		Runs                            int64
		Files, Notes                    map[string]struct {
			Sum  string // of its text, which the archive has once
			Mode fs.FileMode
		}
	}
}

// readBefore reads the stories of the archive, by name, and the texts of their files.
func readBefore(t *testing.T) (stories map[string]before, texts map[string][]byte) {
	t.Helper()
	archive := must.Get(zip.OpenReader("testdata/before.zip"))(t)
	defer archive.Close()
	texts = map[string][]byte{}
	for _, f := range archive.File {
		in := must.Get(f.Open())(t)
		texts[f.Name] = must.Get(io.ReadAll(in))(t)
	}
	require.NoError(t, json.Unmarshal(texts["stories.json"], &stories))
	return stories, texts
}

// after is the world after so many writes, with the run at its end.
func (b before) after(t *testing.T, writes int, texts map[string][]byte) *world {
	t.Helper()
	p, out := b.Phases[writes], estate{files: fstest.MapFS{}, notes: fstest.MapFS{}}
	for name, f := range p.Files {
		out.files[name] = &fstest.MapFile{Data: texts[f.Sum], Mode: f.Mode}
	}
	for name, f := range p.Notes {
		out.notes[name] = &fstest.MapFile{Data: texts[f.Sum], Mode: f.Mode}
	}
	out.world = &world{origin: p.Origin, now: p.Now, skew: p.Skew, number: p.Number, head: p.Head, agent: p.Agent, key: p.Key,
		runs: p.Runs, random: p.Random, token: p.Token, testRuns: p.TestRuns}
	w := out.takeUp(t)
	w.findsAgent()
	w.over(w.runs)
	return w
}

// findsAgent puts the agent of the stories on PATH, under the name that the settings of the archive have.
func (w *world) findsAgent() {
	w.t.Helper()
	self := must.Get(os.Executable())(w.t)
	dir := w.t.TempDir()
	require.NoError(w.t, os.Symlink(self, filepath.Join(dir, "story-agent")))
	w.env = map[string]string{"PATH": dir + string(filepath.ListSeparator) + os.Getenv("PATH")}
}

// finish makes good what a run of a story left behind.
func (b before) finish(w *world, name string) model.Report {
	switch name {
	case "group":
		return (&grouped{world: w}).recover(b.Event)
	case "fork":
		w.recoverBySweep()
		return model.Report{}
	}
	return w.recover(b.Event)
}

// What the version before this one left behind, wherever it died, comes to the same end as what it had not begun.
func TestWhatTheVersionBeforeLeftBehindIsFinished(t *testing.T) {
	t.Parallel()
	stories, texts := readBefore(t)
	for name, shows := range map[string]func(*world) string{
		"turn": (*world).shows, "issue": (*world).showsIssue, "merge": (*world).ends, "group": (*world).ends,
		"roadmap": (*world).tale, "review": reviewedStories["asked by a label"].shows,
		"fork":  func(w *world) string { return landedList.ReplaceAllString(w.said(), "") }, // the run that lands commits lists them
		"train": func(w *world) string { return w.trainEnds([]int{2, 3, 4}) },
		"question": func(w *world) string { // a second attempt goes on from the checkpoint of the first one
			return strings.ReplaceAll(strings.ReplaceAll(w.showsIssue(), ", attempt 2", ""), "salut?\nsalut?", "salut?")
		},
	} {
		story := stories[name]
		require.Greater(t, len(story.Phases), 2, name)
		w := story.after(t, 0, texts)
		story.finish(w, name)
		want := shows(w)
		for n := range story.Phases {
			t.Run(fmt.Sprintf("%s, after write %d", name, n), func(t *testing.T) {
				t.Parallel()
				w := story.after(t, n, texts)
				story.finish(w, name)
				assert.Equal(t, want, shows(w))
				assert.Contains(t, []model.Result{"", model.ResultNothing, model.ResultBlocked}, story.finish(w, name).Result, "nothing is left to do")
			})
		}
	}
}
