package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// updateHook refuses what GitHub refuses. It runs for every ref of a push, so that a push without --atomic loses only that ref.
// sandbox-protection has a line for each protected branch: its name, in words what it demands and allows, the ruleset that
// this is or 0, whom that lets pass, between commas, and who may push;
// sandbox-refusals what keeps a commit from such a branch, first any commit ("*"), then those with checks of their own.
const updateHook = `#!/bin/sh
# Protected branches: https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-protected-branches/about-protected-branches
ref=$1 old=$2 new=$3
zero=0000000000000000000000000000000000000000
ruleset=0
refuse() {
	if [ "$ruleset" != 0 ]; then # the words: https://github.com/uphy/obsidian-reminder/issues/350, https://github.com/ava-labs/libevm/issues/52
		printf 'error: GH013: Repository rule violations found for %s.\nReview all repository rules at %s\n\n- %s\n\n' "$ref" "https://github.com/rules" "$1" >&2
		exit 1
	fi
	echo "error: GH006: Protected branch update failed for $ref." >&2
	echo "error: $1" >&2
	exit 1
}
case $ref in refs/pull/*) echo "error: deny updating a hidden ref" >&2; exit 1 ;; esac
holds() {
	case $1,$ref in "~ALL",refs/heads/*) return 0 ;; esac
	[ "$ref" = "refs/heads/$1" ]
}
tab='	' newline='
'
why=
while IFS="$tab" read -r branch sha text; do
	holds "$branch" || continue
	if [ "$sha" = "*" ] || [ "$sha" = "$new" ]; then why=$text; fi
done <"$GIT_DIR/sandbox-refusals"
while read -r branch words ruleset pass who; do
	holds "$branch" || continue
	case $pass in *",$SANDBOX_LOGIN,"*) continue ;; esac
	case $new,$words in
	"$zero",*,deletes,*) continue ;;
	"$zero",*) refuse "` + noDeletion + `" ;;
	esac
	case " $who " in
	" * " | *" $SANDBOX_LOGIN "*) ;;
	*) refuse "` + notAuthorized + `" ;;
	esac
	from=
	if [ "$old" != "$zero" ]; then
		from=^$old
		case $words in
		*,forces,*) ;;
		*) git merge-base --is-ancestor "$old" "$new" || refuse "` + noForce + `" ;;
		esac
	fi
	case $words in *,linear,*)
		[ -z "$(git rev-list --merges --max-count=1 "$new" $from)" ] || why="$why${why:+ }` + noMergeCommits + `"
	esac
	case $words in *,signed,*)
		raw=$(git log --no-decorate --format=raw "$new" $from)
		[ "$(echo "$raw" | grep -c '^commit ')" = "$(echo "$raw" | grep -c '^gpgsig ')" ] || why="$why${why:+ }` + notSigned + `"
	esac
	[ -z "$why" ] || refuse "$why"
done <"$GIT_DIR/sandbox-protection"
if [ -n "$SANDBOX_NO_WORKFLOWS" ] && [ "$new" != "$zero" ]; then
	path=$(git log --format= --name-only "$new" --not --branches -- .github/workflows)
	path=${path%%"$newline"*}
	# A new ref has to have the workflows of a branch as it is now: https://github.com/actions/checkout/issues/1421
	if [ -z "$path" ] && [ "$old" = "$zero" ] && tree=$(git rev-parse -q --verify "$new:.github/workflows"); then
		known=
		for branch in $(git for-each-ref --format='%(objectname)' refs/heads/); do
			[ "$tree" != "$(git rev-parse -q --verify "$branch:.github/workflows")" ] || known=1
		done
		[ -n "$known" ] || path=$(git ls-tree -r --name-only "$new" .github/workflows | head -n 1)
	fi
	if [ -n "$path" ]; then
		echo "error: refusing to allow a GitHub App to create or update workflow \` + "`$path\\`" + ` without \` + "`workflows\\`" + ` permission" >&2
		exit 1
	fi
fi
exit 0
`

// writeHook puts the hooks and what they read into a repository.
func (g gitStore) writeHook(r *Repository) error {
	dir := filepath.Join(g.path(r), "hooks")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write hook: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "update"), []byte(updateHook), 0o755); err != nil {
		return fmt.Errorf("write hook: %w", err)
	}
	if err := g.writePolicy(r); err != nil {
		return fmt.Errorf("write hook: %w", err)
	}
	return g.refs.protectionChanged(r)
}

// protectionChanged lets the merge queues go on, and writes what the hook reads. It is called whenever a rule changes, and
// whenever a check does.
func (f pushes) protectionChanged(r *Repository) error {
	if err := f.queues.advanceAll(r); err != nil {
		return err
	}
	var rules, refusals strings.Builder
	for branch, p := range r.Protections {
		who := "*"
		if p.Push != nil {
			who = strings.ToLower(strings.Join(p.Push, " "))
		}
		pass := "," + strings.ToLower(strings.Join(p.Bypass, ",")) + ","
		fmt.Fprintf(&rules, "%s %s %d %s %s\n", branch, p.words(), p.Ruleset, pass, who)
		for _, sha := range append([]string{"*"}, r.checkedCommits(p)...) {
			fmt.Fprintf(&refusals, "%s\t%s\t%s\n", branch, sha, strings.Join(f.demands(r, p, sha), " "))
		}
	}
	f.world.changed()
	for name, text := range map[string]string{"sandbox-protection": rules.String(), "sandbox-refusals": refusals.String()} {
		if err := writeAtomically(filepath.Join(f.git.path(r), name), []byte(text)); err != nil {
			return fmt.Errorf("write protection: %w", err)
		}
	}
	return nil
}

// words are what a protection demands and allows, each between commas.
func (p *Protection) words() string {
	words := ","
	for _, w := range []struct {
		is   bool
		name string
	}{{p.Linear, "linear"}, {p.Signed, "signed"}, {p.Forces, "forces"}, {p.Deletes, "deletes"}} {
		if w.is {
			words += w.name + ","
		}
	}
	return words
}

// checkedCommits are the commits with checks or statuses, where the protection asks for any.
func (r *Repository) checkedCommits(p *Protection) []string {
	if len(p.Checks) == 0 {
		return nil
	}
	var shas []string
	seen := map[string]bool{}
	add := func(sha string) {
		if !seen[sha] {
			seen[sha] = true
			shas = append(shas, sha)
		}
	}
	for _, st := range r.Statuses {
		add(st.SHA)
	}
	for _, c := range r.CheckRuns {
		add(c.SHA)
	}
	for _, run := range r.Runs {
		add(run.HeadSHA)
	}
	return shas
}
