package thread

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// TellSettings says on the pull request that its settings cannot be used, once for what is wrong with them, and gives wrong
// back: a run that only fails is seen by nobody who waits for an answer.
func TellSettings(ctx context.Context, t *Thread, wrong error) error {
	if !errors.Is(wrong, config.ErrInvalid) || t.Onlooks || !kindOf(t.Snap).holdsUp(t) {
		return wrong
	}
	token := journal.Token("settings", strconv.Itoa(t.Event.Number), wrong.Error())
	if t.State.Tokens[token] != 0 {
		return wrong
	}
	m := model.SettingsMarker{Repo: t.Event.Repo.String(), Number: t.Event.Number}
	body := journal.Body{Text: turn.SettingsText(t.Snap.Pull, SettingsPath, wrong.Error()), Kind: journal.KindSettings, Marker: m}
	if _, err := t.Comment(ctx, token, body, effect.Mark{}); err != nil {
		return errors.Join(wrong, err)
	}
	if err := t.Read(ctx); err != nil { // another run may have said it in the same moment
		return errors.Join(wrong, err)
	}
	if err := t.Tidy(ctx); err != nil {
		return errors.Join(wrong, err)
	}
	return wrong
}

// Configure reads the settings off the base branch.
func (t *Thread) Configure() error {
	branch := SettingsBranch(t)
	if t.Snap.DefaultBranch == "" {
		return fmt.Errorf("%w: repository %s has no commit yet: push one to its default branch, with %s in it", config.ErrInvalid, t.Event.Repo, SettingsPath)
	}
	if _, _, mirror := transport.MirrorOf(branch); mirror && t.Fallback == nil { // whose settings a stranger has written
		return End(model.ResultNothing, "pull requests into %s are ignored: the branch may mirror a fork", branch)
	}
	s, err := readSettings(t)
	if err != nil {
		return err
	}
	t.Settings, t.Operators = s, command.Policy{Operators: s.Repo.Operators, Users: s.Repo.AllowedUsers, OperationsIssue: s.Repo.OperationsIssue}
	if branch != t.Snap.DefaultBranch { // settings of this branch do not apply to other pull requests
		t.Operators.OperationsIssue = 0
	}
	t.Policy = PolicyOf(s)
	t.Policy.Trigger = t.Event
	if len(t.Settings.Repo.Bots) > 0 {
		t.Fold() // more comments count as ours than were known when the state was folded first
	}
	return nil
}

// readSettings reads them, and checks the agent that they name.
func readSettings(t *Thread) (config.Settings, error) {
	s, err := settingsOfBranch(t)
	if err != nil && t.Fallback != nil {
		return *t.Fallback, nil
	}
	return s, err
}

func settingsOfBranch(t *Thread) (config.Settings, error) {
	source := SettingsSource(t)
	if _, _, mirror := transport.MirrorOf(SettingsBranch(t)); !t.Snap.SettingsFound || mirror {
		return config.Settings{}, config.Missing(source)
	}
	s, err := config.Parse(t.Snap.Settings, source)
	if err != nil {
		return s, err
	}
	if err := CheckAgent(t.World, s); err != nil {
		return s, fmt.Errorf("%s: %w", source, err)
	}
	return s, nil
}

// SettingsBranch is the branch whose settings count. A pull request from an issue goes into the default branch.
func SettingsBranch(t *Thread) string { return t.Snap.Pull.BaseRef }

// SettingsSource is what people know the settings by.
func SettingsSource(t *Thread) string { return SettingsBranch(t) + ":" + SettingsPath }

// PolicyOf is what the settings say about whose words count.
func PolicyOf(s config.Settings) turn.Policy {
	return turn.Policy{
		AllowedUsers: s.Repo.AllowedUsers, Track: s.Repo.Track, IgnoreLabel: s.Labels.Ignore,
		MaxPerTurn: s.Feedback.MaxPerTurn, IsCommand: command.IsCommand, Merges: s.Feedback.Merge != "never",
		Listen: s.Feedback.Listen, Names: slices.Concat(s.Feedback.Names, s.Repo.Bots),
	}
}

// LabelsOf are the labels that set an agent to work.
func LabelsOf(l config.Labels) flow.Labels {
	return flow.Labels{Design: l.Design, Roadmap: l.Roadmap, Bugfix: l.Bugfix, SmallJob: l.SmallJob, Ignore: l.Ignore}
}

// SettingsPath is where the settings live, on the base branch.
const SettingsPath = ".github/mergexo.toml"

// NeedAgent is nil where there is an agent for the work at hand.
func NeedAgent(t *Thread) error {
	if !t.Settings.Agent.None() {
		return nil
	}
	return config.NoAgent(SettingsSource(t), t.About())
}
