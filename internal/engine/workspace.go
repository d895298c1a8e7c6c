package engine

import (
	"context"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
)

func (p *pass) leaveCheckout() {
	if p.checkout == nil {
		return
	}
	p.report.Calls.Git += p.checkout.NetworkCalls()
	if err := p.checkout.Close(); err != nil {
		p.Log.Warn("checkout_not_closed", "error", err)
	}
	p.checkout = nil
}

// moveOut leaves a checkout whose objects others may have had their hands on, for a clone of our own.
func (p *pass) moveOut() {
	p.leaveCheckout()
	p.ownClone = true
}

// clearWorkspace goes on in a clone of our own where the tests of merges run in the workspace; backToWorkspace ends that.
func (p *pass) clearWorkspace() {
	if p.settings.Merge.InCheckout() && !p.ownClone {
		p.moveOut()
		p.cleared = true
	}
}

func (p *pass) backToWorkspace() {
	if p.cleared {
		p.leaveCheckout()
		p.ownClone, p.cleared = false, false
	}
}

// open gets a checkout, once.
func (p *pass) open(ctx context.Context) error {
	if p.checkout != nil {
		return nil
	}
	o := p.Git
	o.URL = p.ServerURL + "/" + p.event.Repo.String()
	if p.ownClone {
		o.Workspace = ""
	}
	v := p.snap.Viewer
	o.Identity = git.Identity{Name: v.Login, Email: strconv.FormatInt(v.ID, 10) + "+" + v.Login + "@users.noreply." + host(p.ServerURL)}
	c, err := git.Open(ctx, o)
	if err != nil {
		return err
	}
	p.checkout = c
	return nil
}

func host(url string) string {
	_, h, _ := strings.Cut(url, "://")
	h, _, _ = strings.Cut(h, "/")
	h, _, _ = strings.Cut(h, ":")
	return h
}
