package engine

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/branchfilter"
	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// tellSettings says on the pull request that its settings cannot be used, once for what is wrong with them, and gives wrong
// back: a run that only fails is seen by nobody who waits for an answer.
func (p *pass) tellSettings(ctx context.Context, wrong error) error {
	if !errors.Is(wrong, config.ErrInvalid) || p.onlooks || p.Phase == AgentPhase || !p.mends() {
		return wrong
	}
	token := journal.Token("settings", strconv.Itoa(p.event.Number), wrong.Error())
	switch {
	case p.state.Tokens[token] != 0:
		return wrong
	case p.DryRun:
		p.planned("comment", strconv.Itoa(p.event.Number), token)
		return wrong
	}
	m := model.SettingsMarker{Repo: p.event.Repo.String(), Number: p.event.Number}
	body := journal.Body{Text: turn.SettingsText(p.snap.Pull, SettingsPath, wrong.Error()), Kind: journal.KindSettings, Marker: m}
	if _, err := p.comment(ctx, token, body, func() int64 { return p.state.Tokens[token] }); err != nil {
		return errors.Join(wrong, err)
	}
	if err := p.read(ctx); err != nil { // another run may have said it in the same moment
		return errors.Join(wrong, err)
	}
	if err := p.tidy(ctx); err != nil {
		return errors.Join(wrong, err)
	}
	return wrong
}

// mends says that somebody who may write waits here for what the settings stand in the way of. Which branches are tracked
// they do not tell any more: then those count that MergeXO has marked, and that it tracks by default.
func (p *pass) mends() bool {
	pull, st := p.snap.Pull, p.state
	may := p.rights[strings.ToLower(p.event.Author.Login)] >= model.PermissionWrite
	followed := st.Tracked != nil || len(st.Turns) > 0 || !pull.CrossRepo && branchfilter.Match(config.Defaults().Repo.Track, pull.HeadRef)
	// Whose markers are ours they do not tell either: beside another MergeXO nothing is written.
	foreign := len(foreignPeople(st)) > 0 || slices.ContainsFunc(st.Foreign, func(f model.Foreign) bool { return f.Author.Bot })
	return !foreign && p.snap.IsPull && pull.State == model.PullOpen && st.Released == nil && may && (followed || command.Is(p.event.CommentBody))
}
