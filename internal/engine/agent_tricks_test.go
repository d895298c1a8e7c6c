package engine_test

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/mergexo/mergexo/internal/model"
)

// The ways in which an agent goes wrong.
func init() {
	maps.Copy(tricks, says)
	maps.Copy(tricks, leaves)
	maps.Copy(tricks, damages)
	maps.Copy(tricks, forgeries)
	maps.Copy(tricks, asks)
}

type trick = func(model.Request, *model.Outcome)

// prints is an agent that says this on stdout, and nothing else.
func prints(text string) trick {
	return func(model.Request, *model.Outcome) {
		got(os.Stdout.WriteString(text))
		os.Exit(0)
	}
}

// says are words that are no answer, or not quite.
var says = map[string]trick{
	"binary": prints("\xff\xfe\x00\x1b[2J::stop::\n"),
	// latin1 is what a program says that does not know about UTF-8.
	"latin1": func(r model.Request, _ *model.Outcome) {
		prints(fmt.Sprintf(`{"general_comment": "Un caf%s, please", "review_replies": [{"review_comment_id": %d, "body": "%s la carte"}]}`, "\xe9", r.Feedback[0].ID, "\xe0"))(r, nil)
	},
	// flood100 says 100 MB on stdout, noise100 on stderr, in short lines.
	"flood100": func(model.Request, *model.Outcome) {
		signal.Ignore(syscall.SIGTERM) // to say all of it
		pour(os.Stdout, "flooding and flooding and flooding\n")
		os.Exit(0)
	},
	"noise100": func(model.Request, *model.Outcome) { pour(os.Stderr, "noise\n") },
	// foreign answers the comments whose ids FAKE_AGENT_LOG + ".foreign" lists.
	"foreign": func(_ model.Request, o *model.Outcome) {
		raw := got(os.ReadFile(os.Getenv("FAKE_AGENT_LOG") + ".foreign"))
		for id := range strings.FieldsSeq(string(raw)) {
			r := model.ReviewReply{Body: "Not for you."}
			got(fmt.Sscan(id, &r.ReviewCommentID))
			o.ReviewReplies = append(o.ReviewReplies, r)
		}
	},
	// lengthy replies with more than a comment can hold.
	"lengthy": func(_ model.Request, o *model.Outcome) {
		for i := range o.ReviewReplies {
			o.ReviewReplies[i].Body = "The beginning. " + strings.Repeat("Long is the way. ", 6000) + "The end."
		}
	},
}

func pour(to *os.File, line string) {
	chunk := bytes.Repeat([]byte(line), 1<<20/len(line))
	for sent := 0; sent < 100<<20; sent += len(chunk) {
		if _, err := to.Write(chunk); err != nil {
			return // nobody listens any more
		}
	}
}

// change edits the file that the stories are about and has it committed.
func change(o *model.Outcome) {
	appendLine("greeting.txt", "changed")
	o.CommitMessage = "Change"
}

const (
	// side makes a commit that conflicts with the branch, on a branch of its own that starts before it, and comes back.
	side = `git checkout -q -b side HEAD~1; echo side >>greeting.txt; git commit -q -a -m Side; git checkout -q -; `
	// both resolves the conflict.
	both = `printf 'hello\nworld\nside\n' >greeting.txt; git add greeting.txt`
)

// besides commits a file on another branch, and goes back with what was there.
func besides(name, checkout string) string {
	return fmt.Sprintf(`on=$(git symbolic-ref --short HEAD); git stash -q; git checkout -q %[2]s; echo %[1]s >>%[1]s.txt
		git add -A; git commit -q -m "On %[1]s"; git checkout -q $on; git stash pop -q`, name, checkout)
}

