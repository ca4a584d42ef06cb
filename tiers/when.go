package tiers

import (
	"fmt"
	"slices"
	"strings"
)

// Moment is a minute of the week as a clock on the wall shows it. The zero Moment is one that is not known.
type Moment int

const (
	minutesOfDay  = 24 * 60
	minutesOfWeek = 7 * minutesOfDay
)

// MomentAt returns the moment at a time of day; day counts from Monday, which is 0.
func MomentAt(day, hour, minute int) Moment {
	return Moment(day*minutesOfDay + hour*60 + minute + 1)
}

// When says at which times something holds; the zero When is always.
type When struct {
	text  string
	spans []span
}

// span is a time of day on some days; one that ends no later than it begins goes on into the next day.
type span struct {
	days     [7]bool
	from, to int
}

// maxSpans is how many times one When may list.
const maxSpans = 50

// ParseWhen reads times: "22:00-06:00", "mon-fri 09:00-17:30", "sat-sun", or several with commas between them. A time that
// goes over midnight belongs to the day on which it begins. The end is not part of it.
func ParseWhen(text string) (When, error) {
	w := When{text: text}
	for part := range strings.SplitSeq(text, ",") {
		s, err := parseSpan(part)
		if err != nil {
			return When{}, err
		}
		if w.spans = append(w.spans, s); len(w.spans) > maxSpans {
			return When{}, fmt.Errorf("lists more than %d times", maxSpans)
		}
	}
	return w, nil
}

// parseSpan reads one time: days, a time of day, or both.
func parseSpan(part string) (span, error) {
	words := strings.Fields(part)
	s := span{to: minutesOfDay}
	days := "mon-sun"
	if len(words) > 0 && strings.Trim(words[0], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") == "" {
		days, words = words[0], words[1:]
	} else if len(words) == 0 {
		return s, fmt.Errorf("expected a time such as \"22:00-06:00\", \"sat-sun\" or \"mon-fri 09:00-17:30\", found %q", part)
	}
	if err := s.parseDays(days); err != nil {
		return s, err
	}
	switch len(words) {
	case 0:
		return s, nil
	case 1:
		return s, s.parseTime(words[0])
	}
	return s, fmt.Errorf("expected days and one time of day, with a comma before the next, found %q", strings.TrimSpace(part))
}

func (s *span) parseDays(text string) error {
	names := []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		last = first
	}
	from, to := slices.Index(names, first), slices.Index(names, last)
	if from < 0 || to < 0 {
		return fmt.Errorf("expected days such as \"sat\" or \"mon-fri\" (%s), found %q", strings.Join(names, " "), text)
	}
	for day := from; ; day = (day + 1) % 7 {
		s.days[day] = true
		if day == to {
			return nil
		}
	}
}

func (s *span) parseTime(text string) error {
	first, last, _ := strings.Cut(text, "-")
	from, ok1 := parseClock(first)
	to, ok2 := parseClock(last)
	if !ok1 || !ok2 || from == minutesOfDay {
		return fmt.Errorf("expected a time of day such as \"22:00-06:00\", found %q", text)
	}
	if from == to {
		return fmt.Errorf("%q begins where it ends; write nothing for the whole day", text)
	}
	s.from, s.to = from, to
	return nil
}

// parseClock reads HH:MM, up to 24:00.
func parseClock(text string) (int, bool) {
	if len(text) != len("00:00") || text[2] != ':' || strings.Trim(text[:2]+text[3:], "0123456789") != "" {
		return 0, false
	}
	two := func(at int) int { return int(text[at]-'0')*10 + int(text[at+1]-'0') }
	hour, minute := two(0), two(3)
	return hour*60 + minute, minute < 60 && (hour < 24 || hour == 24 && minute == 0)
}

// String returns the times as they were written; "" for always.
func (w When) String() string { return w.text }

// Equal reports whether both were written alike.
func (w When) Equal(o When) bool { return w.text == o.text }

// Holds reports whether m is one of the times. Always holds at every moment; nothing else at one that is not known.
func (w When) Holds(m Moment) bool {
	if len(w.spans) == 0 {
		return true
	}
	at := int(m) - 1
	if at < 0 || at >= minutesOfWeek {
		return false
	}
	day, minute := at/minutesOfDay, at%minutesOfDay
	before := (day + 6) % 7
	return slices.ContainsFunc(w.spans, func(s span) bool {
		if s.from < s.to {
			return s.days[day] && s.from <= minute && minute < s.to
		}
		return s.days[day] && s.from <= minute || s.days[before] && minute < s.to
	})
}

// rests reports whether the rule does not hold at moment m. Where that is not known an allow rests, and nothing else does.
func (r Rule) rests(m Moment) bool {
	if m == 0 {
		return len(r.When.spans) > 0 && r.known() == ActionAllow
	}
	return !r.When.Holds(m)
}

// at returns the policy in which rules that rest at moment m name nothing; they keep their places.
func (p Policy) at(m Moment) Policy {
	if !slices.ContainsFunc(p.Rules, func(r Rule) bool { return r.rests(m) }) {
		return p
	}
	p.Rules = slices.Clone(p.Rules)
	for i, r := range p.Rules {
		if r.rests(m) {
			p.Rules[i].Paths = nil
		}
	}
	return p
}
