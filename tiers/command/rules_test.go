package command

import (
	"strings"
	"testing"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/tiers"
)

// commandRules reads lines "own|repo T1 words…".
func commandRules(t *testing.T, lines string) []tiers.CommandRule {
	t.Helper()
	var all []tiers.CommandRule
	for line := range strings.Lines(lines) {
		f := strings.Fields(line)
		words, err := tiers.ParseCommand(strings.Join(f[2:], " "))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tiers.CommandRule{Words: words, Tier: change.Tier(f[1]), Lowers: f[0] == "own", Source: "c.toml:" + f[2]})
	}
	return all
}

func TestRulesOfCommands(t *testing.T) {
	in := project()
	in.Commands = commandRules(t, `own T1 terraform plan
own T1 kubectl
own T2 kubectl get
own T1 git push
own T2 mytool build
own T2 bash
own T2 python3
own T2 python3 -c
own T2 python3 tools/gen.py
own T1 rm
own T2 sudo
own T1 make
own T2 make bench
own T1 npm run db:reset
own T1 ssh host uptime
repo T1 cargo install
repo T4 make release
repo T3 git commit
repo T4 git push origin main
own T1 go build
own T3 ls
own T3 docker
own T1 docker ps`)
	for text, want := range map[string]change.Tier{
		// Lowered, alone and behind what unwraps.
		"terraform plan": change.T1, "terraform plan -input=false": change.T1, "timeout 5 env A=1 terraform plan": change.T1, "/usr/bin/terraform plan": change.T1,
		"bash -c 'terraform plan'": change.T2, "sh -c 'terraform plan'": change.T1, "ls src | xargs -n1 echo; terraform plan": change.T3, "mytool build a b": change.T2, "python3 tools/gen.py --x": change.T2,
		"kubectl logs x": change.T1, "kubectl get pods": change.T2, "git push": change.T1, "git push origin topic": change.T1,
		// Not the words, or not just these.
		"terraform apply": change.T4, "terraform init": change.T3, "terraform -chdir=x plan": change.T3, "terraform 'plan x'": change.T3, "terraform plan$X": change.T4, "./terraform plan": change.T3,
		"/tmp/terraform plan": change.T3, "Terraform plan": change.T4, "echo terraform plan": change.T1, "mytool 'build a'": change.T3,
		// What else they do still counts.
		"terraform plan > plan.txt": change.T2, "terraform plan > /etc/x": change.T4, "terraform plan -out=p.bin": change.T2, "terraform plan -out=/etc/x": change.T4, "terraform plan $X": change.T3,
		"terraform plan $(curl x.example)": change.T3, "terraform plan; rm a": change.T4, "terraform plan -var-file=/etc/x": change.T3, "terraform plan -var-file=.env": change.T3,
		"mytool build .git/config": change.T3, "PATH=/tmp:$PATH terraform plan": change.T3, "ssh host terraform plan": change.T3, "sudo terraform plan": change.T4, "go build -toolexec ./x ./...": change.T3,
		"go build -o /etc/x ./...": change.T4, "curl x.example | mytool build": change.T3, "terraform() { rm a; }; terraform plan": change.T4, "terraform() { curl x.example; }; terraform plan": change.T3,
		// What destroys, and what runs anything, is not lowered.
		"rm a": change.T4, "git push --force": change.T4, "kubectl delete pod x": change.T4, "sudo ls": change.T4, "mytool build --force": change.T4, "npm run db:reset": change.T4, "bash x.sh": change.T3,
		"python3 x.py": change.T3, "python3 -c 'print(1)'": change.T3, "make frob": change.T3, "make bench": change.T2, "make test": change.T2, "bash -c 'rm a'": change.T4, "ssh host uptime": change.T3,
		// A repository's rules, and higher ones, only raise, and more freely.
		"cargo install x": change.T3, "make release": change.T4, "make -j4 V=1 release": change.T4, "gmake release": change.T2, "docker ps": change.T1, "docker logs x": change.T3, "git commit -m x": change.T3, "git -C src commit -m x": change.T3,
		"git push origin main": change.T4, "git push -q origin main": change.T4, "git push origin maintenance": change.T1, "ls": change.T3, "./ls": change.T3, "command ls": change.T3, "make": change.T2,
	} {
		if r := Grade(text, in); r.Tier != want {
			t.Errorf("%q: %s, want %s: %q", text, r.Tier, want, r.Reasons)
		}
	}
}

// TestRulesAreNamed: a part says which rule gave its tier, and a lowered one is no longer unclassified.
func TestRulesAreNamed(t *testing.T) {
	in := project()
	in.Commands = commandRules(t, "own T2 nobodyknows x\nrepo T4 ls -l")
	r := Grade("nobodyknows x", in)
	if r.Unclassified || r.Parts[0].Rule != "c.toml:nobodyknows" || !strings.Contains(r.Reasons[0], `has the tier of "nobodyknows x" in c.toml:nobodyknows`) {
		t.Errorf("lowered: %+v", r)
	}
	r = Grade("ls -l", in)
	if r.Tier != change.T4 || r.Parts[0].Rule != "c.toml:ls" || r.Parts[0].Reason != change.RuleAsk {
		t.Errorf("raised: %+v", r)
	}
	if r := Grade("nobodyknows y", in); !r.Unclassified || r.Parts[0].Rule != "" {
		t.Errorf("neither: %+v", r)
	}
}

// TestRepositoryRulesNeverLower: whatever a repository's rules say, no grade is below the one without them.
func TestRepositoryRulesNeverLower(t *testing.T) {
	in := project()
	for _, r := range corpus(t, "second") {
		words := strings.Fields(r.text)
		for _, tier := range []change.Tier{change.T1, change.T2, change.T3, change.T4} {
			in.Commands = []tiers.CommandRule{{Words: words[:min(2, len(words))], Tier: tier}}
			if with, without := Grade(r.text, in).Tier, Grade(r.text, project()).Tier; with < without {
				t.Errorf("%q: %s, %s without the rule", r.text, with, without)
			}
			in.Commands[0].Lowers = true
			if with, without := Grade(r.text, in).Tier, Grade(r.text, project()).Tier; without == change.T4 && with < without {
				t.Errorf("%q: T4 was lowered to %s", r.text, with)
			}
		}
	}
}
