package sandbox

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
)

// PushPolicy limits how many refs one push may update: deletions and refs outside of branches and tags count, too, and a push
// of more is refused as a whole, be it atomic or not.
// https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/managing-repository-settings/managing-the-push-policy-for-your-repository
type PushPolicy struct {
	Refs int
	// Mute refuses in the words of before rulesets, and ends the answer without a status of the refs, for which git says
	// "remote failed to report status": https://github.com/renovatebot/renovate/issues/17590, .../pull/18068
	Mute bool
}

// receiveHook refuses a push as a whole, of which then no object stays.
const receiveHook = `#!/bin/sh
` + policyMark + `
pushed='' some=''
while read -r old new ref; do
	pushed="$pushed$old $new $ref
"
	case $new in *[!0]*) some="$some $new" ;; esac
done
%s
` + pointerHook

// policyHook says it in the words of https://github.com/ejoffe/spr/issues/422. GitHub's source, where it was seen, has "branch or
// tag" for one.
const policyHook = `if [ "$(printf '%%s' "$pushed" | wc -l)" -gt %[1]d ]; then
	if [ -n "%[3]s" ]; then
		echo "error: ` + mutePolicy + ` %[1]d %[2]s." >&2
		exit 1
	fi
	printf '%%s' "$pushed" | while read -r old new ref; do
		echo "error: GH013: Repository rule violations found for $ref." >&2
		printf 'Review all repository rules at https://github.com/rules?ref=%%s\n\n' "$ref" >&2
		printf -- '- ` + rulePolicy + ` %[1]d %[2]s.\n\n' >&2
	done
	exit 1
fi`

// pointerHook refuses pointers of Git LFS whose objects the server lacks. The sandbox holds no objects: it has those of all
// pointers that are in the repository, and those of people's pushes, since their Git LFS uploads first. A bot is not known to have
// done that. Nearly no push has anything like a pointer, and that costs no more processes than it must.
// The words: https://github.com/git-lfs/git-lfs/issues/3231
const pointerHook = `[ -n "$SANDBOX_NO_LFS" ] && [ -n "$some" ] || exit 0
small() {
	git rev-list --objects --no-object-names --filter=object:type=blob --filter=blob:limit=1024 $some --not --all
}
small | git cat-file --batch | LC_ALL=C grep -qaE '^version https?:' || exit 0
lacking=$(small | env -u GIT_OBJECT_DIRECTORY -u GIT_ALTERNATE_OBJECT_DIRECTORIES -u GIT_QUARANTINE_PATH git cat-file --batch-check='%%(objectname)' |
	sed -n 's/ missing$//p' | git cat-file --batch |
	LC_ALL=C awk '/^[0-9a-f]+ blob [0-9]+$/ { first = NR + 1; is = 0 }
		NR == first { is = /^version https?:\/\/[^ ]*(git-lfs|hawser|git-media)/ }
		is && /^oid sha256:/ { print "    " substr($2, 8) }')
[ -n "$lacking" ] || exit 0
printf 'error: GH008: Your push referenced at least %%d unknown Git LFS objects:\n%%s\n' "$(printf '%%s\n' "$lacking" | wc -l)" "$lacking" >&2
echo "Try to push them with 'git lfs push --all'." >&2
exit 1
`

const (
	policyMark = "# The sandbox's push policy."
	rulePolicy = "Pushes can not update more than"
	mutePolicy = "Repository policies do not allow pushes that update more than"
)

// setPushes sets the push policy of a repository; without a number of refs there is none.
func setPushes(q *request, r *Repository, in PushPolicy) (any, error) {
	if in.Refs < 0 {
		return nil, unprocessable("refs: want a number of refs")
	}
	r.PushPolicy = nil
	if in.Refs > 0 {
		r.PushPolicy = &in
	}
	q.s.world.changed()
	return &reply{status: http.StatusNoContent}, q.s.git.writePolicy(r)
}

// writePolicy puts the hook into a repository, unless it has one of somebody else's.
func (g gitStore) writePolicy(r *Repository) error {
	file, policy := filepath.Join(g.path(r), "hooks", "pre-receive"), ""
	if p := r.PushPolicy; p != nil {
		things, mute := "branches or tags", ""
		if p.Refs == 1 {
			things = "branch or tag"
		}
		if p.Mute {
			mute = "yes"
		}
		policy = fmt.Sprintf(policyHook, p.Refs, things, mute)
	} else if there, err := os.ReadFile(file); err == nil && !bytes.Contains(there, []byte(policyMark)) {
		return nil
	}
	return os.WriteFile(file, fmt.Appendf(nil, receiveHook, policy), 0o755) //nolint:gosec // git runs it
}

// worded gives an answer of receive-pack the status that GitHub gives refs which the policy refuses, or leaves it out where the
// policy is mute. It is on the first band; people read the second one. https://git-scm.com/docs/gitprotocol-pack#_report_status
func (p *PushPolicy) worded(answer []byte) []byte {
	if p == nil || !bytes.Contains(answer, []byte(mutePolicy)) && !bytes.Contains(answer, []byte(rulePolicy)) {
		return answer
	}
	var report, said []byte
	if !eachPkt(answer, func(line []byte) {
		if len(line) > 5 && line[4] == 1 {
			report = append(report, line[5:]...)
		} else {
			said = append(said, line...)
		}
	}) {
		return answer
	}
	status := []byte("000eunpack ok\n")
	if !p.Mute {
		status = nil
		eachPkt(report, func(line []byte) {
			if text, _ := bytes.CutSuffix(line[4:], []byte("pre-receive hook declined\n")); len(text) < len(line)-4 {
				status = append(status, pkt(append(text[:len(text):len(text)], "push declined due to repository rule violations\n"...))...)
			} else if len(line) > 4 {
				status = append(status, line...)
			}
		})
	}
	said, _ = bytes.CutSuffix(said, []byte(flushPkt))
	return append(append(said, pkt(append([]byte{1}, append(status, flushPkt...)...))...), flushPkt...)
}

const flushPkt = "0000"

// pkt frames a line: https://git-scm.com/docs/gitprotocol-common#_pkt_line_format
func pkt(text []byte) []byte { return append(fmt.Appendf(nil, "%04x", len(text)+4), text...) }

// eachPkt goes through framed lines, each with its length; false where they are none.
func eachPkt(text []byte, see func(line []byte)) bool {
	for len(text) >= 4 {
		n, err := strconv.ParseUint(string(text[:4]), 16, 16)
		n = max(n, 4)
		if err != nil || int(n) > len(text) {
			return false
		}
		see(text[:n])
		text = text[n:]
	}
	return len(text) == 0
}
