package commands

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/gate"
	"github.com/correx/correx/internal/ledger"
	"github.com/correx/correx/internal/ledger/projection"
)

// The structs below are what --json prints: documented in DESIGN.md section 12's words, stable, only ever added to. They
// are apart from what the ledger stores.

type setJSON struct {
	ID        int             `json:"id"`
	Session   string          `json:"session"`
	Agent     string          `json:"agent,omitempty"`
	Stage     string          `json:"stage"`
	Origin    change.Origin   `json:"origin"`
	State     change.State    `json:"state"`
	Tier      change.Tier     `json:"tier"`
	Risk      change.Risk     `json:"risk"`
	Verdict   change.Outcome  `json:"verdict"`
	Reasons   []change.Reason `json:"reasons"`
	Why       []string        `json:"why"`
	SettledBy string          `json:"settled_by"`
	Message   string          `json:"message"`
	Parent    int             `json:"parent,omitempty"`
	Reverts   int             `json:"reverts,omitempty"`
	UndoneBy  int             `json:"undone_by,omitempty"`
	By        int             `json:"superseded_by,omitempty"`
	Rest      int             `json:"rest,omitempty"`
	Digest    string          `json:"digest"`
	Files     []fileJSON      `json:"files"`
	Undo      string          `json:"undo"`
	Decision  *decisionJSON   `json:"decision"`
	Stale     []staleJSON     `json:"stale,omitempty"`
	Fresh     *bool           `json:"fresh,omitempty"`
	Error     string          `json:"error,omitempty"`
	// Escalated is how the user's own program raised the verdict.
	Escalated *escalatedJSON `json:"escalated,omitempty"`
	CreatedAt string         `json:"created_at"`
	// ExpiresAt is when the set stops waiting and ends as timed_out, and OnTimeout by which setting; both are missing where it
	// waits for ever, or not at all.
	ExpiresAt string `json:"expires_at,omitempty"`
	OnTimeout string `json:"on_timeout,omitempty"`
}

type escalatedJSON struct {
	From   change.Outcome `json:"from"`
	To     change.Outcome `json:"to"`
	Reason string         `json:"reason"`
	Failed bool           `json:"failed,omitempty"`
}

type fileJSON struct {
	Path       string           `json:"path"`
	PathB64    []byte           `json:"path_b64,omitempty"`
	OldPath    string           `json:"old_path"`
	OldPathB64 []byte           `json:"old_path_b64,omitempty"`
	Op         change.Op        `json:"op"`
	OldMode    string           `json:"old_mode"`
	NewMode    string           `json:"new_mode"`
	BaseSHA    string           `json:"base_sha256"`
	Proposed   string           `json:"proposed_sha256"`
	Added      int              `json:"added"`
	Removed    int              `json:"removed"`
	Bytes      int64            `json:"bytes"`
	Binary     bool             `json:"binary"`
	Hidden     int              `json:"hidden_characters,omitempty"`
	TooLarge   bool             `json:"too_large,omitempty"`
	State      change.FileState `json:"state"`
	// Hunks are filled in by show, for a text edit.
	Hunks []change.Hunk `json:"hunks,omitempty"`
}

type decisionJSON struct {
	Kind     change.DecisionKind `json:"kind"`
	By       string              `json:"by"`
	At       string              `json:"at"`
	Scope    string              `json:"scope"`
	Reason   string              `json:"reason"`
	Steering string              `json:"steering"`
	How      string              `json:"how"`
	// GrantHit is the grant that let the set in, and GrantHits all where several had to.
	GrantHit  string   `json:"grant_hit,omitempty"`
	GrantHits []string `json:"grant_hits,omitempty"`
	// Hunks says which hunks of one file were chosen, where some were.
	Hunks *chosenJSON `json:"hunks,omitempty"`
}

type chosenJSON struct {
	Path    string        `json:"path"`
	PathB64 []byte        `json:"path_b64,omitempty"`
	Chosen  []change.Hunk `json:"chosen"`
	Of      int           `json:"of"`
	Result  string        `json:"result_sha256"`
}

type staleJSON struct {
	Path     string `json:"path"`
	PathB64  []byte `json:"path_b64,omitempty"`
	Expected string `json:"expected_sha256"`
	Found    string `json:"found_sha256"`
}

type sessionJSON struct {
	Session  string `json:"session"`
	Name     string `json:"name,omitempty"`
	Agent    string `json:"agent"`
	Path     string `json:"path"`
	Backend  string `json:"backend"`
	Enforced string `json:"enforced"`
	OpenedAt string `json:"opened_at"`
	Stage    string `json:"stage,omitempty"`
	Waiting  int    `json:"waiting"`
}

type statusJSON struct {
	Mode     change.Mode   `json:"mode"`
	Enforced string        `json:"enforced"`
	Sessions []sessionJSON `json:"sessions"`
	Pending  []setJSON     `json:"pending"`
	// Grants is how many grants count.
	Grants int `json:"grants"`
}

type submissionJSON struct {
	Session string    `json:"session"`
	Sets    []setJSON `json:"change_sets"`
	Notices []string  `json:"notices,omitempty"`
	// Grant is the grant that was made with an approval.
	Grant *grantJSON `json:"grant,omitempty"`
}

