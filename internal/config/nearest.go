package config

import (
	"slices"
	"strings"
)

// nearest returns the known key or table that name resembles most, or "" where none comes close.
func nearest(name string) string {
	const longest = 64
	if len(name) > longest {
		return ""
	}
	name = strings.ToLower(name)
	best, least := "", max(3, len(name)/3)
	consider := func(candidate string, d int) {
		if d < least {
			best, least = candidate, d
		}
	}
	lastOfName := name[strings.LastIndexByte(name, '.')+1:]
	for _, k := range slices.Concat(keys(), ruleKeys(), grantKeys()) {
		consider(k.name, distance(name, k.name))
		table, last, inside := strings.Cut(k.name, ".")
		if !inside {
			continue
		}
		consider(table, distance(name, table))
		if last == lastOfName {
			// The right key in the wrong table, or in none.
			consider(k.name, 1)
		}
	}
	return best
}

// distance is how many letters have to be put in, taken out or changed to make a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
