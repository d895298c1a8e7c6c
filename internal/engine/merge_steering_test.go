package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// settings is the text of the settings of a branch.
func (w *world) settings(branch string) string {
	w.t.Helper()
	return w.fileOf(branch, ".github/mergexo.toml")
}

func TestMergeOfWhatSteersARepositoryIsTold(t *testing.T) {
	w := newMerge(t)
	w.write("alice", w.head, ".github/mergexo.toml", strings.Replace(w.settings("main"), "[repo]\n", "[repo]\nallowed_users = [\"mallory\"]\n", 1))
	w.write("alice", w.head, ".github/CODEOWNERS", "* @mallory\n")
	w.approve("alice")

	w.command("carol", "/mergexo why")
	assert.Contains(t, w.lastSaid(), "| steering files | yes | it changes files that control this repository: MergeXO's settings (.github/mergexo.toml), code owners (.github/CODEOWNERS); check them before you approve |")

	w.done(w.command("carol", "/mergexo merge"))
	assert.Contains(t, w.request(), "> It changes files that control this repository: MergeXO's settings (.github/mergexo.toml), code owners (.github/CODEOWNERS)")
}

func TestMergeThatTakesTheSettingsAwayIsTold(t *testing.T) {
	w := newMerge(t)
	sha := w.api("octo", "GET", w.path("/contents/.github/mergexo.toml?ref="+w.head), nil)["sha"]
	w.api("alice", "DELETE", w.path("/contents/.github/mergexo.toml"), object{"message": "Go", "branch": w.head, "sha": sha})
	w.approve("alice")
	w.done(w.command("carol", "/mergexo merge"))
	assert.Contains(t, w.request(), "> It removes .github/mergexo.toml: without that file, MergeXO stops working there")
}

// What lands is looked at, and not what the pull request says alone: here each side is valid, and both together are not.
func TestMergeOfSettingsThatCannotBeReadIsRefused(t *testing.T) {
	each(t, map[string]bool{"of the pull request": false, "of both sides together": true}, func(t *testing.T, _ string, twice bool) {
		w := newMerge(t)
		text := w.settings("main")
		want := "Details: .github/mergexo.toml:"
		if twice {
			w.write("alice", w.head, ".github/mergexo.toml", text+"[sweep]\nmax_items = 3\n")
			w.write("octo", "main", ".github/mergexo.toml", "[sweep]\nmax_parallel = 2\n"+text)
		} else {
			w.write("alice", w.head, ".github/mergexo.toml", text+"\n[agent.adaptor]\n")
			want += fmt.Sprintf("%d: agent.adaptor: unknown key; did you mean agent.adapter?", strings.Count(text, "\n")+2)
		}
		w.approve("alice")
		before := w.at("main")
		for _, order := range []string{"/mergexo merge dry-run", "/mergexo merge", "/mergexo merge strategy=squash"} {
			rep := w.command("carol", order)
			if order != "/mergexo merge dry-run" {
				assert.Equal(t, model.ResultBlocked, rep.Result, rep.Reason)
				assert.Equal(t, "SETTINGS_INVALID", rep.BlockedReason, rep.Reason)
			}
			assert.Contains(t, w.lastSaid(), "`SETTINGS_INVALID`")
			assert.Contains(t, w.lastSaid(), want)
		}
		assert.Equal(t, before, w.at("main"))
		assert.Equal(t, "merge_failed SETTINGS_INVALID", w.merges()[0])
	})
}

// The pull request has put settings right; to take that back brings the error back.
func TestRevertThatBringsBackSettingsThatCannotBeReadIsRefused(t *testing.T) {
	w := newMerge(t)
	good := w.settings("main")
	w.write("octo", "main", ".github/mergexo.toml", strings.Replace(good, "[repo]", "[repo]\nunknown = 1", 1))
	w.second("fix", ".github/mergexo.toml", good)
	w.api("octo", "PUT", w.pull("/merge"), object{"merge_method": "merge"})
	rep := w.command("carol", "/mergexo revert")
	assert.NotEqual(t, model.ResultRetry, rep.Result, rep.Reason)
	assert.Empty(t, w.list("octo", w.path("/pulls?state=open&head=octo:mergexo/revert-2")))
	assert.Contains(t, w.lastSaid(), "**Not reverted: the settings in this change are invalid** (`SETTINGS_INVALID`)")
	assert.Contains(t, w.lastSaid(), "repo.unknown: unknown key")
}

func TestRevertOfWhatSteersARepositoryIsTold(t *testing.T) {
	w := newMerge(t)
	w.write("alice", w.head, ".github/CODEOWNERS", "* @alice\n")
	w.api("octo", "PUT", w.pull("/merge"), object{"merge_method": "merge"})
	w.done(w.command("carol", "/mergexo revert"))
	open := w.opened()
	require.Len(t, open, 1)
	assert.Contains(t, open[0]["body"], "It changes files that control this repository: code owners (.github/CODEOWNERS)")
}
