package merge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// BadgeTime is how long GitHub is given to show as merged what has landed. It may take minutes, and a pull request that was
// closed meanwhile never shows it.
const BadgeTime = time.Hour

// GateLanded tells of what has landed and waits for GitHub's badge.
const GateLanded model.GateName = "landed"

// Badge is the newest request that has landed and waits for GitHub's badge; nil for none.
func Badge(st model.State) *model.Posted[model.MergeMarker] {
	for i := len(st.Merges) - 1; i >= 0; i-- {
		if !st.Merges[i].Marker.Badge.IsZero() {
			return &st.Merges[i]
		}
	}
	return nil
}

// Waits says that a pull request with this head has landed whole, and waits for GitHub's badge only.
func Waits(m model.MergeMarker, head string) bool {
	return !m.Badge.IsZero() && slices.Contains(append(m.Tips(), m.Head, m.Landed), head)
}

// BadgeOver says that GitHub has had its time to show what has landed. now is on GitHub's clock.
func BadgeOver(m model.MergeMarker, now time.Time) bool { return !now.Before(m.Badge.Add(BadgeTime)) }

// BadgeGate tells of a request that waits for GitHub's badge.
func BadgeGate(said model.Posted[model.MergeMarker]) model.Gate {
	m := said.Marker
	return find(GateLanded, "", true, "landed as %s on branch %q, not shown as merged by GitHub since %s, see %s; a sweep closes it after an hour", markdown.Short(m.Landed), m.Base, m.Badge.UTC().Format("2006-01-02 15:04 MST"), said.URL).Gate
}

// badgeText is the paragraph of what waits for GitHub's badge.
func badgeText(p model.Pull, m model.MergeMarker) string {
	return fmt.Sprintf("\n\n**Landed, but not shown as merged yet**: its changes are on `%s` as %s. The pull request stays open until GitHub shows it as merged. A sweep closes it after an hour.",
		markdown.Code(m.Base), markdown.Commit(p.URL, m.Landed))
}

// closedText is the paragraph of what has landed and is closed without the badge, whoever has closed it.
func closedText(p model.Pull, m model.MergeMarker) string {
	return fmt.Sprintf("\n\nGitHub did not show this pull request as merged in time, so it was closed. Its changes are on `%s` as %s.", markdown.Code(m.Base), markdown.Commit(p.URL, m.Landed))
}

// MoreCommits tells of commits that came since. Nobody waits for a badge then.
func MoreCommits(head string) string {
	return fmt.Sprintf("The branch has newer commits, up to %s, which were not merged. The pull request stays open for them.", markdown.Short(head))
}

// BadgeSettled is the text of a request once it no longer waits for GitHub's badge: the pull request is merged, closed,
// or open with other commits. also are notes on what else was done.
func BadgeSettled(text string, p model.Pull, m model.MergeMarker, also []string) string {
	said := map[model.PullState]string{model.PullClosed: closedText(p, m), model.PullOpen: notes(p, []string{MoreCommits(p.HeadSHA)})}[p.State]
	before, after, found := strings.Cut(text, badgeText(p, m))
	if !found {
		return text + said + notes(p, also)
	}
	return before + said + after + notes(p, also)
}
