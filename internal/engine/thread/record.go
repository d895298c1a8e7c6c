package thread

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

// Record is a comment of ours whose marker holds a lease. A run signs and claims it, writes it while it works, releases or ends it,
// and finds out whether it still holds it. All topics share this code: their records differ only in their data.
type Record struct {
	Thread  *Thread
	Comment *int64 // 0: it is not posted
	Marker  model.Leased
	Kind    string // of the marker
	Token   string
	About   string        // what a run works on, as in "the review of pull request 7"
	Heading string        // what every text of it begins with
	Term    time.Duration // how long the work may take from each writing
	Find    func() int64  // the comment, after an unclear answer; nil: by its token
	Hidden  bool          // GitHub hides it, since another comment tells how the work ended
}

// Sign makes this process the holder of the lease.
func (r Record) Sign() {
	run := r.Thread.Run
	*r.Marker.Holder() = model.Lease{Run: run.ID, RunAttempt: run.Attempt, RunURL: run.URL, Claim: r.Thread.Random(), Expires: r.until(r.Term)}
	Claimed(r.Thread.World, r.Marker.Holder().Claim)
}

// until is so long from now on GitHub's clock.
func (r Record) until(d time.Duration) time.Time {
	return r.Thread.ServerNow().Add(d).UTC().Truncate(time.Second)
}

// Claim posts a record that this process has signed, and reads it back. If two runs claim at the same time, the one whose comment
// was read continues.
func (r Record) Claim(ctx context.Context, text string) error {
	if err := r.Write(ctx, text); err != nil {
		return err
	}
	return r.Mine(ctx)
}

// Mine reads the thread again and returns a Stop if the record is over, deleted, or held by another run.
func (r Record) Mine(ctx context.Context) error {
	if err := ReadAgain(ctx, r.Thread); err != nil {
		return err
	}
	return r.Check(r.Thread.State)
}

// Check returns a Stop if, by this state, the record is over, deleted, or held by another run.
func (r Record) Check(st model.State) error {
	now := st.Record(*r.Comment)
	if now == nil { // another run may have posted it in the same moment
		now = st.Record(st.Tokens[r.Token])
	}
	switch {
	case now == nil:
		return r.deleted()
	case r.Marker.Open() && !now.Open():
		return End(model.ResultNothing, "%s is over, see %s", r.About, now.URL)
	case now.Holder().Claim != r.Marker.Holder().Claim:
		return Taken(r.About, now.URL)
	}
	return nil
}

// Taken returns the Stop of a run that leaves a record to another run.
func Taken(about, url string) *Stop {
	return End(model.ResultRetry, "another run is working on %s, see %s", about, url)
}

func (r Record) deleted() *Stop {
	return End(model.ResultRetry, "the comment on %s was deleted", r.About)
}

// Alive returns a Stop if the lease of this process has expired, since another run may then take over.
func (r Record) Alive() error {
	return Lapsed(r.Thread, *r.Marker.Holder(), r.About)
}

// Write posts the comment, or replaces it, as the marker stands. While work is left, it renews the lease of this process.
// Otherwise it ends the lease.
func (r Record) Write(ctx context.Context, text string) error {
	if err := r.Alive(); err != nil {
		return err
	}
	switch l := r.Marker.Holder(); {
	case !r.Marker.Open():
		l.Expires = time.Time{}
	case r.Thread.Claims[l.Claim]:
		l.Expires = r.until(r.Term)
	}
	return r.put(ctx, text)
}

// Release ends the lease before the work has ended, so that the next run need not wait.
func (r Record) Release(ctx context.Context, text string) error {
	if *r.Comment == 0 {
		return r.deleted()
	}
	if err := r.Alive(); err != nil {
		return err
	}
	l := r.Marker.Holder()
	l.Expires = r.until(-time.Second)
	delete(r.Thread.Claims, l.Claim)
	return r.put(ctx, text)
}

// End posts the result in a comment of its own, once, since GitHub notifies nobody of an edit. It deletes the earlier comment if
// that still says that the work goes on.
func (r Record) End(ctx context.Context, token, text string) error {
	if r.Thread.State.Tokens[token] != 0 {
		return nil
	}
	was, earlier := *r.Comment, r.Thread.State.Record(*r.Comment)
	last := r
	*last.Comment, last.Token = 0, token
	if err := last.Write(ctx, text); err != nil || earlier == nil || !earlier.Open() {
		return err
	}
	return r.Thread.Remove(ctx, was, r.Token)
}

// put writes the comment. The same one twice does no harm.
func (r Record) put(ctx context.Context, text string) (err error) {
	body := journal.Body{Text: r.Heading + text, Kind: r.Kind, Marker: r.Marker}
	if *r.Comment == 0 {
		*r.Comment, err = r.Thread.Comment(ctx, r.Token, body, r.Find)
		return err
	}
	body.Tokens = []string{r.Token}
	encoded, err := r.Thread.Codec.Encode(body)
	if err != nil {
		return err
	}
	err = Replace(ctx, r.Thread, *r.Comment, r.Token, encoded, r.Hidden)
	if k := github.KindOf(err); k == github.NotFound || k == github.Gone {
		Forget(r.Thread, *r.Comment)
		*r.Comment = 0
		return r.deleted()
	}
	if err == nil {
		r.Thread.Say(model.Saying{Where: fmt.Sprintf("comment on #%d", r.Thread.Event.Number), Text: text, Passing: r.Marker.Open()})
	}
	return err
}
