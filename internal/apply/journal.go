package apply

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/correx/correx/internal/change"
)

type journalState string

const (
	// stateIntent: nothing is switched; staged names may or may not be there.
	stateIntent journalState = "intent"
	// stateReady: everything is staged; any name may be switched.
	stateReady journalState = "ready"
)

// journalVersion changes when an older engine could misread a newer journal.
const journalVersion = 1

// record is the journal as it is stored: one line of JSON, a newline, the SHA-256 of that line in hexadecimal, a newline.
// Members may be added; none changes its name or meaning.
type record struct {
	Version int           `json:"version"`
	State   journalState  `json:"state"`
	ID      string        `json:"id"`
	Set     int           `json:"set"`
	Digest  string        `json:"digest"`
	Steps   []change.Step `json:"steps"`
	Remove  []change.Path `json:"remove_folders,omitempty"`
	Restore bool          `json:"restore_perm,omitempty"`
	// Make lists the folders that were missing, outermost first.
	Make []change.Path `json:"make_folders,omitempty"`
	// Moves are in the order that plan gives them.
	Moves []moveRecord `json:"moves"`
}

// moveRecord holds what plan cannot make again from the steps.
type moveRecord struct {
	Path change.Path `json:"path"`
	Home change.Path `json:"home"`
	// The rest is there once the landing is ready, and where something is staged.
	Dev     uint64        `json:"dev,omitempty"`
	HomeIno uint64        `json:"home_ino,omitempty"`
	Ino     uint64        `json:"ino,omitempty"`
	Perm    uint32        `json:"perm,omitempty"`
	Inner   []innerRecord `json:"inner,omitempty"`
}

type innerRecord struct {
	Ino  uint64 `json:"ino"`
	Perm uint32 `json:"perm"`
}

func (w *work) writeJournal(state journalState) error {
	r := record{
		Version: journalVersion, State: state, ID: w.l.ID, Set: w.l.Set, Digest: w.l.Digest, Steps: w.l.Steps,
		Remove: w.l.RemoveFolders, Restore: w.l.RestorePerm, Make: w.missing,
	}
	for _, m := range w.moves {
		mr := moveRecord{Path: m.path, Home: m.home, Dev: w.dev, Ino: m.result.ino, Perm: m.result.pin.Perm}
		if at, known := w.places[m.home]; known {
			mr.HomeIno = at.id.Ino
		}
		for _, in := range m.result.inner {
			mr.Inner = append(mr.Inner, innerRecord{Ino: in.ino, Perm: in.pin.Perm})
		}
		r.Moves = append(r.Moves, mr)
	}
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode journal: %w", err)
	}
	sum := sha256.Sum256(line)
	return w.e.shelf.Write(append(line, fmt.Sprintf("\n%x\n", sum)...))
}

// readJournal returns the journal, nil when there is none. What cannot be believed is a *JournalError.
func (e *Engine) readJournal() (*record, error) {
	data, info, err := e.shelf.Read()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if gone(err) {
		return nil, e.journalError("expected a regular file")
	}
	if err != nil {
		return nil, err
	}
	// Windows has no owner and no permission bits to look at, and says -1.
	if uid := os.Geteuid(); uid >= 0 {
		switch {
		case int64(info.UID) != int64(uid):
			return nil, e.journalError(fmt.Sprintf("owned by user %d, expected %d", info.UID, uid))
		case info.Perm&0o077 != 0:
			return nil, e.journalError(fmt.Sprintf("mode %04o, expected 0600", info.Perm))
		case info.Nlink > 1:
			return nil, e.journalError("has a second name")
		}
	}
	r, err := decodeJournal(data)
	if err != nil {
		return nil, e.journalError(err.Error())
	}
	return r, nil
}

func (e *Engine) journalError(problem string) error {
	return &JournalError{File: diskShelf{e.dir}.path(), Problem: problem}
}

func decodeJournal(data []byte) (*record, error) {
	line, rest, ok := bytes.Cut(data, []byte{'\n'})
	if !ok {
		return nil, errors.New("has no checksum")
	}
	sum := sha256.Sum256(line)
	if want := hex.EncodeToString(sum[:]) + "\n"; string(rest) != want {
		return nil, errors.New("does not match its checksum")
	}
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	if r.Version != journalVersion {
		return nil, fmt.Errorf("has version %d, expected %d", r.Version, journalVersion)
	}
	if r.State != stateIntent && r.State != stateReady {
		return nil, fmt.Errorf("has state %q", r.State)
	}
	return &r, nil
}

func (r *record) landing() Landing {
	return Landing{
		ID: r.ID, Set: r.Set, Digest: r.Digest, Steps: r.Steps, RemoveFolders: r.Remove, RestorePerm: r.Restore,
	}
}

// restore turns a journal back into the work it describes. Everything in it is checked: a name, a home or a folder that
// this engine would not have written makes the whole journal unbelievable.
func (e *Engine) restore(r *record) (*work, error) {
	w, err := e.begin(r.landing())
	if err != nil {
		return nil, e.journalError(err.Error())
	}
	if len(r.Moves) != len(w.moves) {
		return nil, e.journalError(fmt.Sprintf("has %d moves, expected %d", len(r.Moves), len(w.moves)))
	}
	for i, m := range w.moves {
		if err := m.restore(r.Moves[i], r.State); err != nil {
			return nil, e.journalError(err.Error())
		}
	}
	for _, p := range r.Make {
		if why := forbidden(p); why != "" {
			return nil, e.journalError(fmt.Sprintf("folder %q %s", p, why))
		}
		if !slices.ContainsFunc(w.moves, func(m *move) bool { return m.path != p && m.path.Under(p) && m.home != p && p.Under(m.home) }) {
			return nil, e.journalError(fmt.Sprintf("folder %q belongs to no move", p))
		}
	}
	w.missing = r.Make
	w.ready = r.State == stateReady
	return w, nil
}

func (m *move) restore(r moveRecord, state journalState) error {
	if r.Path != m.path {
		return fmt.Errorf("has a move at %q, expected %q", r.Path, m.path)
	}
	if !m.path.Dir().Under(r.Home) || m.kind() != put && r.Home != m.path.Dir() {
		return fmt.Errorf("has home %q for %q", r.Home, m.path)
	}
	m.home, m.homeIno = r.Home, r.HomeIno
	if state != stateReady || !m.result.exists() {
		return nil
	}
	if len(r.Inner) != len(m.result.inner) {
		return fmt.Errorf("has %d inner files at %q, expected %d", len(r.Inner), m.path, len(m.result.inner))
	}
	m.result.ino = r.Ino
	if m.result.pin.Kind == change.KindFile {
		m.result.pin.Perm = r.Perm
	}
	for i, in := range r.Inner {
		m.result.inner[i].ino = in.Ino
		if m.result.inner[i].pin.Kind == change.KindFile {
			m.result.inner[i].pin.Perm = in.Perm
		}
	}
	return nil
}
