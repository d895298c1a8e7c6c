package thread

import (
	"context"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
)

// Another returns a thread about another number. Close closes it together with t.
func Another(t *Thread, ev model.Event, known *Memory) *Thread {
	other := New(t.World, ev, t.Report, known)
	t.others = append(t.others, other)
	return other
}

// Share lets a thread use the open checkout of another thread of the same repository.
func Share(t, other *Thread) { t.Checkout, t.shared = other.Checkout, other.Checkout != nil }

// Close closes the checkouts of the thread and of all threads that Another made from it.
func (t *Thread) Close() {
	for _, other := range t.others {
		other.Close()
	}
	LeaveCheckout(t)
}

// LeaveCheckout closes the thread's checkout, if one is open.
func LeaveCheckout(t *Thread) {
	if t.shared {
		t.Checkout, t.shared = nil, false
	}
	if t.Checkout == nil {
		return
	}
	t.Report.Calls.Git += t.Checkout.NetworkCalls()
	if err := t.Checkout.Close(); err != nil {
		t.Log.Warn("checkout_not_closed", "error", err)
	}
	t.Checkout = nil
}

// UseOwnClone leaves the workspace, whose objects others may have changed, for a clone of our own.
func UseOwnClone(t *Thread) {
	LeaveCheckout(t)
	t.OwnClone = true
}

// ClearWorkspace switches to a clone of our own if the tests of merges run in the workspace. BackToWorkspace switches back.
func ClearWorkspace(t *Thread) {
	if t.Settings.Merge.InCheckout() && !t.OwnClone {
		UseOwnClone(t)
		t.Cleared = true
	}
}

// BackToWorkspace undoes ClearWorkspace.
func BackToWorkspace(t *Thread) {
	if t.Cleared {
		LeaveCheckout(t)
		t.OwnClone, t.Cleared = false, false
	}
}

// Open opens a checkout, unless one is open.
func (t *Thread) Open(ctx context.Context) error {
	if t.Checkout != nil {
		return nil
	}
	o := t.Git
	o.Now = t.ServerNow // the locks of bases hold by it, whoever looks at them
	o.URL = t.ServerURL + "/" + t.Event.Repo.String()
	if t.OwnClone {
		o.Workspace = ""
	}
	v := t.Snap.Viewer
	o.Identity = git.Identity{Name: v.Login, Email: strconv.FormatInt(v.ID, 10) + "+" + v.Login + "@users.noreply." + Host(t.ServerURL)}
	c, err := git.Open(ctx, o)
	if err != nil {
		return err
	}
	t.Checkout = c
	return nil
}

// Host returns the host of a URL, without its port.
func Host(url string) string {
	_, h, _ := strings.Cut(url, "://")
	h, _, _ = strings.Cut(h, "/")
	h, _, _ = strings.Cut(h, ":")
	return h
}
