package thread

import (
	"context"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
)

// Another is a thread of another number that this one has to do with. It is closed with this one.
func Another(t *Thread, ev model.Event, known *Memory) *Thread {
	other := New(t.World, ev, t.Report, known)
	t.others = append(t.others, other)
	return other
}

// Share has a thread use the checkout that another one of the same repository has open.
func Share(t, other *Thread) { t.Checkout, t.shared = other.Checkout, other.Checkout != nil }

// Close closes the checkouts of the thread and of the others that it has to do with.
func (t *Thread) Close() {
	for _, other := range t.others {
		other.Close()
	}
	LeaveCheckout(t)
}

// LeaveCheckout closes the checkout, where one is open.
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

// UseOwnClone leaves a checkout whose objects others may have had their hands on, for a clone of our own.
func UseOwnClone(t *Thread) {
	LeaveCheckout(t)
	t.OwnClone = true
}

// ClearWorkspace goes on in a clone of our own where the tests of merges run in the workspace; BackToWorkspace ends that.
func ClearWorkspace(t *Thread) {
	if t.Settings.Merge.InCheckout() && !t.OwnClone {
		UseOwnClone(t)
		t.Cleared = true
	}
}

// BackToWorkspace ends what ClearWorkspace began.
func BackToWorkspace(t *Thread) {
	if t.Cleared {
		LeaveCheckout(t)
		t.OwnClone, t.Cleared = false, false
	}
}

// Open gets a checkout, once.
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

// Host is the host of a URL, without its port.
func Host(url string) string {
	_, h, _ := strings.Cut(url, "://")
	h, _, _ = strings.Cut(h, "/")
	h, _, _ = strings.Cut(h, ":")
	return h
}
