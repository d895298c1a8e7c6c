package sweeping

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

func TestWhatIsDueHangsOnRights(t *testing.T) {
	rights := map[string]model.Permission{"writer": model.PermissionWrite, "admin": model.PermissionAdmin, "reader": model.PermissionRead}
	said := func(login string) []model.Comment {
		return []model.Comment{{Kind: model.KindIssue, Author: model.Actor{Login: login}, Association: "COLLABORATOR"}}
	}
	for _, c := range []struct {
		name string
		is   item
		why  []model.Reason
	}{
		{"nothing", item{}, nil},
		{"a person who is heard", item{candidates: said("writer")}, []model.Reason{model.DueFeedback}},
		{"a person who is not", item{candidates: said("reader")}, nil},
		{"after an attempt that failed", item{candidates: said("writer"), failed: true}, []model.Reason{model.DueRetry}},
		{"no agent for it", item{candidates: said("writer"), needs: errors.New("no agent")}, nil},
		{"a stranger's command", item{commanders: []string{"nobody"}}, nil},
		{"a writer's command", item{commanders: []string{"writer"}}, []model.Reason{model.DueCommand}},
		{"a command by a reader, who is a delegate", item{commanders: []string{"reader"}, delegates: []string{"reader"}}, []model.Reason{model.DueCommand}},
		{"a command by a delegate who has lost access", item{commanders: []string{"gone"}, delegates: []string{"gone"}}, nil},
		{"a fork's label by a reader", item{hosts: []string{"reader"}}, nil},
		{"a fork's label by an operator", item{hosts: []string{"boss"}, operators: command.Policy{Operators: []string{"boss"}}}, []model.Reason{model.DueExternal}},
		{"our comments under another writer's account", item{foreign: []string{"writer"}}, []model.Reason{model.DueIdentity}},
		{"our comments copied by a reader", item{foreign: []string{"reader"}}, nil},
		{"a label by a writer", item{isIssue: true, step: flow.Step{Act: flow.Begin}, starters: []string{"writer"}}, []model.Reason{model.DueFlow}},
		{"a label by a reader", item{isIssue: true, step: flow.Step{Act: flow.Begin}, starters: []string{"reader"}}, nil},
		{"a label by a writer who is not named", item{isIssue: true, step: flow.Step{Act: flow.Begin}, starters: []string{"writer"}, policy: turn.Policy{AllowedUsers: []string{"other"}}}, nil},
		{"talk on an issue whose pull request is open", item{isIssue: true, step: flow.Step{Act: flow.Redirect}, candidates: said("writer"), needs: errors.New("no agent")}, []model.Reason{model.DueFlow}},
		{"a stranger's words on an issue whose work is recorded", item{isIssue: true, step: flow.Step{Act: flow.Finish}, quiet: flow.Step{Act: flow.Wait}, candidates: said("reader")}, nil},
		{"a writer's words there", item{isIssue: true, step: flow.Step{Act: flow.Finish}, quiet: flow.Step{Act: flow.Wait}, candidates: said("writer")}, []model.Reason{model.DueFlow}},
		{"a stranger's words where work is open anyway", item{isIssue: true, step: flow.Step{Act: flow.GoOn}, quiet: flow.Step{Act: flow.GoOn}, candidates: said("reader"), starters: []string{"writer"}}, []model.Reason{model.DueFlow}},
		{"the word in a stranger's comment", item{whisperers: []string{"reader", "nobody"}}, nil},
		{"nobody talks there", item{isIssue: true, step: flow.Step{Act: flow.Redirect}}, nil},
	} {
		c.is.hear(rights)
		assert.Equal(t, c.why, c.is.reasons(rights), c.name)
	}
}
