package engine_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

func init() {
	// script does what the file FAKE_AGENT_LOG + ".sh" says, once.
	tricks["script"] = func(_ model.Request, o *model.Outcome) {
		file := os.Getenv("FAKE_AGENT_LOG") + ".sh"
		if _, err := os.Stat(file); err != nil {
			return
		}
		run("sh", "-e", file)
		check(os.Remove(file))
		if o.CommitMessage == "" {
			o.CommitMessage = "Do it"
		}
	}
	// unready takes the message of a commit back.
	tricks["unready"] = func(_ model.Request, o *model.Outcome) { o.CommitMessage = "" }
}

// script has an agent do this before it answers, and do what it is named for.
func (w *world) script(agent, text string) {
	w.t.Helper()
	w.agent = agent
	require.NoError(w.t, os.WriteFile(w.log+".sh", []byte(text), 0o600))
}

// shell runs a script in a directory, with a repository's author.
func shell(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), "sh", "-e", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=Octo", "GIT_CONFIG_KEY_1=user.email", "GIT_CONFIG_VALUE_1=octo@example.com",
		"GIT_CONFIG_KEY_2=protocol.file.allow", "GIT_CONFIG_VALUE_2=always")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return strings.TrimSpace(string(out))
}

// grows has the owner add a commit to a branch, in a clone with Git LFS.
func (w *world) grows(repository, branch, script string) {
	w.t.Helper()
	dir := w.t.TempDir()
	owner, _, _ := strings.Cut(repository, "/")
	origin := strings.Replace(w.people, "://", "://x-access-token:sandbox-"+owner+"@", 1) + "/" + repository
	shell(w.t, dir, fmt.Sprintf("git clone -q -b %[2]s %[1]s c; cd c; %[3]s\ngit add -A; git commit -q --allow-empty -m More; git push -q origin HEAD:%[2]s", origin, branch, script))
}

func pointerTo(content string) string {
	return fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%x\nsize %d\n", sha256.Sum256([]byte(content)), len(content))
}

// newLFS is a pull request in a repository whose *.bin files are in Git LFS, with old.bin, whose content was "first" and is "second".
func newLFS(t *testing.T, make func(*testing.T, ...string) *world, more ...string) *world {
	t.Helper()
	w := make(t, more...)
	w.grows("octo/widgets", "main", fmt.Sprintf("echo '*.bin filter=lfs diff=lfs merge=lfs -text' > .gitattributes; printf '%s' > old.bin; git add -A; git commit -q -m One; printf '%s' > old.bin", pointerTo("first"), pointerTo("second")))
	w.grows("octo/widgets", w.head, "git merge -q origin/main")
	w.clone("-b", w.head)
	return w
}

// gitLFS is set up in the workspace. It makes pointers and keeps no content; MergeXO finds it where there is a program.
func (w *world) gitLFS(program bool) {
	w.t.Helper()
	for key, value := range map[string]string{"clean": "git-lfs clean -- %f", "smudge": "git-lfs smudge -- %f", "required": "true"} {
		shell(w.t, w.workdir, fmt.Sprintf("git config filter.lfs.%s %q", key, value))
	}
	if !program {
		return
	}
	dir := w.t.TempDir()
	script := "#!/bin/sh\n[ $1 = clean ] || exec cat\ncat > $0.$$; [ -s $0.$$ ] || exit 0; if head -c 20 $0.$$ | grep -q '^version https'; then cat $0.$$; exit; fi\n" +
		"printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\nsize %d\\n' $(sha256sum < $0.$$ | cut -d ' ' -f 1) $(wc -c < $0.$$)\n"
	require.NoError(w.t, os.WriteFile(filepath.Join(dir, "git-lfs"), []byte(script), 0o755)) //nolint:gosec // it is run
	w.gitPath = dir + string(filepath.ListSeparator) + os.Getenv("PATH")
}

