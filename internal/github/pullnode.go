package github

import (
	"github.com/mergexo/mergexo/internal/model"
)

// settingsPath is the file that the query reads on the base branch.
const settingsPath = ".github/mergexo.toml"

type pullNode struct {
	Typename          string `json:"__typename"`
	Number            int
	Title             string
	Body              string
	URL               string
	State             string
	IsDraft           bool
	IsCrossRepository bool
	Author            *actorNode
	Labels            labelNodes
	BaseRefName       string
	HeadRefName       string
	HeadRefOID        string `json:"headRefOid"`
	HeadRef           *struct{ Name string }
	BaseRef           *struct {
		Target *struct {
			OID  string
			File *struct{ Object *blobNode }
		}
	}
	ClosingIssuesReferences connection[issueNode]
	Files                   *connection[fileNode]

	Comments      connection[saidNode]
	Reviews       connection[reviewNode]
	ReviewThreads connection[threadNode]
}

type blobNode struct {
	Text                  *string
	IsBinary, IsTruncated bool
}

type issueNode struct {
	Number           int
	Title, Body, URL string
	Author           *actorNode
	Labels           labelNodes
}

type fileNode struct {
	Path, ChangeType     string
	Additions, Deletions int
}

func (n pullNode) pull() model.Pull {
	p := model.Pull{
		Number: n.Number, Title: n.Title, Body: n.Body, URL: n.URL, State: model.PullState(n.State), Draft: n.IsDraft,
		Author: n.Author.actor(), Labels: names(n.Labels),
		BaseRef: n.BaseRefName, HeadRef: n.HeadRefName, HeadSHA: n.HeadRefOID, HeadExists: n.HeadRef != nil, CrossRepo: n.IsCrossRepository,
	}
	if n.BaseRef != nil && n.BaseRef.Target != nil {
		p.BaseSHA = n.BaseRef.Target.OID
	}
	if n.Files != nil {
		p.FilesComplete = !n.Files.PageInfo.HasNextPage
		for _, f := range n.Files.Nodes {
			p.Files = append(p.Files, model.File{Path: f.Path, Change: f.ChangeType, Additions: f.Additions, Deletions: f.Deletions})
		}
	}
	if len(n.ClosingIssuesReferences.Nodes) > 0 {
		i := n.ClosingIssuesReferences.Nodes[0]
		if i.Number != 0 { // null: an issue that the token may not see
			p.Issue = &model.Issue{Number: i.Number, Title: i.Title, Body: i.Body, URL: i.URL, Author: i.Author.actor(), Labels: names(i.Labels)}
		}
	}
	return p
}

// settings is the text of the settings file on the base branch. A file that has no text is an error, not no file:
// running with the defaults instead of what somebody wrote there would be worse than not running.
func (n pullNode) settings(op string) (text string, found bool, err error) {
	if n.BaseRef == nil || n.BaseRef.Target == nil || n.BaseRef.Target.File == nil || n.BaseRef.Target.File.Object == nil {
		return "", false, nil
	}
	blob := n.BaseRef.Target.File.Object
	if blob.Text == nil || blob.IsBinary || blob.IsTruncated {
		return "", false, &Error{Kind: Invalid, Op: op, Message: settingsPath + " on " + n.BaseRefName + " is not a text file that GitHub shows whole",
			Fix: "make it a plain UTF-8 text file"}
	}
	return *blob.Text, true, nil
}