type eventJSON struct {
	Seq   uint64          `json:"seq"`
	At    string          `json:"at"`
	Type  ledger.Type     `json:"type"`
	ID    string          `json:"id"`
	Cause string          `json:"cause"`
	Actor string          `json:"actor"`
	Data  json.RawMessage `json:"data"`
	Prev  string          `json:"prev"`
	Hash  string          `json:"hash"`
}

type errorJSON struct {
	Error struct {
		Message string `json:"message"`
		Exit    int    `json:"exit"`
		Try     string `json:"try,omitempty"`
	} `json:"error"`
}

func failureJSON(err error, code int, hint string) errorJSON {
	var e errorJSON
	e.Error.Message, e.Error.Exit, e.Error.Try = err.Error(), code, hint
	return e
}

func writeJSON(w io.Writer, v any) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		fmt.Fprintf(w, "{\"error\":{\"message\":%q,\"exit\":%d}}\n", err.Error(), codeFailed)
	}
}

// pathJSON returns a path as JSON text can hold it, and its bytes where that is not all of it.
func pathJSON(p change.Path) (string, []byte) {
	if utf8.ValidString(string(p)) {
		return string(p), nil
	}
	return fmt.Sprintf("%q", string(p)), []byte(p)
}

func timeJSON(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// setOf renders a change set as it stands.
func setOf(e *projection.Entry) setJSON {
	s := setJSON{
		ID: e.ID, Session: e.Session, Agent: e.Agent, Stage: e.Stage, Origin: e.Origin, State: e.State, Tier: e.Verdict.Tier,
		Risk: e.Verdict.Risk, Verdict: e.Verdict.Outcome, Reasons: e.Verdict.Reasons, Why: e.Verdict.Why,
		SettledBy: e.Verdict.SettledBy, Message: e.Message, Parent: e.Parent, Reverts: e.Reverts, UndoneBy: e.UndoneBy,
		By: e.SupersededBy, Digest: e.Digest, Files: []fileJSON{}, CreatedAt: timeJSON(e.CreatedAt),
	}
	if x := e.Escalated; x != nil {
		s.Escalated = &escalatedJSON{From: x.From, To: x.To, Reason: x.Reason, Failed: x.Failed}
	}
	if at, ok := e.Expires(); ok {
		s.ExpiresAt, s.OnTimeout = timeJSON(at), e.Pending.Then
	}
	if s.Reasons == nil {
		s.Reasons = []change.Reason{}
	}
	if s.Why == nil {
		s.Why = []string{}
	}
	for i, f := range e.Files {
		j := fileJSON{
			Op: f.Op, OldMode: f.Base.GitMode(), NewMode: f.Proposed.GitMode(), BaseSHA: f.Base.SHA256,
			Proposed: f.Proposed.SHA256, Added: f.Added, Removed: f.Removed, Bytes: f.Bytes, Binary: f.Binary,
			Hidden: f.Hidden, TooLarge: f.TooLarge, State: e.FileState(i),
		}
		j.Path, j.PathB64 = pathJSON(f.Path)
		j.OldPath, j.OldPathB64 = pathJSON(f.OldPath)
		s.Files = append(s.Files, j)
	}
	for _, p := range e.Stale {
		j := staleJSON{Expected: p.Expected.SHA256, Found: p.Found.SHA256}
		j.Path, j.PathB64 = pathJSON(p.Path)
		s.Stale = append(s.Stale, j)
	}
	if d := e.Decision; d != nil {
		s.Decision = &decisionJSON{Kind: d.Kind, By: d.By, At: timeJSON(d.At), Scope: d.Scope, Reason: d.Reason, Steering: d.Steering, How: d.How}
		if len(e.GrantHits) > 0 {
			s.Decision.GrantHit = e.GrantHits[0]
		}
		if len(e.GrantHits) > 1 {
			s.Decision.GrantHits = e.GrantHits
		}
		if h := e.Hunks; h != nil {
			s.Decision.Hunks = &chosenJSON{Chosen: h.Chosen, Of: h.Of, Result: h.File.Proposed.SHA256}
			s.Decision.Hunks.Path, s.Decision.Hunks.PathB64 = pathJSON(h.File.Path)
		}
	}
	return s
}

// resultOf renders what a command made of a set, with the credential that only this answer holds.
func resultOf(r gate.Result) setJSON {
	s := setOf(r.Entry)
	s.Undo, s.Rest = r.Credential, r.Rest
	if r.Err != nil {
		s.Error = r.Err.Error()
	}
	return s
}

func sessionOf(s *projection.Session, waiting int) sessionJSON {
	return sessionJSON{
		Session: s.Session, Name: s.Name, Agent: s.Agent, Path: s.Tree, Backend: s.Backend, Enforced: s.Enforced,
		OpenedAt: timeJSON(s.OpenedAt), Stage: s.Stage, Waiting: waiting,
	}
}

// sessionsOf renders the open sessions of this worktree with what waits in each.
func sessionsOf(s *site) []sessionJSON {
	waiting := map[string]int{}
	for _, e := range s.State().Waiting(s.Worktree()) {
		waiting[e.Session]++
	}
	list := []sessionJSON{}
	for _, x := range s.State().OpenSessions(s.Worktree()) {
		list = append(list, sessionOf(x, waiting[x.Session]))
	}
	return list
}
