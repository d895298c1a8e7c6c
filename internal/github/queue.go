package github

import (
	"context"
	"fmt"
	"net/http"

	"github.com/mergexo/mergexo/internal/model"
)

type queueEntryNode struct {
	State    string
	Position int
	Enqueuer *actorNode
}

type queueExitNode struct {
	ID, Reason   string
	Actor        *actorNode
	BeforeCommit commitNode
}

// Queue reads where a pull request stands in the merge queue of its base: one GraphQL request. Checks that the token may not
// read are left out.
func (c Threads) Queue(ctx context.Context, repo model.Repo, number int) (model.QueueView, error) {
	op := fmt.Sprintf("read the merge queue entry of %s#%d", repo, number)
	q := question{op, documents["queue"], repo, number, "", []string{"statusCheckRollup"}}
	data, err := c.ask(ctx, q, func(int) map[string]any {
		return map[string]any{"page": mostCarChecks}
	})
	if err != nil {
		return model.QueueView{}, err
	}
	return data.Repository.PullRequest.queueView(), nil
}

func (n *threadNode) queueView() model.QueueView {
	v := model.QueueView{Node: n.ID, State: model.PullState(n.State), HeadSHA: n.HeadRefOID, Enabled: n.IsMergeQueueEnabled}
	if e := n.MergeQueueEntry; e != nil {
		v.Entry = &model.QueueEntry{State: e.State, Position: e.Position, By: e.Enqueuer.actor()}
	}
	for _, left := range n.TimelineItems.Nodes {
		if left != nil {
			of := left.BeforeCommit
			v.Left = &model.QueueExit{ID: left.ID, Reason: left.Reason, By: left.Actor.actor(), SHA: of.OID, Checks: of.StatusCheckRollup.newest()}
		}
	}
	return v
}

// Enqueue puts a pull request, by its GraphQL id, into the merge queue of its base, where head is still its head. Unclear means
// that it may be in the queue. Of a refusal GitHub documents no words: Queue tells what stands in the way.
// https://docs.github.com/graphql/reference/mutations#enqueuepullrequest
func (c Pulls) Enqueue(ctx context.Context, repo model.Repo, node, head string) error {
	op := "put a pull request into the merge queue of " + repo.String()
	return c.mutate(ctx, op, repo, documents["enqueue"], map[string]any{"id": node, "head": head})
}

// Dequeue takes a pull request, by its GraphQL id, out of the merge queue of its base. Unclear means that it may be out.
// https://docs.github.com/graphql/reference/mutations#dequeuepullrequest
func (c Pulls) Dequeue(ctx context.Context, repo model.Repo, node string) error {
	op := "take a pull request out of the merge queue of " + repo.String()
	return c.mutate(ctx, op, repo, documents["dequeue"], map[string]any{"id": node})
}

// mutates is the mark of a GraphQL request that changes something, in its context.
type mutates struct{}

// mutate posts a mutation. It is never sent twice: an answer that does not tell the result is Unclear.
func (c *conn) mutate(ctx context.Context, op string, repo model.Repo, document string, variables map[string]any) error {
	if err := c.mayWrite(ctx, op, repo); err != nil {
		return err
	}
	var data map[string]any
	_, err := c.query(context.WithValue(ctx, mutates{}, true), op, document, variables, &data)
	if e, ok := err.(*Error); ok && (e.Status == http.StatusOK || e.Err != nil) && (e.Kind == Unavailable || e.Kind == TooHeavy) {
		e.Kind, e.Fix = Unclear, ""
	}
	return err
}