// leaves are states that a checkout can be left in.
var leaves = map[string]trick{
	"behind": func(model.Request, *model.Outcome) {
		gate := os.Getenv("FAKE_AGENT_LOG") + ".gate"
		script := `exec 3>"$0"; echo here >&3; while :; do echo x >> left-behind.txt; sleep 0.01; done`
		cmd := exec.Command("setsid", "sh", "-c", script, gate)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		check(cmd.Start())
		got(os.ReadFile(gate + ".seen")) // a fifo: the test says when it has seen the process
	},
	// silent asks for no commit after all.
	"silent":             func(_ model.Request, o *model.Outcome) { o.CommitMessage = "" },
	"branched":           types("Change", `git checkout -q -b other; echo other >other.txt; git add -A; git commit -q -m Other; echo changed >>greeting.txt`),
	"on main":            types("", `git checkout -q --detach HEAD~1`),
	"on main, with work": types("", `git checkout -q -B main HEAD~1; echo main >main.txt; git add -A; git commit -q -m "On main"`),
	"merging":            types("Merged", side+`git merge -q side || true`),
	"merged":             types("Merged", side+`git merge -q side || true; `+both),
	"picking":            types("Picked", side+`git cherry-pick side || true`),
	"picked":             types("Picked", side+`git cherry-pick side || true; `+both),
	"rebasing":           types("Rebased", side+`echo mine >>greeting.txt; git commit -q -a -m Mine; git rebase -q side || true`),
	// reordering stops a rebase of its own two commits after the first.
	"reordering": types("", `for name in one two; do echo $name >>$name.txt; git add -A; git commit -q -m "Mine $name"; done
		git -c sequence.editor="sed -i 1abreak" rebase -q -i HEAD~2`),
	"commits all": types("", `git add -A; git commit -q --allow-empty -m "All of it"`),
	"stages all":  types("", `git add -A`),
	"puts aside":  types("", `git stash -q`),
	"rewrites":    types("", `printf 'an old\nfile\n' >old.txt`),
	"loses index": types("", `rm .git/index`),
	// stashes puts one thing aside before the work is done.
	"stashes": types("", `mv greeting.txt "$FAKE_AGENT_LOG.aside"; git checkout -q -- greeting.txt; echo later >later.txt
		git stash -q --include-untracked; mv "$FAKE_AGENT_LOG.aside" greeting.txt`),
	"nests":        types("", `git init -q nested; echo inner >nested/inner.txt`),
	"orphan":       types("Change", `echo changed >>greeting.txt; git checkout -q --orphan root`),
	"roots":        types("", besides("root", "--orphan root")),
	"starts early": types("", besides("early", "-b early HEAD~1")),
	"goes out":     types("", `mkdir -p out; echo new >out/new.txt`),
	// skips and excludes change what git is told not to look at.
	"skips":    types("", `git update-index --skip-worktree greeting.txt; echo fixed >>greeting.txt`),
	"excludes": types("", `mkdir -p .git/info; echo left.txt >>.git/info/exclude; echo fixed >>left.txt`),
	// plants puts a copy of a handoff where its own is going to be, as FAKE_AGENT_LOG + ".plants" says: "from to".
	"plants": func(model.Request, *model.Outcome) {
		raw := got(os.ReadFile(os.Getenv("FAKE_AGENT_LOG") + ".plants"))
		from, to, _ := strings.Cut(string(raw), " ")
		check(os.CopyFS(to, os.DirFS(from)))
	},
}

// conflicting are the paths that a merge of ours left to the agent to resolve.
func conflicting(r model.Request) []string {
	if i := slices.IndexFunc(r.GitResults, func(g model.GitResult) bool { return g.Result == model.GitConflict }); i >= 0 {
		return r.GitResults[i].Paths
	}
	return nil
}

// asks are what an agent does around the git operations that it asks for.
var asks = map[string]trick{
	// resolve takes both sides of a conflict.
	"resolve": func(r model.Request, o *model.Outcome) {
		if paths := conflicting(r); paths != nil {
			check(os.WriteFile(paths[0], []byte("hello\nboth\n"), 0o600))
			o.CommitMessage = "Merge, with both"
		}
	},
	"despairs": func(r model.Request, _ *model.Outcome) {
		if conflicting(r) != nil {
			check(errors.New("no model today"))
		}
	},
	"self-commits": func(r model.Request, _ *model.Outcome) {
		if conflicting(r) != nil {
			commitAll("Merged by myself")
		}
	},
	"renames": func(r model.Request, o *model.Outcome) {
		if conflicting(r) != nil {
			run("git", "mv", "greeting.txt", "welcome.txt")
			o.CommitMessage = "Merge, under another name"
		}
	},
	// patient asks three times before it answers.
	"patient": func(r model.Request, o *model.Outcome) {
		if nth() <= "3" {
			o.GitOps = []model.GitOp{{Op: model.OpFetch}}
			return
		}
		tricks["answer"](r, o)
	},
	// remembers names its session in the first call only, and later asks for a fetch first.
	"remembers": func(r model.Request, o *model.Outcome) {
		o.GeneralComment = fmt.Sprintf("call %s is in session %s\n", nth(), r.Session)
		if nth() == "1" {
			o.Session = "s1"
		} else if len(r.GitResults) == 0 {
			o.GitOps = []model.GitOp{{Op: model.OpFetch}}
		}
	},
}