// bundled is what a file holds in the one bundle that is kept on a hidden ref, which a comment names.
func (w *world) bundled(path string) string {
	w.t.Helper()
	ref := w.bare("for-each-ref", "--format=%(refname)", "refs/mergexo/kept")
	require.NotEmpty(w.t, ref)
	assert.Contains(w.t, w.lastSaid(), "git fetch origin "+ref)
	dir := w.t.TempDir()
	shell(w.t, dir, fmt.Sprintf("git clone -q --mirror %[1]s c; cd c; git show %[2]s:content > work.bundle; git fetch -q work.bundle work", w.bare("rev-parse", "--absolute-git-dir"), ref))
	return shell(w.t, filepath.Join(dir, "c"), "git show FETCH_HEAD:"+path)
}

func TestWhatBelongsInGitLFSIsPushedOnlyIfItIsThere(t *testing.T) {
	type row struct {
		filter  bool   // the workspace has Git LFS
		program bool   // and MergeXO finds it
		script  string // of the agent
		kept    string // what the bundle has of pic.bin; "": all is pushed
		says    string
	}
	each(t, map[string]row{
		"new content":                     {true, true, "printf new > pic.bin", "new", "\npic.bin: the content belongs in Git LFS, and MergeXO uploads nothing there; add and push it from a clone with Git LFS\n"},
		"without a filter":                {false, false, "printf new > pic.bin", "new", "\npic.bin: the content belongs in Git LFS"},
		"without the program":             {true, false, "printf new > pic.bin", "new", "\npic.bin: the content belongs in Git LFS"},
		"committed by the agent":          {false, false, "printf new > pic.bin; git add -A; git commit -q -m Mine", "new", "\npic.bin: the content belongs in Git LFS"},
		"a pointer made by hand":          {false, false, fmt.Sprintf("printf '%s' > pic.bin", pointerTo("new")), strings.TrimSpace(pointerTo("new")), "> `the bundle has only pointers in place of pic.bin`"},
		"a pointer where none belongs":    {false, false, fmt.Sprintf("printf '%s' > pic.txt; printf new > pic.bin", pointerTo("new")), "new", "\npic.bin, pic.txt: the content belongs in Git LFS"},
		"added and removed":               {false, false, fmt.Sprintf("printf '%s' > gone.bin; git add -A; git commit -q -m One; git rm -q gone.bin; git commit -q -m Two; printf x > pic.bin", pointerTo("new")), "x", "\ngone.bin, pic.bin: the content belongs in Git LFS"},
		"beside a path that is forbidden": {true, true, "mkdir -p .github/workflows; echo 'on: push' > .github/workflows/x.yml; printf new > pic.bin", "new", ".github/workflows/x.yml: forbid_paths"},
		"moved":                           {true, true, "mkdir a; mv old.bin a/b.bin", "", ""},
		"moved without a filter":          {false, false, "git mv old.bin pic.bin", "", ""},
		"copied":                          {false, false, "cp old.bin pic.bin", "", ""},
		"removed":                         {true, true, "rm old.bin", "", ""},
		"empty":                           {true, true, ": > pic.bin", "", ""},
		"a link":                          {false, false, "ln -s old.bin pic.bin", "", ""},
		"only talked of":                  {false, false, fmt.Sprintf("printf 'Such is a pointer:\\n\\n%s' > doc.md", pointerTo("new")), "", ""},
	}, func(t *testing.T, _ string, c row) {
		w := newLFS(t, newWorld)
		if c.filter {
			w.gitLFS(c.program)
		}
		w.script("script+answer", c.script)
		before := w.tip()
		rep := w.handle(w.remark("alice", "Draw a picture."))
		if c.kept == "" {
			require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
			assert.NotEqual(t, before, w.tip())
			assert.Empty(t, w.stages())
			return
		}
		require.Equal(t, "path_forbidden", rep.BlockedReason, rep.Reason)
		assert.Equal(t, before, w.tip())
		assert.Empty(t, w.checkpoints())
		assert.Equal(t, c.kept, w.bundled("pic.bin"))
		assert.Equal(t, "hello\nworld\nanswered", w.bundled("greeting.txt"))
		assert.Contains(t, w.marked("block", "")[0]["body"], c.says)
	})
}

