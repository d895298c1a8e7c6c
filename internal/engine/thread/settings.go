package thread

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// TellSettings comments once on the pull request that its settings cannot be used, and returns wrong. Without the comment,
// whoever waits for an answer would not see the failed run.
func TellSettings(ctx context.Context, t *Thread, wrong error) error {
	if !errors.Is(wrong, config.ErrInvalid) || t.Onlooks || !holdsUp(t) {
		return wrong
	}
	return tellWrong(ctx, t, turn.SettingsText(t.Snap.Pull, SettingsPath, wrong.Error()), wrong)
}

// tellWrong says once what is wrong, and gives it back.
func tellWrong(ctx context.Context, t *Thread, text string, wrong error) error {
	token := journal.Token("settings", strconv.Itoa(t.Event.Number), wrong.Error())
	if t.State.Tokens[token] != 0 {
		return wrong
	}
	m := model.SettingsMarker{Repo: t.Event.Repo.String(), Number: t.Event.Number}
	return errors.Join(wrong, SayOnce(ctx, t, token, journal.Body{Text: text, Kind: journal.KindSettings, Marker: m}))
}

// Configure reads the settings from the base branch. The error wraps config.ErrInvalid if they cannot be used.
func Configure(t *Thread) error {
	branch := SettingsBranch(t)
	if t.Snap.DefaultBranch == "" {
		return fmt.Errorf("%w: repository %s has no commit yet: push one to its default branch, with %s in it", config.ErrInvalid, t.Event.Repo, SettingsPath)
	}
	if _, _, mirror := transport.MirrorOf(branch); mirror && t.Fallback == nil { // whose settings a stranger has written
		return End(model.ResultNothing, "pull requests into %s are ignored: the branch may mirror a fork", branch)
	}
	s, err := readSettings(t)
	switch {
	case err != nil && t.Fallback == nil:
		return err
	case err != nil:
		s = *t.Fallback
	}
	t.Settings, t.Operators = s, command.Policy{Operators: s.Repo.Operators, Users: s.Repo.AllowedUsers, OperationsIssue: s.Repo.OperationsIssue}
	if branch != t.Snap.DefaultBranch { // settings of this branch do not apply to other pull requests
		t.Operators.OperationsIssue = 0
	}
	t.Policy = PolicyOf(s)
	t.Policy.Trigger = t.Event
	if len(t.Settings.Repo.Bots) > 0 {
		Fold(t) // more comments count as ours than were known when the state was folded first
	}
	return nil
}

// readSettings reads them, and checks the agent that they name.
func readSettings(t *Thread) (config.Settings, error) {
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

// SettingsBranch returns the branch whose settings count. For an issue, that is the branch into which its pull request goes.
func SettingsBranch(t *Thread) string { return t.Snap.Pull.BaseRef }

// SettingsSource names the branch and file of the settings, for people.
func SettingsSource(t *Thread) string { return SettingsBranch(t) + ":" + SettingsPath }

// PolicyOf returns the policy of the settings about whose comments count.
func PolicyOf(s config.Settings) turn.Policy {
	return turn.Policy{
		AllowedUsers: s.Repo.AllowedUsers, Track: s.Repo.Track, IgnoreLabel: s.Labels.Ignore,
		MaxPerTurn: s.Feedback.MaxPerTurn, IsCommand: command.IsCommand, Merges: s.Feedback.Merge != "never",
		Listen: s.Feedback.Listen, Names: slices.Concat(s.Feedback.Names, s.Repo.Bots),
	}
}

// LabelsOf returns the labels that start an agent, and the one that turns it off.
func LabelsOf(l config.Labels) flow.Labels {
	return flow.Labels{Design: l.Design, Roadmap: l.Roadmap, Bugfix: l.Bugfix, SmallJob: l.SmallJob, Ignore: l.Ignore}
}

// SettingsPath is where the settings live, on the base branch.
const SettingsPath = ".github/mergexo.toml"

// NeedAgent returns an error if the settings name no agent for the work at hand.
func NeedAgent(t *Thread) error {
	if !t.Settings.Agent.None() {
		return nil
	}
	return config.NoAgent(SettingsSource(t), t.About())
}

// AgentReady returns an error if an agent cannot start now: no agent is set, the key of its model or its reviewer's is missing,
// or the program of the required tests is not installed.
func AgentReady(t *Thread) error {
	if err := NeedAgent(t); err != nil {
		return err
	}
	if wrong := NeedKey(t, t.Settings); wrong != nil {
		return wrong
	}
	if len(t.Settings.Review.On) > 0 {
		if wrong := NeedKey(t, ReviewerSettings(t.Settings)); wrong != nil {
			return wrong
		}
	}
	name := turn.FirstProgram(t.Settings.Repo.RequiredTests)
	if name == "" || startsNone(t) || agent.Installed(name, agent.Environment(t.Lookup, nil, nil)) {
		return nil
	}
	return &config.Lack{Source: SettingsSource(t), Key: "repo.required_tests", Missing: "`" + name + "` is not installed on the runner", Why: "the tests begin with it", Fix: turn.Install}
}

// startsNone reports whether a run starts no agent: a dry run, and the job beside that of the agent.
func startsNone(t *Thread) bool {
	hands, _ := t.Effects.(effect.Handing)
	return t.Effects != nil && !hands.StartsAgents() || !t.Phase.RunsAgent()
}

// TellLack comments once on what an agent lacks, and returns wrong.
func TellLack(ctx context.Context, t *Thread, wrong error) error {
	lack := (*config.Lack)(nil)
	if !errors.As(wrong, &lack) || t.Onlooks {
		return wrong
	}
	return tellWrong(ctx, t, turn.LackText(lack.Missing, lack.Why, lack.Command, lack.Fix), wrong)
}

// NeedKey returns what is missing if the model of these settings lacks its key. It returns nil if the key is there or not needed.
func NeedKey(t *Thread, s config.Settings) *config.Lack {
	secret := agent.NoKey(AgentOptions(t.World, s))
	if secret == "" || startsNone(t) {
		return nil
	}
	key, repo := "agent.adapter", t.Event.Repo.String()
	if s.Agent.Adapter != t.Settings.Agent.Adapter {
		key = "review.adapter"
	}
	if host := Host(t.ServerURL); host != "github.com" {
		repo = host + "/" + repo
	}
	return &config.Lack{
		Source: SettingsSource(t), Key: key, Missing: "the secret `" + secret + "` is missing or empty", Why: "`" + s.Agent.Adapter + "` needs it as the key of its model",
		Command: fmt.Sprintf("gh secret set %s --repo %s", secret, repo), Fix: fmt.Sprintf("give it to MergeXO's step in `env` as `%s: ${{ secrets.%s }}`", secret, secret),
	}
}