// damages are what can be done to a git directory. Each comes with a change that wants to be committed. $FAKE_AGENT_LOG.elsewhere is
// another repository on the same machine, which is none of the agent's business.
var damages = map[string]trick{
	"HEAD is garbage":       damage(`echo garbage >.git/HEAD`),
	"HEAD names nothing":    damage(`echo ref: refs/heads/nothing >.git/HEAD`),
	"the config is garbage": damage(`echo "[[[" >.git/config`),
	"no objects":            damage(`rm -rf .git/objects`),
	"no object is left":     damage(`rm -rf .git/objects; mkdir .git/objects`),
	"no trees": func(_ model.Request, o *model.Outcome) {
		change(o)
		loseTrees()
	},
	"no .git":                 damage(`rm -rf .git`),
	"a link in place of .git": damage(`rm -rf .git; ln -s "$FAKE_AGENT_LOG.elsewhere/.git" .git`),
	"a file in place of .git": damage(`rm -rf .git; echo "gitdir: $FAKE_AGENT_LOG.elsewhere/.git" >.git`),
	"links in the place of what is in .git": damage(`cd .git; for name in objects refs config index; do
		rm -rf $name; ln -s "$FAKE_AGENT_LOG.elsewhere/.git/$name" $name; done`),
	"no checkout": damage(`rm -rf "$PWD"`),
}

func damage(script string) trick { return types("Change", "echo changed >>greeting.txt; "+script) }

// loseTrees unpacks all objects and keeps the commits only.
func loseTrees() {
	out := got(exec.Command("git", "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)").Output())
	unpack()
	for line := range strings.Lines(string(out)) {
		var sha, kind string
		got(fmt.Sscan(line, &sha, &kind))
		if kind == "tree" {
			check(os.RemoveAll(filepath.Join(".git/objects", sha[:2], sha[2:])))
		}
	}
}

// unpack makes a file of each object, since git looks into packs first.
func unpack() {
	packs := got(filepath.Glob(".git/objects/pack/*.pack"))
	for _, pack := range packs {
		raw := got(os.ReadFile(pack))
		check(os.RemoveAll(strings.TrimSuffix(pack, "pack") + "idx"))
		check(os.RemoveAll(pack))
		cmd := exec.Command("git", "unpack-objects", "-q")
		cmd.Stdin = bytes.NewReader(raw)
		check(cmd.Run())
	}
}

// forgeries give what the branch has already the content of what the agent has committed, as if that was not new.
var forgeries = map[string]trick{
	"an old file is forged": func(model.Request, *model.Outcome) {
		appendLine("greeting.txt", "AKIA"+"Z7Q2MLOP4RTSVWXY")
		forge("HEAD~1:greeting.txt", "HEAD:greeting.txt", "blob")
	},
	"an old tree is forged": func(model.Request, *model.Outcome) {
		mkdir(".github/workflows")
		appendLine(".github/workflows/x.yml", "on: push")
		forge("HEAD~1^{tree}", "HEAD^{tree}", "tree")
	},
}

// forge commits what is there, and then gives the old object the content of the new one.
func forge(old, new, kind string) {
	commitAll("Work")
	unpack()
	name := got(exec.Command("git", "rev-parse", old).Output())
	content := got(exec.Command("git", "cat-file", kind, new).Output())
	var text bytes.Buffer
	w := zlib.NewWriter(&text)
	got(fmt.Fprintf(w, "%s %d\x00%s", kind, len(content), content))
	check(w.Close())
	file := filepath.Join(".git/objects", string(name[:2]), strings.TrimSpace(string(name[2:])))
	check(os.RemoveAll(file))
	check(os.WriteFile(file, text.Bytes(), 0o444))
}
