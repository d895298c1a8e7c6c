package command_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/model"
)

func TestWhoIsADelegate(t *testing.T) {
	policy := command.Policy{Delegates: []model.Delegate{{Login: "Dana", At: noon}}}
	for name, c := range map[string]struct {
		login      string
		permission model.Permission
		said       time.Duration // after the delegation
		want       command.Role
	}{
		"since then":             {"dana", model.PermissionRead, time.Second, command.Delegate},
		"before it":              {"dana", model.PermissionRead, -time.Second, command.Stranger},
		"who has lost access":    {"dana", model.PermissionNone, time.Second, command.Stranger},
		"who may command anyway": {"dana", model.PermissionAdmin, time.Second, command.Operator},
		"somebody else":          {"erin", model.PermissionWrite, time.Second, command.Refused},
	} {
		said := posted("/mergexo merge")
		said.Author.Login, said.CreatedAt = c.login, noon.Add(c.said)
		assert.Equal(t, c.want, policy.RoleOf(said, c.permission), name)
		said.CreatedAt, said.Submitted = noon.Add(-time.Hour), noon.Add(c.said)
		assert.Equal(t, c.want, policy.RoleOf(said, c.permission), "%s, drafted before it", name)
	}
	for line, want := range map[string]bool{
		"merge": true, "merge pr=7": true, "merge cancel": true, "merge priority=low": true, "try": true,
		"merge now": false, "merge priority=high": false, "merge pr=2": false, "pause": false, "revert": false, "delegate @bob": false,
	} {
		assert.Equal(t, want, command.Parse("/mergexo " + line)[0].Delegable(7), line)
	}
}

func TestWhoMayBeADelegate(t *testing.T) {
	dana := []model.Delegate{{Login: "dana"}}
	for line, c := range map[string]struct {
		permission model.Permission
		delegates  []model.Delegate
		want       model.Verdict
		says       string
	}{
		"delegate @dana":    {model.PermissionRead, nil, model.Applied, "@dana can now have this pull request merged"},
		"delegate @Dana":    {model.PermissionRead, dana, model.Rejected, "is already a delegate of pull request 7"},
		"delegate @eve":     {model.PermissionNone, nil, model.Rejected, "eve has no access to this repository"},
		"delegate @carol":   {model.PermissionMaintain, nil, model.Rejected, "carol may already have every pull request merged"},
		"delegate @erin":    {model.PermissionRead, make([]model.Delegate, 20), model.Rejected, "has 20 delegates, which is the maximum"},
		"delegate cancel":   {model.PermissionNone, dana, model.Applied, "**Revoked.**"},
		"delegate cancel  ": {model.PermissionNone, nil, model.Rejected, "has no delegates"},
	} {
		got := command.Decide(given(with(free(), func(cs *command.Case) { cs.State.Delegates, cs.Facts.Permission = c.delegates, c.permission }), "/mergexo "+line))
		assert.Equal(t, c.want, got.Verdict, line)
		assert.Contains(t, got.Text, c.says, line)
	}
}
