package turn

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/model"
)

// issueMaterial is what an agent gets to start a pull request; material is for an existing one.
func issueMaterial(c *cleaner, s model.Snapshot, a Ask) (read []section, claims []claim) {
	news := newsOf(c, a)
	var issue, doc section
	if !a.briefly() {
		issue, doc = taskOf(c, s.Issue()), docOf(c, a.Doc)
	}
	// Also in the middle of the flow: they may be new.
	queued := wordsOf(c, "Comments to take up, in the order in which they were made", a.Feedback, textLimit)
	claims = append(claims, claim{items: newestFirst(queued.items), least: max(20_000/max(len(a.Feedback), 1), 1)})
	for _, n := range news {
		claims = append(claims, claim{items: n.items, least: 1000, share: 12_000})
	}
	if a.briefly() {
		return append(news, queued), claims
	}
	const most, each = 50, 4000
	earlier := wordsOf(c, "Earlier comments on the issue, in the order in which they were made", a.Earlier[max(len(a.Earlier)-most, 0):], each)
	past := section{title: "Your earlier attempts, newest first"}
	done := attempts(a.State)
	for _, t := range slices.Backward(done[max(len(done)-most, 0):]) {
		if a.Session == "" { // a resumed session knows it
			past.items = append(past.items, &item{body: c.prose(t.Text), most: each})
		}
	}
	branch := section{title: "The branch", items: namesOnly(c.named("branch", s.Pull.HeadRef), c.named("to be merged into", s.Pull.BaseRef))}
	diff := section{title: "What the branch changes so far", items: plain(c.code(a.Diff, textLimit*3), textLimit*3)}
	claims = append(claims,
		claim{items: issue.items, least: 4000, share: textLimit}, claim{items: doc.items, least: 4000, share: textLimit}, claim{items: branch.items, share: 500},
		claim{items: newestFirst(earlier.items), share: 6000}, claim{items: past.items, share: 3000}, claim{items: diff.items},
	)
	return append(news, issue, doc, queued, earlier, past, branch, diff), claims
}

// taskOf is the issue that the pull request implements.
func taskOf(c *cleaner, i *model.Issue) section {
	one := &item{names: []string{"title: " + c.title(i.Title), c.named("author", i.Author.Login), ""}, body: c.prose(i.Body), most: textLimit}
	if i.BodyEdit != nil && i.BodyEdit.By.Login != i.Author.Login {
		one.names[2] = c.named("last edited by", i.BodyEdit.By.Login)
	}
	return section{title: fmt.Sprintf("Issue #%d", i.Number), items: []*item{one}}
}

// docOf is the design document as people read it. If it is cut, the rest is in the checkout.
func docOf(c *cleaner, d *model.Document) section {
	if d == nil {
		return section{}
	}
	return section{title: "The design document", items: []*item{{names: []string{c.named("file", d.Path)}, body: c.prose(d.Text), most: textLimit}}}
}

// wordsOf are a conversation's comments in order. The newest get room first, since not all may fit.
func wordsOf(c *cleaner, title string, list []model.Comment, most int) section {
	all := section{title: title}
	for _, w := range slices.Backward(list) {
		i := &item{names: []string{c.named("author", head(w.Author.Login, 60)), ""}, body: c.prose(w.Body), most: most}
		if w.EditedByOther {
			i.names[1] = c.named("last edited by", head(cmp.Or(w.Editor, nobody), 60))
		}
		all.items = append(all.items, i)
	}
	slices.Reverse(all.items)
	return all
}

// newestFirst reverses items: newer ones matter more.
func newestFirst(items []*item) []*item {
	items = slices.Clone(items)
	slices.Reverse(items)
	return items
}

// namesOnly is a section's only item, which holds names alone.
func namesOnly(names ...string) []*item {
	i := &item{names: names}
	if !i.named() {
		return nil
	}
	return []*item{i}
}
