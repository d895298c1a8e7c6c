package planning

import (
	"context"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/roadmap"
)

// Check tells people what does not hold in the roadmaps that a pull request changes, whoever opened it: once for each head, and the
// same problems once.
func Check(ctx context.Context, t *thread.Thread) error {
	t.Due(model.DueRoadmap, time.Time{})
	names := proposed(t)
	head := journal.Token("roadmap_check", strconv.Itoa(t.Event.Number), t.Snap.Pull.HeadSHA)
	if len(names) == 0 || t.State.Tokens[head] != 0 {
		return nil
	}
	var checked []roadmap.Checked
	token := []string{"roadmap_problems", strconv.Itoa(t.Event.Number)}
	for _, f := range names {
		wrong, err := problems(ctx, t, f)
		if err != nil {
			return err
		}
		if len(wrong) > 0 {
			checked = append(checked, roadmap.Checked{Path: f.Path, Problems: wrong})
			token = append(token, f.Path, wrong.Error())
		}
	}
	same := journal.Token(token...)
	if len(checked) == 0 || t.State.Tokens[same] != 0 {
		return nil
	}
	text := roadmap.CheckedText(t.Snap.Pull.URL, t.Snap.Pull.HeadSHA, checked)
	err := thread.SayOnce(ctx, t, same, journal.Body{Text: text, Tokens: []string{head}})
	if github.KindOf(err) == github.Forbidden { // the run of a fork's pull request may only read
		t.Log.Warn("roadmap_not_checked", "pr_number", t.Event.Number, "error", err)
		return nil
	}
	if err == nil {
		t.Report.Result, t.Report.Reason = model.ResultDone, ""
	}
	return err
}

// proposed are the files of roadmaps that a pull request adds or changes, where somebody may have changed them just now.
func proposed(t *thread.Thread) (names []model.File) {
	pull := t.Snap.Pull
	if pull.State != model.PullOpen || model.Named(pull.Labels, t.Settings.Labels.Ignore) || !thread.Watched(t) {
		return nil
	}
	for _, f := range pull.Files {
		if roadmap.FileOf(t.Settings.Roadmap.Dir, f.Path) != 0 && f.Change != "DELETED" {
			names = append(names, f)
		}
	}
	return names
}

// problems are those of one file. A new one may be the second for its roadmap.
func problems(ctx context.Context, t *thread.Thread, f model.File) (roadmap.Problems, error) {
	head := t.Snap.Pull.HeadSHA
	file, there, err := t.GitHub.Repositories.File(ctx, t.Event.Repo, head, f.Path)
	if err != nil || !there || file.Large {
		return nil, err
	}
	wrong := roadmap.Check(f.Path, []byte(file.Text))
	if f.Change == "MODIFIED" || f.Change == "CHANGED" {
		return wrong, nil
	}
	all, err := t.GitHub.Repositories.Files(ctx, t.Event.Repo, head, path.Dir(f.Path))
	if err != nil {
		return nil, err
	}
	dir, number := t.Settings.Roadmap.Dir, roadmap.FileOf(t.Settings.Roadmap.Dir, f.Path)
	if i := slices.IndexFunc(all, func(o model.RepositoryFile) bool { return o.Path != f.Path && roadmap.FileOf(dir, o.Path) == number }); i >= 0 {
		wrong = append(roadmap.Problems{roadmap.Second(all[i].Path, number)}, wrong...)
	}
	return wrong, nil
}