func TestWhereWorkThatNeedsGitLFSGoesElse(t *testing.T) {
	t.Parallel()
	const says = "pic.bin: the content belongs in Git LFS"
	t.Run("an issue's", func(t *testing.T) {
		w := newLFS(t, newIssue)
		w.script("script+job", "printf new > pic.bin")
		w.blocked("path_forbidden", w.handle(w.label("alice", smallJob)))
		assert.Empty(t, w.branches())
		assert.Equal(t, "new", w.bundled("pic.bin"))
		assert.Contains(t, w.comments()[0]["body"], says)
	})
	t.Run("an agent's that fails", func(t *testing.T) {
		w := newLFS(t, newWorld)
		w.gitLFS(true)
		w.script("script+fail", "printf new > pic.bin")
		w.gives(model.ResultFailed, w.handle(w.remark("alice", "Draw.")))
		assert.Empty(t, w.checkpoints())
		assert.Equal(t, "new", w.bundled("pic.bin"))
	})
	t.Run("on another branch", func(t *testing.T) {
		w := newLFS(t, newWorld)
		w.script("script+answer", fmt.Sprintf("git switch -q -c other; printf '%s' > pic.bin; git add -A; git commit -q -m Mine; git switch -q -", pointerTo("new")))
		require.Equal(t, model.ResultDone, w.handle(w.remark("alice", "Draw.")).Result)
		assert.Empty(t, w.checkpoints())
		assert.Contains(t, w.receipt(), "the bundle has only pointers in place of pic.bin")
		assert.Contains(t, w.receipt(), "but kept on ref refs/mergexo/kept/1/")
	})
	t.Run("a fix's", func(t *testing.T) {
		w := newExternal(t, "evaluate = "+evaluates("fix", "Draw."), `fix = ["sh", "-c", "cat >/dev/null; printf new > pic.bin"]`)
		w.contribute("feature", ".gitattributes", "*.bin filter=lfs\n")
		w.letIn("carol")
		w.ended(model.ResultFailed, "the fix must not be pushed: "+says, w.handle(w.delivery("pull_request")))
		assert.Equal(t, w.theirs(), w.at(w.mirrorName()))
	})
}

// newParts is a pull request in a repository with the submodule lib, which is checked out at the second of three commits. The last one is
// tagged. In lib there is another one, inner, and elsewhere one that is not checked out, empty.
func newParts(t *testing.T, address string) (w *world, lib string) {
	t.Helper()
	w = newWorld(t)
	lib = filepath.Join(t.TempDir(), "lib")
	shell(t, filepath.Dir(lib), fmt.Sprintf(`git init -q inner; cd inner; echo i > i.txt; git add .; git commit -q -m I; cd ..
		git init -q lib; cd lib; echo '*.o' > .gitignore; echo 1 > l.txt
		git submodule --quiet add %s inner; git add .; git commit -q -m One; echo 2 > l.txt; git commit -q -a -m Two
		echo 3 > l.txt; git commit -q -a -m Three; git tag v3; git checkout -q --detach HEAD~1`, filepath.Join(filepath.Dir(lib), "inner")))
	if address == "" {
		address = lib
	}
	w.grows("octo/widgets", "main", fmt.Sprintf(`git config --file .gitmodules submodule.a.path lib; git config --file .gitmodules submodule.a.url %[2]s; git add -A
		git config --file .gitmodules submodule.b.path empty; git config --file .gitmodules submodule.b.url %[2]s; git add -A; sha=$(git -C %[1]s rev-parse HEAD)
		git update-index --add --cacheinfo 160000,$sha,lib --cacheinfo 160000,$sha,empty; git commit -q -m Parts; mkdir lib empty`, lib, address))
	w.grows("octo/widgets", w.head, "git merge -q origin/main")
	w.clone("-b", w.head)
	if address == lib {
		shell(t, w.workdir, "git submodule --quiet update --init --recursive lib")
	}
	return w, lib
}

