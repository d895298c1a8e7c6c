package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/transcript"
)

// sessionRef is the hidden ref that keeps the sealed transcript of a pull request's session.
func sessionRef(number int) string { return fmt.Sprintf("refs/mergexo/session/%d", number) }

// carriesSessions says that transcripts travel from runner to runner with the repository.
func (p *pass) carriesSessions() bool {
	return p.Transcripts != (transcript.Key{}) && agent.HasTranscripts(p.settings.Agent.Adapter)
}

func (p *pass) about(session string) transcript.About {
	return transcript.About{Repository: p.event.Repo.String(), PullRequest: p.event.Number, Adapter: p.settings.Agent.Adapter, Session: session}
}

// unseal brings the transcript of the session that is to be gone on with to where the agent looks for it. Where that
// cannot be, the agent will miss it and say so: what stood in the way is only logged.
func (p *pass) unseal(ctx context.Context, sessions string) {
	digest := p.sealedDigest()
	if digest == "" || p.marker.Session == "" || !p.carriesSessions() {
		return
	}
	sealed, err := p.checkout.Kept(ctx, sessionRef(p.event.Number), transcript.MaxSealed)
	if err == nil {
		var files map[string][]byte
		if files, err = p.Transcripts.Open(p.about(p.marker.Session), digest, sealed); err == nil {
			err = agent.WriteTranscript(sessions, p.settings.Agent.Adapter, p.marker.Session, files)
		}
	}
	if err != nil {
		p.Log.Warn("transcript_not_restored", "pr_number", p.event.Number, "turn_key", p.marker.Key, "error", err)
	}
}

// sealedDigest names the transcript that goes with the session of the newest receipt.
func (p *pass) sealedDigest() string {
	for _, t := range slices.Backward(p.state.Turns) {
		if t.Marker.Phase == model.PhaseDone && t.Marker.Session != "" {
			return t.Marker.Transcript
		}
	}
	return ""
}

// seal notes the transcript of the agent's session, sealed, to be pushed together with the work. A session whose
// transcript cannot be had is none on the next runner; that is what on_missing_session is for.
func (p *pass) seal() {
	p.sealed, p.marker.Transcript = nil, ""
	if p.marker.Session == "" || p.sessions == "" || !p.carriesSessions() {
		return
	}
	files, err := agent.ReadTranscript(p.sessions, p.settings.Agent.Adapter, p.marker.Session, transcript.MaxPlain)
	var sealed []byte
	if err == nil {
		sealed, err = p.Transcripts.Seal(p.about(p.marker.Session), files)
	}
	if err != nil {
		p.Log.Warn("transcript_not_kept", "pr_number", p.event.Number, "turn_key", p.marker.Key, "error", err)
		p.note("the transcript of the agent's session is not kept: " + err.Error())
		return
	}
	p.sealed, p.marker.Transcript = sealed, transcript.Digest(sealed)
}

// stage pushes the planned commits to the stage, and the sealed transcript along with them. Both refs are ours alone, so
// a push whose answer is lost does no harm when it is made again.
func (p *pass) stage(ctx context.Context, ref string) error {
	var more []git.Hidden
	if p.sealed != nil {
		more = append(more, git.Hidden{Ref: sessionRef(p.event.Number), Content: p.sealed})
	}
	push := func() error {
		if p.marker.Planned == p.base() { // nothing but talk
			if len(more) == 0 {
				return nil
			}
			if err := p.checkout.Keep(ctx, more[0]); err != nil {
				return &git.ErrNotKept{Err: err}
			}
			return nil
		}
		return p.checkout.StageWith(ctx, ref, p.marker.Planned, more...)
	}
	err := push()
	if unclear := (*git.ErrUnclear)(nil); errors.As(err, &unclear) {
		err = push()
	}
	if kept := (*git.ErrNotKept)(nil); errors.As(err, &kept) {
		p.Log.Warn("transcript_not_kept", "pr_number", p.event.Number, "turn_key", p.marker.Key, "error", err)
		p.marker.Transcript = ""
		return nil
	}
	return err
}
