// Package firewall keeps one user of this machine from the network, but for ports of ours on the loopback device. It
// does so by a table of its own in the kernel's firewall, for whatever that user's processes send; nobody else's packets
// are looked at. What it cannot hold is what another user's service does for this one, by a socket in the file system:
// systemd-resolved asks name servers for everybody who may reach its socket in /run.
package firewall

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// Options say whom to hold, and how the firewall is spoken to.
type Options struct {
	UID   int
	Ports []int    // on 127.0.0.1, by TCP, that stay open
	Sudo  []string // what makes root of a command line; empty: we are root
	NFT   string   // the program nft
	Path  string   // PATH of what is run
}

// Rules hold a user until Release.
type Rules struct{ opt Options }

// Hold makes the rules, in place of those that a run left which was killed. It needs root.
func Hold(ctx context.Context, opt Options) (*Rules, error) {
	if opt.UID <= 0 {
		return nil, fmt.Errorf("keep user %d from the network: only users other than root can be", opt.UID)
	}
	r := &Rules{opt}
	var open strings.Builder
	for _, port := range opt.Ports {
		fmt.Fprintf(&open, "    meta skuid %d ip daddr 127.0.0.1 tcp dport %d accept\n", opt.UID, port)
	}
	// One input is one transaction: https://wiki.nftables.org/wiki-nftables/index.php/Atomic_rule_replacement
	_, err := r.nft(ctx, r.gone()+fmt.Sprintf("table inet %s {\n  chain output {\n    type filter hook output priority 0; policy accept;\n%s    meta skuid %d counter reject\n  }\n}\n",
		r.table(), open.String(), opt.UID))
	if err != nil {
		return nil, fmt.Errorf("keep user %d from the network: %w", opt.UID, err)
	}
	return r, nil
}

// refused is where nft prints how many packets were.
var refused = regexp.MustCompile(`counter packets (\d+) `)

// Refused is how many packets the user has sent in vain.
func (r *Rules) Refused(ctx context.Context) (int64, error) {
	text, err := r.nft(ctx, "list table inet "+r.table()+"\n")
	if err == nil {
		m := refused.FindStringSubmatch(text)
		if m != nil {
			return strconv.ParseInt(m[1], 10, 64) //nolint:wrapcheck // of digits
		}
		err = errors.New("nft shows no counter: somebody has changed the rules")
	}
	return 0, fmt.Errorf("count what user %d was refused: %w", r.opt.UID, err)
}

// Release removes the rules; that they are gone already is no error.
func (r *Rules) Release(ctx context.Context) error {
	if _, err := r.nft(ctx, r.gone()); err != nil {
		return fmt.Errorf("remove table %s of the firewall: %w", r.table(), err)
	}
	return nil
}

// table is the name of ours.
func (r *Rules) table() string { return "mergexo-" + strconv.Itoa(r.opt.UID) }

// gone removes our table, whether it is there or not.
func (r *Rules) gone() string {
	return fmt.Sprintf("table inet %s\ndelete table inet %[1]s\n", r.table())
}

// nft gives the firewall an input, all of which comes about or none.
func (r *Rules) nft(ctx context.Context, input string) (string, error) {
	argv := append(append([]string{}, r.opt.Sudo...), r.opt.NFT, "-f", "-")
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) //nolint:gosec // the machine's own programs
	var out, said bytes.Buffer
	cmd.Env = []string{"PATH=" + r.opt.Path, "LC_ALL=C"}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &said
	if err := cmd.Run(); err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		return "", fmt.Errorf("nft: %w (%.200q)", err, first)
	}
	return out.String(), nil
}
