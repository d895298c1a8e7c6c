package sandbox

import (
	"net/url"
	"strconv"
	"strings"
	"time"
)

// The shapes below carry every field that GitHub's OpenAPI description requires, and those that webhook payloads have.

// api is the address of a REST path.
func (a addresses) api(path ...string) string {
	return a.origin + restPrefix + strings.Join(path, "")
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// stampOrNil is null for no time.
func stampOrNil(t *time.Time) any {
	if t == nil {
		return nil
	}
	return stamp(*t)
}

// textOrNil is null for no text.
func textOrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// numberOrNil is null for 0.
func numberOrNil(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

func userNodeID(u *User) string {
	if u.Type == "Bot" {
		return nodeID(nodeBot, u.ID)
	}
	return nodeID(nodeUser, u.ID)
}

// user renders the schema simple-user.
func (js views) user(u *User) obj {
	login := url.PathEscape(u.Login)
	self := js.urls.api("/users/", login)
	html := js.origin + "/" + login
	if app, ok := strings.CutSuffix(u.Login, "[bot]"); ok {
		html = js.origin + "/apps/" + app
	}
	return obj{
		"login": u.Login, "id": u.ID, "node_id": userNodeID(u), "avatar_url": js.origin + "/avatars/u/" + strconv.FormatInt(u.ID, 10),
		"gravatar_id": "", "url": self, "html_url": html, "followers_url": self + "/followers",
		"following_url": self + "/following{/other_user}", "gists_url": self + "/gists{/gist_id}",
		"starred_url": self + "/starred{/owner}{/repo}", "subscriptions_url": self + "/subscriptions",
		"organizations_url": self + "/orgs", "repos_url": self + "/repos", "events_url": self + "/events{/privacy}",
		"received_events_url": self + "/received_events", "type": u.Type, "user_view_type": "public", "site_admin": false,
	}
}

// userOrNil is null for nobody.
func (js views) userOrNil(login string) any {
	if login == "" {
		return nil
	}
	return js.user(js.world.author(login))
}

func (js views) users(logins []string) []obj {
	out := make([]obj, 0, len(logins))
	for _, l := range logins {
		out = append(out, js.user(js.world.author(l)))
	}
	return out
}

// fullUser renders the schema public-user; with private it is private-user.
func (js views) fullUser(u *User, private bool) obj {
	o := js.user(u)
	for _, k := range []string{"name", "company", "location", "email", "hireable", "bio", "twitter_username"} {
		o[k] = nil
	}
	o["blog"] = ""
	repos := 0
	for _, r := range js.st.Repositories {
		if strings.EqualFold(r.Owner, u.Login) {
			repos++
		}
	}
	o["public_repos"], o["public_gists"], o["followers"], o["following"] = repos, 0, 0, 0
	o["created_at"], o["updated_at"] = stamp(u.CreatedAt), stamp(u.CreatedAt)
	if private {
		for _, k := range []string{"private_gists", "total_private_repos", "owned_private_repos", "disk_usage", "collaborators"} {
			o[k] = 0
		}
		o["two_factor_authentication"] = true
		o["user_view_type"] = "private"
	}
	return o
}

// repositoryLinks are the URL fields of a repository and what follows the repository's own URL in them.
var repositoryLinks = map[string]string{
	"archive_url": "/{archive_format}{/ref}", "assignees_url": "/assignees{/user}", "blobs_url": "/git/blobs{/sha}",
	"branches_url": "/branches{/branch}", "collaborators_url": "/collaborators{/collaborator}", "comments_url": "/comments{/number}",
	"commits_url": "/commits{/sha}", "compare_url": "/compare/{base}...{head}", "contents_url": "/contents/{+path}",
	"contributors_url": "/contributors", "deployments_url": "/deployments", "downloads_url": "/downloads", "events_url": "/events",
	"forks_url": "/forks", "git_commits_url": "/git/commits{/sha}", "git_refs_url": "/git/refs{/sha}", "git_tags_url": "/git/tags{/sha}",
	"issue_comment_url": "/issues/comments{/number}", "issue_events_url": "/issues/events{/number}", "issues_url": "/issues{/number}",
	"keys_url": "/keys{/key_id}", "labels_url": "/labels{/name}", "languages_url": "/languages", "merges_url": "/merges",
	"milestones_url": "/milestones{/number}", "notifications_url": "/notifications{?since,all,participating}",
	"pulls_url": "/pulls{/number}", "releases_url": "/releases{/id}", "stargazers_url": "/stargazers", "statuses_url": "/statuses/{sha}",
	"subscribers_url": "/subscribers", "subscription_url": "/subscription", "tags_url": "/tags", "teams_url": "/teams",
	"trees_url": "/git/trees{/sha}", "hooks_url": "/hooks",
}

func (a addresses) repositoryAPI(r *Repository) string { return a.api("/repos/", r.FullName()) }

// minimalRepository renders the schema minimal-repository.
func (js views) minimalRepository(r *Repository) obj {
	self := js.urls.repositoryAPI(r)
	o := obj{
		"id": r.ID, "node_id": nodeID(nodeRepository, r.ID), "name": r.Name, "full_name": r.FullName(),
		"owner": js.user(js.world.author(r.Owner)), "private": r.Private, "html_url": js.urls.repository(r),
		"description": textOrNil(r.Description), "fork": r.Parent != 0, "url": self,
	}
	for k, v := range repositoryLinks {
		o[k] = self + v
	}
	return o
}

// repository renders the schema repository, as it stands in pull requests and payloads.
func (js views) repository(r *Repository) obj {
	o := js.minimalRepository(r)
	html := js.urls.repository(r)
	_, host, _ := strings.Cut(js.origin, "://")
	o["git_url"], o["ssh_url"] = "git://"+host+"/"+r.FullName()+".git", "git@"+host+":"+r.FullName()+".git"
	o["clone_url"], o["svn_url"] = html+".git", html
	for _, k := range []string{"mirror_url", "homepage", "language", "license"} {
		o[k] = nil
	}
	open, forks := 0, 0
	for _, i := range r.Issues {
		if i.State == "open" {
			open++
		}
	}
	for _, other := range js.st.Repositories {
		if other.Parent == r.ID {
			forks++
		}
	}
	for _, k := range []string{"stargazers_count", "watchers_count", "watchers", "size"} {
		o[k] = 0
	}
	o["forks"], o["forks_count"], o["open_issues"], o["open_issues_count"] = forks, forks, open, open
	for _, k := range []string{"has_issues", "has_projects", "has_wiki", "has_downloads", "allow_forking"} {
		o[k] = true
	}
	for _, k := range []string{"has_pages", "has_discussions", "archived", "disabled", "is_template", "web_commit_signoff_required"} {
		o[k] = false
	}
	o["topics"], o["default_branch"], o["custom_properties"] = []string{}, r.DefaultBranch, obj{}
	o["visibility"] = "public"
	if r.Private {
		o["visibility"] = "private"
	}
	o["created_at"], o["updated_at"], o["pushed_at"] = stamp(r.CreatedAt), stamp(r.UpdatedAt), stamp(r.PushedAt)
	return o
}

// permission is the object of booleans that GitHub spells a right with.
func (js views) permission(r *Repository, login string) obj {
	p := js.world.permission(r, login)
	o := obj{}
	for i, k := range []string{"pull", "triage", "push", "maintain", "admin"} {
		o[k] = int(p) > i
	}
	return o
}

// fullRepository renders the schema full-repository as login sees it.
func (js views) fullRepository(r *Repository, u *User) obj {
	o := js.repository(r)
	if u != nil {
		o["permissions"] = js.permission(r, u.Login)
	}
	o["allow_merge_commit"], o["allow_squash_merge"], o["allow_rebase_merge"] = !r.NoMethods["merge"], !r.NoMethods["squash"], !r.NoMethods["rebase"]
	o["allow_update_branch"] = true
	o["delete_branch_on_merge"] = r.DeletesHeads
	for _, k := range []string{"allow_auto_merge", "use_squash_pr_title_as_default"} {
		o[k] = false
	}
	o["squash_merge_commit_title"], o["squash_merge_commit_message"] = "COMMIT_OR_PR_TITLE", "COMMIT_MESSAGES"
	o["merge_commit_title"], o["merge_commit_message"] = "MERGE_MESSAGE", "PR_TITLE"
	o["subscribers_count"], o["network_count"] = 0, o["forks_count"]
	if p := js.world.repositoryByID(r.Parent); p != nil {
		o["parent"], o["source"] = js.repository(p), js.repository(p)
	}
	return o
}

// defaultLabels are those that a new repository has:
// https://docs.github.com/en/issues/using-labels-and-milestones-to-track-work/managing-labels#about-default-labels
var defaultLabels = []Label{
	{Name: "bug", Color: "d73a4a", Description: "Something isn't working"},
	{Name: "documentation", Color: "0075ca", Description: "Improvements or additions to documentation"},
	{Name: "duplicate", Color: "cfd3d7", Description: "This issue or pull request already exists"},
	{Name: "enhancement", Color: "a2eeef", Description: "New feature or request"},
	{Name: "good first issue", Color: "7057ff", Description: "Good for newcomers"},
	{Name: "help wanted", Color: "008672", Description: "Extra attention is needed"},
	{Name: "invalid", Color: "e4e669", Description: "This doesn't seem right"},
	{Name: "question", Color: "d876e3", Description: "Further information is requested"},
	{Name: "wontfix", Color: "ffffff", Description: "This will not be worked on"},
}

// label renders the schema label.
func (js views) label(r *Repository, l *Label) obj {
	standard := false
	for _, d := range defaultLabels {
		standard = standard || d.Name == l.Name
	}
	return obj{
		"id": l.ID, "node_id": nodeID(nodeLabel, l.ID), "url": js.urls.repositoryAPI(r) + "/labels/" + url.PathEscape(l.Name),
		"name": l.Name, "color": l.Color, "default": standard, "description": textOrNil(l.Description),
	}
}

func (js views) labels(r *Repository, ls []*Label) []obj {
	out := make([]obj, 0, len(ls))
	for _, l := range ls {
		out = append(out, js.label(r, l))
	}
	return out
}

// reactionContents are GitHub's reactions, in its order.
var reactionContents = []string{"+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"}

// rollupJSON is reaction-rollup.
func rollupJSON(subject string, reactions []*Reaction) obj {
	o := obj{"url": subject + "/reactions", "total_count": len(reactions)}
	for _, c := range reactionContents {
		n := 0
		for _, r := range reactions {
			if r.Content == c {
				n++
			}
		}
		o[c] = n
	}
	return o
}

// reaction renders the schema reaction.
func (js views) reaction(r *Reaction) obj {
	return obj{
		"id": r.ID, "node_id": nodeID(nodeReaction, r.ID), "user": js.user(js.world.author(r.User)),
		"content": r.Content, "created_at": stamp(r.CreatedAt),
	}
}
