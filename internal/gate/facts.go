package gate

import (
	"time"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger/projection"
	"github.com/correx/correx/tiers"
)

// judgement is a verdict and what it was made from, as the ledger keeps that.
type judgement struct {
	tiers.Result
	facts *projection.Facts
}

// judgeFacts asks policy p about facts, as of now.
func (g *Gate) judgeFacts(f tiers.Facts, p tiers.Policy) judgement {
	now := g.clock()
	f.Now = momentOf(now)
	return judgement{Result: tiers.Judge(f, p), facts: recordFacts(f, now)}
}

// wait has a set ask also where policy would let it pass.
func (j *judgement) wait(why string) {
	j.facts.Waits = why
	if j.Outcome == change.Auto {
		j.Outcome, j.SettledBy = change.Ask, why
	}
}

// momentOf is what a clock on the wall shows.
func momentOf(t time.Time) tiers.Moment {
	return tiers.MomentAt(int(t.Weekday()+6)%7, t.Hour(), t.Minute())
}

// recordFacts turns facts into what is recorded of them.
func recordFacts(f tiers.Facts, now time.Time) *projection.Facts {
	r := &projection.Facts{Now: now.Round(0), UsedFiles: f.Used.Files, UsedBytes: f.Used.Bytes, Enforced: f.Enforced}
	for i, x := range f.Files {
		one := projection.FileFacts{
			NoPreImage: !x.PreImageStored, Submodule: x.Submodule, Ignored: x.Ignored, HardLink: x.HardLink, UnderLink: x.UnderLink,
			LinkOutside: x.LinkOutside, LinkTarget: x.LinkTarget, CopyOf: x.CopyOf, Rollback: x.Rollback, Recoded: x.Recoded,
			CorrexOwn: x.CorrexOwn, GitProgram: x.GitProgram, BareRepository: x.BareRepository, ShadowsMakefile: x.ShadowsMakefile,
			UntrackedTooLarge: x.UntrackedTooLarge,
		}
		if one != (projection.FileFacts{}) {
			one.File = i
			r.Files = append(r.Files, one)
		}
	}
	return r
}

// recordedFacts is the opposite of recordFacts, for a set with these files.
func recordedFacts(files []change.FileChange, origin change.Origin, r *projection.Facts) tiers.Facts {
	f := tiers.Facts{Origin: origin, Used: tiers.Usage{Files: r.UsedFiles, Bytes: r.UsedBytes}, Enforced: r.Enforced, Now: momentOf(r.Now)}
	for _, file := range files {
		f.Files = append(f.Files, tiers.FileFacts{File: file, PreImageStored: true})
	}
	for _, x := range r.Files {
		if x.File < 0 || x.File >= len(f.Files) {
			continue
		}
		f.Files[x.File] = tiers.FileFacts{
			File: files[x.File], PreImageStored: !x.NoPreImage, Submodule: x.Submodule, Ignored: x.Ignored, HardLink: x.HardLink,
			UnderLink: x.UnderLink, LinkOutside: x.LinkOutside, LinkTarget: x.LinkTarget, CopyOf: x.CopyOf, Rollback: x.Rollback,
			Recoded: x.Recoded, CorrexOwn: x.CorrexOwn, GitProgram: x.GitProgram, BareRepository: x.BareRepository,
			ShadowsMakefile: x.ShadowsMakefile, UntrackedTooLarge: x.UntrackedTooLarge,
		}
	}
	return f
}
