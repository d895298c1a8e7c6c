package github

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	gogithub "github.com/google/go-github/v60/github"

	"github.com/mergexo/mergexo/internal/model"
)

// LargestFile is how many bytes of a file are read.
const LargestFile = 1 << 20

// kinds of tokens by how they begin:
// https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github#githubs-token-formats
var tokenKinds = []tokenKind{
	{"github_pat_", fineGrained, true}, {"ghp_", "classic personal token", true}, {"ghs_", "App's or workflow's token", false},
	{"ghu_", "App's token for a person", true}, {"gho_", "OAuth token", true},
}

type tokenKind struct {
	prefix, kind string
	person       bool // somebody's own
}

const fineGrained = "fine-grained personal token"

// TokenKind says what sort of token this is, as far as its beginning tells; else it is empty.
func TokenKind(token string) string { return kindOfToken(token).kind }

func kindOfToken(token string) (k tokenKind) {
	if i := slices.IndexFunc(tokenKinds, func(k tokenKind) bool { return strings.HasPrefix(token, k.prefix) }); i >= 0 {
		k = tokenKinds[i]
	}
	return k
}

// HasPerson tells whether this is the token of a person, as far as its beginning tells. The rights that GitHub shows with a
// repository are a person's, and mean nothing for any other token.
func HasPerson(token string) bool { return kindOfToken(token).person }

// Facts reads what GitHub tells of a repository's settings. What the token may not see is marked as such; an
// error means that the repository itself could not be read. It makes five or six calls.
func (c Repositories) Facts(ctx context.Context, repo model.Repo) (model.RepositoryFacts, error) {
	op := fmt.Sprintf("read %s", repo)
	if err := c.check(op, repo); err != nil {
		return model.RepositoryFacts{}, err
	}
	var r gogithub.Repository
	resp, err := c.send(ctx, http.MethodGet, "repos/"+repo.String(), nil, &r)
	if err != nil {
		return model.RepositoryFacts{}, c.fail(op, err)
	}
	f := model.RepositoryFacts{
		Repo: repo, Organization: r.GetOwner().GetType() == "Organization", DefaultBranch: r.GetDefaultBranch(), Private: r.GetPrivate(), Archived: r.GetArchived(), IssuesOff: !r.GetHasIssues(), Parent: r.GetParent().GetFullName(),
	}
	// The header stands in every answer to a token that has scopes, also to one that has none of them:
	// https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/scopes-for-oauth-apps
	if values := resp.Header.Values("X-Oauth-Scopes"); len(values) > 0 {
		f.ScopesKnown, f.Scopes = true, words(strings.Join(values, ","))
	}
	f.Push, f.PushKnown = r.GetPermissions()["push"], r.GetPermissions() != nil
	f.Methods = methods(r.GetAllowMergeCommit(), r.GetAllowSquashMerge(), r.GetAllowRebaseMerge())
	f.Actions = c.actionsRights(ctx, repo)
	f.Demands = c.demands(ctx, repo, f.DefaultBranch)
	// https://docs.github.com/rest/checks/runs#list-check-runs-for-a-git-reference
	err = c.read(ctx, "read check runs", repo, fmt.Sprintf("commits/%s/check-runs?per_page=1", url.PathEscape(f.DefaultBranch)), nil)
	if KindOf(err) == Forbidden {
		f.ChecksHidden = c.checksHidden()
	}
	return f, nil
}

// methods are the ways of merging that a repository allows. One is, where GitHub shows them at all.
func methods(merge, squash, rebase bool) (allowed []string) {
	for i, is := range []bool{merge, squash, rebase} {
		if is {
			allowed = append(allowed, []string{"merge", "squash", "rebase"}[i])
		}
	}
	return allowed
}

// checksHidden says why this token cannot read checks. There is no permission by which a fine-grained one could:
// https://github.com/cli/cli/issues/12597
func (c *conn) checksHidden() model.Hidden {
	if given := c.source.Secrets(); len(given) > 0 && TokenKind(given[len(given)-1]) == fineGrained { // the newest
		return model.Hidden{Why: "a fine-grained personal token cannot read check runs", Fix: "give MergeXO the workflow's own token or that of a GitHub App"}
	}
	return model.Hidden{Why: "the token may not read checks", Fix: "give the job `permissions: checks: read, statuses: read`, or use a token that has them"}
}

