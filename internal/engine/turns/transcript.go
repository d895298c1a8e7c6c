package turns

import (
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/transcript"
)

// sessionRef is the private ref that keeps the sealed transcript of a turn's session. Each turn has one of its own: a run
// that dies before its receipt must not take the place of what the last receipt names.
func sessionRef(number int, key string) string {
	return fmt.Sprintf("refs/mergexo/session/%d/%s", number, key)
}

// carriesSessions says that transcripts travel from runner to runner with the repository.
func carriesSessions(p *Attempt) bool {
	return p.Transcripts != (transcript.Key{}) && agent.HasTranscripts(p.Settings.Agent.Adapter)
}

func about(p *Attempt, session string) transcript.About {
	return transcript.About{Repository: p.Event.Repo.String(), PullRequest: p.Event.Number, Adapter: p.Settings.Agent.Adapter, Session: session}
}

// unseal brings the transcript of the session that is to be continued to where the agent looks for it. Where that
// cannot be, the agent will miss it and say so: what stood in the way is only logged.
func unseal(ctx context.Context, p *Attempt, sessions string) {
	sealedIn := LastSession(p)
	digest := sealedIn.Transcript
	if digest == "" || p.Marker.Session == "" || !carriesSessions(p) {
		return
	}
	sealed, err := transport.ReadPrivate(ctx, p.Checkout, sessionRef(p.Event.Number, sealedIn.Key), transcript.MaxSealed)
	if err == nil {
		var files map[string][]byte
		if files, err = p.Transcripts.Open(about(p, p.Marker.Session), digest, sealed); err == nil {
			err = agent.WriteTranscript(sessions, p.Settings.Agent.Adapter, p.Marker.Session, files)
		}
	}
	if err != nil {
		p.Log.Warn("transcript_not_restored", p.NumberKey(), p.Event.Number, "turn_key", p.Marker.Key, "error", err)
	}
}

// LastSession returns the turn of the newest receipt that names a session of the agent. The zero value means none.
func LastSession(p *Attempt) (m model.TurnMarker) {
	for _, t := range slices.Backward(p.State.Turns) {
		if t.Marker.Phase == model.PhaseDone && t.Marker.Session != "" {
			return t.Marker
		}
	}
	return m
}

// ReplaceTranscript deletes the earlier transcript once a receipt names this turn's. A failure is only logged, since what stays
// only takes up room.
func ReplaceTranscript(ctx context.Context, p *Attempt, key string) {
	if p.Sealed == nil || key == "" || key == p.Marker.Key || p.Marker.Transcript == "" {
		return
	}
	if _, err := p.Apply(ctx, effect.Forget(git.Ref{Name: sessionRef(p.Event.Number, key)})); err != nil {
		p.Log.Warn("transcript_not_removed", p.NumberKey(), p.Event.Number, "error", err)
	}
}

// seal notes the transcript of the agent's session, sealed, to be pushed together with the work. A session whose
// transcript cannot be had is none on the next runner; that is what on_missing_session is for.
func seal(p *Attempt, m *model.TurnMarker) {
	p.Sealed, m.Transcript = nil, ""
	if m.Session == "" || p.AgentHome == "" || !carriesSessions(p) {
		return
	}
	files, err := agent.ReadTranscript(p.AgentHome, p.Settings.Agent.Adapter, m.Session, transcript.MaxPlain)
	var sealed []byte
	if err == nil {
		sealed, err = p.Transcripts.Seal(about(p, m.Session), files)
	}
	if err != nil {
		p.Log.Warn("transcript_not_kept", p.NumberKey(), p.Event.Number, "turn_key", p.Marker.Key, "error", err)
		work.Note(p.Work, "the transcript of the agent's session could not be kept: "+err.Error())
		return
	}
	p.Sealed, m.Transcript = sealed, transcript.Digest(sealed)
}
