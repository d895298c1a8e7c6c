package sweep

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Lost is an answer of ours that a receipt lists and that is no longer there. Turn is the key of the receipt's turn, and
// Receipt its URL.
type Lost struct{ Token, Turn, Receipt string }

// Missing returns the answers that a receipt lists and no trusted comment still carries, unless they were reported.
// complete says that every comment was read; otherwise nothing counts as missing.
func Missing(st model.State, complete bool, reported func(token string) bool) []Lost {
	if !complete {
		return nil
	}
	var lost []Lost
	for _, t := range st.Turns {
		if t.Marker.Phase != model.PhaseDone {
			continue
		}
		for _, token := range t.Marker.Tokens {
			_, there := st.Tokens[token]
			twice := slices.ContainsFunc(lost, func(l Lost) bool { return l.Token == token })
			if !there && !twice && !reported(token) {
				lost = append(lost, Lost{Token: token, Turn: t.Marker.Key, Receipt: t.URL})
			}
		}
	}
	return lost
}

// maxLost is how much a report lists of each kind.
const maxLost = 20

// DriftText reports which of our answers somebody deleted or edited. It is posted once. Of the comments that are not trusted, it
// names only the edited ones.
func DriftText(lost []Lost, edited []model.Distrust) string {
	var receipts []string
	of := map[string]int{}
	for _, l := range lost {
		if of[l.Receipt]++; of[l.Receipt] == 1 {
			receipts = append(receipts, l.Receipt)
		}
	}
	they := "They are"
	if len(lost) == 1 {
		they = "It is"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**Somebody else deleted or edited %d of MergeXO's answers.** %s not posted again.\n", len(lost), they)
	for _, url := range receipts[:min(len(receipts), maxLost)] {
		fmt.Fprintf(&b, "\n- %d from [this turn](%s)", of[url], url)
	}
	b.WriteString(further(len(receipts), maxLost))
	edited = slices.DeleteFunc(slices.Clone(edited), func(d model.Distrust) bool { return d.Editor == "" })
	for i, d := range edited[:min(len(edited), maxLost)] {
		if i == 0 {
			b.WriteString("\n\nEdited, so they no longer count:\n")
		}
		fmt.Fprintf(&b, "\n- [comment](%s), by %s", d.URL, markdown.Inline(d.Editor))
	}
	b.WriteString(further(len(edited), maxLost))
	b.WriteString("\n\nTo get an answer again, repeat the comment.")
	return b.String()
}