func words(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// actionsRights is for administrators:
// https://docs.github.com/rest/actions/permissions#get-default-workflow-permissions-for-a-repository
func (c Repositories) actionsRights(ctx context.Context, repo model.Repo) model.ActionsRights {
	var p gogithub.DefaultWorkflowPermissionRepository
	if _, err := c.send(ctx, http.MethodGet, fmt.Sprintf("repos/%s/actions/permissions/workflow", repo), nil, &p); err != nil {
		return model.ActionsRights{Why: c.unseen("read the rights of workflows", err)}
	}
	return model.ActionsRights{
		Known: true, DefaultWrite: p.GetDefaultWorkflowPermissions() == "write", PullRequests: p.GetCanApprovePullRequestReviews(),
	}
}

// unseen says in a few words why something could not be read.
func (c Repositories) unseen(op string, err error) string {
	switch e := c.fail(op, err); e.Kind {
	case Forbidden, NotFound: // GitHub hides from some what it refuses to others
		return "GitHub does not show it to this token"
	default:
		return e.Message
	}
}

// Files lists the files in a directory at a commit or branch, without their texts; a ref of "" is the default branch. A directory
// that is not there is empty. https://docs.github.com/rest/repos/contents#get-repository-content
func (c Repositories) Files(ctx context.Context, repo model.Repo, ref, dir string) ([]model.RepositoryFile, error) {
	_, entries, err := c.contents(ctx, repo, ref, dir)
	if err != nil {
		return nil, err
	}
	var files []model.RepositoryFile
	for _, e := range entries {
		if e.GetType() == "file" {
			files = append(files, file(e))
		}
	}
	return files, nil
}

// File reads a file at a commit or branch; a ref of "" is the default branch. ok is false where there is no such file. One above
// LargestFile has no text.
func (c Repositories) File(ctx context.Context, repo model.Repo, ref, path string) (f model.RepositoryFile, ok bool, err error) {
	entry, _, err := c.contents(ctx, repo, ref, path)
	if err != nil || entry == nil || entry.GetType() != "file" {
		return model.RepositoryFile{}, false, err
	}
	f = file(entry)
	if f.Large {
		return f, true, nil
	}
	text, err := entry.GetContent()
	if err != nil {
		return f, true, &Error{Kind: Unavailable, Op: fmt.Sprintf("read %s of %s", path, repo), Message: "its content is not base64", Fix: fixLater}
	}
	f.Text = text
	return f, true, nil
}

func file(e *gogithub.RepositoryContent) model.RepositoryFile {
	return model.RepositoryFile{Path: e.GetPath(), SHA: e.GetSHA(), Size: e.GetSize(), Large: e.GetSize() > LargestFile}
}

// contents gives a file or the entries of a directory, or neither where there is nothing.
func (c Repositories) contents(ctx context.Context, repo model.Repo, ref, path string) (*gogithub.RepositoryContent, []*gogithub.RepositoryContent, error) {
	op := fmt.Sprintf("read %s of %s", oneLine(path), repo)
	address, ok := contentsAddress(ref, path)
	if !ok {
		return nil, nil, c.check(op, repo)
	}
	var answer contentsNode
	if err := c.read(ctx, op, repo, address, &answer); err != nil {
		return nil, nil, unless(err, NotFound)
	}
	if answer.file == nil && answer.entries == nil {
		return nil, nil, &Error{Kind: Unavailable, Op: op, Message: "the answer is empty", Fix: fixLater}
	}
	return answer.file, answer.entries, nil
}

// contentsAddress is the address of a file or a directory. What leads out of the repository has none. go-github refuses to read any
// path with two dots in it, such as v1..v2.md: https://github.com/google/go-github/pull/2805
func contentsAddress(ref, name string) (address string, ok bool) {
	name = strings.Trim(path.Clean(name), "/")
	if name == ".." || strings.HasPrefix(name, "../") {
		return "", false
	}
	if name == "." { // the directory that all is in
		name = ""
	}
	segments := strings.Split(name, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	address = "contents/" + strings.Join(segments, "/")
	if ref != "" {
		address += "?ref=" + url.QueryEscape(ref)
	}
	return address, true
}

// contentsNode is a file or the entries of a directory.
type contentsNode struct {
	file    *gogithub.RepositoryContent
	entries []*gogithub.RepositoryContent
}

// UnmarshalJSON reads a list as a directory.
func (n *contentsNode) UnmarshalJSON(text []byte) error {
	if strings.HasPrefix(string(text), "[") {
		return json.Unmarshal(text, &n.entries)
	}
	return json.Unmarshal(text, &n.file)
}
