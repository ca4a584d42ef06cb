package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestRulesIgnoreTZ: a rule holds by the machine's clock, whatever zone whoever starts correx would like it to be in.
func TestRulesIgnoreTZ(t *testing.T) {
	s := newSite(t, func(repo string) error { return os.WriteFile(filepath.Join(repo, "a"), []byte("a\n"), 0o644) })
	var verdicts []string
	// The two zones never show the same time of day, so one of them is not the machine's.
	for _, zone := range []string{"Pacific/Kiritimati", "Asia/Kolkata"} {
		there, err := time.LoadLocation(zone)
		if err != nil {
			t.Skipf("no zones here: %v", err)
		}
		now := time.Now().In(there)
		from, to := now.Add(-2*time.Hour), now.Add(2*time.Hour)
		when := fmt.Sprintf("%s-%s", from.Format("15:04"), to.Format("15:04"))
		s.put(filepath.Join(s.dir, "home", ".config", "correx", "config.toml"), fmt.Sprintf("[[rule]]\npaths = ['a']\naction = 'deny'\nwhen = '%s'\n", when))
		cmd := s.start(s.repo, "explain", "a", "--json")
		cmd.Env = append(cmd.Env, "TZ="+zone)
		out, err := cmd.Output()
		var j struct{ Verdict string }
		if err == nil {
			err = json.Unmarshal(out, &j)
		}
		if err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		verdicts = append(verdicts, j.Verdict)
	}
	if verdicts[0] == "deny" && verdicts[1] == "deny" {
		t.Errorf("rules follow TZ: %v", verdicts)
	}
}