func TestWhatAnAgentDoesInsideSubmodulesIsNamed(t *testing.T) {
	type row struct {
		before, script string // in the workspace, and of the agent
		agent          string
		calls          int    // of the agent: it is told where there is nothing else
		named          string // in the receipt; "" for nothing
	}
	each(t, map[string]row{
		"a change beside others":       {"", "echo x >> lib/l.txt", "script+answer", 1, "lib/l.txt"},
		"only a change":                {"", "echo x >> lib/l.txt", "record+script+talk", 2, "lib/l.txt"},
		"a change that is hidden":      {"", "echo x >> lib/l.txt; git -C lib update-index --assume-unchanged l.txt", "script+talk", 2, "lib/l.txt"},
		"a new file":                   {"", "mkdir lib/d; echo x > lib/d/n.txt", "script+talk", 2, "lib/d/n.txt"},
		"a file that is gone":          {"", "rm lib/l.txt", "script+talk", 2, "lib/l.txt"},
		"without its git directory":    {"", "rm lib/.git; echo x >> lib/l.txt", "script+talk", 2, "lib/l.txt"},
		"in one inside of it":          {"", "echo x >> lib/inner/i.txt", "script+talk", 2, "lib/inner/i.txt"},
		"in one that is not there":     {"", "echo x > empty/n.txt", "script+talk", 2, "empty/n.txt"},
		"a commit that is not pushed":  {"", "git -C lib commit -q --allow-empty -m Mine", "script+talk+unready", 1, "lib at "},
		"what the workflow had built":  {"echo x > lib/built; echo x >> lib/l.txt; echo x > empty/built", ":", "script+talk+unready", 1, ""},
		"more than the workflow":       {"echo x > lib/built; echo x >> lib/l.txt", "echo y >> lib/l.txt", "script+talk", 2, "lib/l.txt"},
		"what git ignores":             {"", "echo x > lib/l.o", "script+talk+unready", 1, ""},
		"nothing in the end":           {"", "cp lib/l.txt l; echo x >> lib/l.txt; cat l > lib/l.txt; rm l", "script+talk+unready", 1, ""},
		"a step to another commit":     {"", "git -C lib checkout -q v3", "script+answer", 1, ""},
		"a step, and a change on it":   {"", "git -C lib checkout -q v3; echo x >> lib/l.txt", "script+answer", 1, "lib/l.txt"},
		"checked out only by an agent": {"", "git -c protocol.file.allow=always submodule --quiet update --init empty", "script+talk+unready", 1, ""},
		"a link in its place":          {"", "rm -r empty; ln -s greeting.txt empty", "script+answer", 1, ""},
	}, func(t *testing.T, _ string, c row) {
		w, _ := newParts(t, "")
		if c.before != "" {
			shell(t, w.workdir, c.before)
		}
		w.script(c.agent, c.script)
		w.done(w.handle(w.remark("alice", "Change the library.")))
		assert.Equal(t, c.calls, w.calls())
		if strings.HasPrefix(c.agent, "record") {
			asked := w.requests()[1]
			assert.Equal(t, model.AskRepair, asked.Kind)
			assert.Equal(t, []model.CIFailure{{Name: "submodules", Log: "Your changes are all inside submodules, which belong to other repositories. Nothing of them is pushed or kept: \"lib/l.txt\". " +
				"Make the change in this repository if you can. Otherwise say in your answer what has to change in the other repository."}}, asked.CI)
		}
		if c.named == "" {
			assert.NotContains(t, w.receipt(), "inside submodules")
			return
		}
		assert.Contains(t, w.receipt(), "> `changes inside submodules were not pushed, since they belong to other repositories: \""+c.named)
		assert.Equal(t, 1, strings.Count(w.receipt(), c.named), w.receipt())
	})
}

