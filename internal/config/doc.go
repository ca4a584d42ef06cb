// Package config reads correx's settings and makes one Config of them.
//
// Words: a layer is one file of settings. There are four: what is built in, the user's own file, a repository's
// .correx.toml, and the .correx.local.toml beside it. The user's own file replaces what is built in. The repository's two can come from
// anyone, so they only tighten: of each setting the stricter word holds, protected names and rules are added up, and what would
// loosen, a rule that allows or a grant among it, is left out with a Notice, unless a person trusts exactly these bytes. What
// the last trusted bytes tighten holds as long as no others are trusted. Settings that reach outside the policy count only in the user's own file.
//
// Nothing runs on a policy that was read in part. An unknown key, a key this version does not support, one in another
// spelling of case, a value of the wrong type or out of range, a pattern the dialect refuses: each is an *Error that says
// where it stands. What a layer may hold is one table, keys, from which the checks and the template are both made, and ruleKeys for what stands in a [[rule]].
//
// The package reads files only in ReadUser, ReadRepository and TrustStore, and writes only in the latter; Load, AppendGrant
// and RemoveGrants are pure functions of bytes.
package config