func TestASubmodulePointsOnlyToACommitThatItsRepositoryHas(t *testing.T) {
	asked := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked = true
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(elsewhere.Close)
	t.Cleanup(func() { assert.False(t, asked, "the credential is for our server") })
	const lacks, unknown = "lib: the submodule's repository does not have commit ", "lib: MergeXO cannot ask the submodule's repository whether it has commit "
	type row struct {
		address string // HOST is our server's
		commit  string // "": one that the repository has
		says    string // "": it is pushed
	}
	each(t, map[string]row{
		"beside ours":              {"../lib.git", "", ""},
		"by another protocol":      {"ssh://git@127.0.0.1/Octo/lib.git", "", ""},
		"beside ours, lacking":     {"../lib", strings.Repeat("1", 40), lacks + strings.Repeat("1", 40)},
		"nowhere":                  {"../none", "", unknown},
		"above the server's":       {"../../../../etc", "", unknown},
		"elsewhere":                {elsewhere.URL + "/octo/lib", "", unknown},
		"no address":               {`""`, "", unknown},
		"a directory that is none": {"/nowhere/at/all", "", unknown},
	}, func(t *testing.T, _ string, c row) {
		w, _ := newParts(t, "ADDRESS")
		w.api("", "POST", "/_sandbox/repositories", object{"full_name": "octo/lib"})
		w.grows("octo/lib", "main", "echo 1 > l.txt")
		sha := cmp.Or(c.commit, w.api("octo", "GET", "/api/v3/repos/octo/lib/git/ref/heads/main", nil).at("object", "sha").(string))
		w.grows("octo/widgets", w.head, "git config --file .gitmodules submodule.a.url "+strings.ReplaceAll(c.address, "HOST", strings.TrimPrefix(w.origin, "http://")))
		w.clone("-b", w.head)
		w.script("script+answer", fmt.Sprintf("git update-index --cacheinfo 160000,%s,lib", sha))
		before := w.tip()
		rep := w.handle(w.remark("alice", "Take the newest library."))
		if c.says == "" {
			w.done(rep)
			assert.Equal(t, sha, w.bare("rev-parse", w.head+":lib"))
			return
		}
		w.blocked("path_forbidden", rep)
		assert.Contains(t, w.saidOnce("block", ""), "\n"+c.says)
		assert.Equal(t, before, w.tip())
	})
}

func TestACommitMadeInsideASubmoduleIsPointedToByNothing(t *testing.T) {
	w, lib := newParts(t, "")
	w.script("script+answer", "echo x >> lib/l.txt; git -C lib commit -q -a -m Mine")
	before := w.tip()
	w.blocked("path_forbidden", w.handle(w.remark("alice", "Change the library.")))
	assert.Contains(t, w.marked("block", "")[0]["body"], "lib: the submodule's repository does not have commit ")
	assert.Contains(t, w.marked("block", "")[0]["body"], "inside submodules were not pushed, since they belong to other repositories: \"lib at ")
	assert.Equal(t, before, w.tip())

	shell(t, lib, "git fetch -q "+filepath.Join(w.workdir, ".git/modules/a")+" && git branch mine FETCH_HEAD") // what the block asks for
	w.talk("carol", "/mergexo unblock")
	w.agent = "answer"
	w.done(w.handle(w.delivery("issue_comment")))
}

func TestAFixThatChangesSubmodulesIsNone(t *testing.T) {
	w := newExternal(t, "evaluate = "+evaluates("fix", "Mend it."), `fix = ["sh", "-c", "cat >/dev/null; echo x > lib/n.txt; echo y >> f.txt"]`)
	w.grows("octo/widgets", "main", "git config --file .gitmodules submodule.lib.path lib; git add -A; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),lib; mkdir lib")
	w.grows("mallory/widgets", "feature", "git fetch -q "+w.bare("rev-parse", "--absolute-git-dir")+" main; git merge -q FETCH_HEAD")
	w.letIn("carol")
	w.ended(model.ResultFailed, "the fix changed files inside submodules, which belong to other repositories: \"lib/n.txt\"", w.handle(w.delivery("pull_request")))
	assert.Equal(t, w.theirs(), w.at(w.mirrorName()))
}
