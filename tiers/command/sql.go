package command

import (
	"strings"

	"github.com/correx/correx/internal/change"
)

var (
	sqlDestroys = pattern(`(?is)\b(drop|delete|truncate|update|replace\s+into|insert\s+or\s+replace|merge\s+into|vacuum|detach|attach|revoke|reassign|purge|kill|shutdown|pg_terminate_backend|pg_read_file|lo_export|` +
		`load_extension|pg_cancel_backend|pg_reload_conf|pg_drop_\w+|setval|lo_unlink|lo_import|dblink\w*|or\s+replace|alter\s+(column|system|role|user|database)|modify\s+column|change\s+column|copy\b[^;]*\bto|writefile|edit\s*\(|fts3_tokenizer|into\s+(outfile|dumpfile)|load\s+data|to\s+program|from\s+program|rename|flush|reset|xp_cmdshell|do\s+\$\$|call|execute|exec)\b`)
	sqlAdds     = pattern(`(?is)\b(insert|create|alter|add|grant|set|begin|commit|comment|copy|pragma|reindex|analyze|with)\b`)
	sqlString   = pattern(`(?s)'(?:[^']|'')*'|"[^"]*"|--[^\n]*|/\*[^!].*?\*/`)
	sqlExplains = pattern(`(?is)^\s*explain\s+(\([^)]*\)\s*)?[^;]*;?\s*$`)
	sqlRuns     = pattern(`(?i)\banalyze\b`)
	sqlEscape   = pattern(`(?m)^\s*\\(!|o|copy|g|i|ir|w|e|ef|ev|setenv|cd|gexec)|\\!|\\g\s*[|/]|\\o\s|\\copy|\\gexec|\bsystem\s|^\s*(source|tee|pager|notee|edit|host)\b|^\s*[@!]|\\\.`)
	sqlReads    = pattern(`(?i)\breadfile\s*\(\s*('?)([^')]*)'?\s*(\)?)`)
	sqlDot      = pattern(`(?m)^\s*\.(\w+)`)
)

// statement grades text of SQL.
func (c *invocation) statement(a arg) {
	if !a.known {
		c.hidden("runs a statement that only run time knows")
		return
	}
	plain := a.text
	if !strings.Contains(plain, `\'`) && !strings.Contains(plain, "#") && !strings.Contains(plain, "/*!") {
		plain = sqlString().ReplaceAllString(plain, " ")
	}
	switch {
	case sqlEscape.MatchString(a.text):
		c.hidden("leaves the client through an escape")
	case sqlDestroys.MatchString(plain) && (!sqlExplains.MatchString(plain) || sqlRuns.MatchString(plain)):
		c.destroys("runs a statement that destroys, or that cannot be told from one")
	}
	if strings.Contains(strings.ToLower(a.text), "writefile") {
		c.hidden("writes a file from a query")
	}
	for _, m := range sqlReads().FindAllStringSubmatch(a.text, -1) {
		c.take(c.reads(c.sc, arg{text: m[2], known: m[1] != "" && m[3] != ""}))
	}
}

// runSQL grades the clients of a database server.
func runSQL(c *invocation) {
	given := false
	for _, f := range c.flags {
		switch f.name {
		case "-c", "--command", "-e", "--execute", "-Q", "-q", "--query", "--eval":
			given = true
			c.statement(f.value)
		case "-f", "--file", "-i":
			given = true
			c.hidden("runs statements that nobody has read")
		}
	}
	c.fedStatements(given)
	for i, a := range c.operands {
		if i > 0 && strings.Contains(a.text, " ") {
			c.statement(a)
		}
	}
}

func (c *invocation) fedStatements(given bool) {
	switch {
	case given || c.in.kind == sourceNone:
	case c.in.kind == sourceText:
		c.statement(literal(c.in.text))
	default:
		c.hidden("runs statements that nobody has read")
	}
}

// runSQLite grades sqlite3: a file, then statements and commands that begin with a dot.
func runSQLite(c *invocation) {
	for _, f := range c.flags {
		if f.name == "-init" {
			c.hidden("runs statements that nobody has read")
		}
		if f.name == "-cmd" {
			c.operands = append(c.operands, f.value)
		}
	}
	if len(c.operands) == 0 {
		c.fedStatements(false)
		if c.in.kind == sourceNone {
			c.unknown("is an interactive shell")
		}
		return
	}
	file := c.operands[0]
	statements := c.operands[1:]
	c.fedStatements(len(statements) > 0)
	if c.in.kind == sourceText {
		statements = append(statements, literal(c.in.text))
	}
	if len(statements) == 0 && c.in.kind == sourceNone {
		c.unknown("is an interactive shell")
	}
	writes := false
	for _, s := range statements {
		c.statement(s)
		writes = writes || sqlAdds.MatchString(sqlString().ReplaceAllString(s.text, " "))
		for _, m := range sqlDot().FindAllStringSubmatch(s.text, -1) {
			if !dotReads[m[1]] {
				c.hidden("runs a command of the client that may write or run: ." + m[1])
			}
		}
	}
	switch {
	case file.text == ":memory:":
	case writes:
		c.raise(change.T2, "", "adds to a local file")
		c.take(c.writes(c.sc, file))
	default:
		c.take(c.reads(c.sc, file))
	}
}

var dotReads = set("tables schema headers mode indexes indices databases dbinfo show width nullvalue separator help version stats timer echo dump fullschema")

func runRedis(c *invocation) {
	if c.any("--eval", "--pipe", "-x", "--functions-rdb", "--ldb") {
		c.hidden("runs what nobody has read")
	}
	for i, a := range c.operands {
		verb := strings.ToLower(a.text)
		if i == 0 && !a.known {
			c.hidden("has a verb that only run time knows")
		}
		if i == 1 && redisAdmin[strings.ToLower(c.operands[0].text)] && destroys(verb) {
			c.destroys("has a verb that destroys: " + a.text)
		}
		if i == 0 && redisDestroys[verb] || i == 1 && redisDestroys[strings.ToLower(c.operands[0].text)+"-"+verb] {
			c.destroys("has a verb that destroys: " + a.text)
		}
	}
	if c.in.kind > sourceNone && len(c.operands) == 0 {
		c.hidden("runs what nobody has read")
	}
}

var redisDestroys = set(`flushall flushdb del unlink shutdown rename set getset getdel hdel ltrim spop srem zrem lpop rpop expire eval evalsha config-set config-rewrite script-flush debug migrate
	restore slaveof replicaof failover swapdb move persist client-kill xtrim xdel hset mset lset bgrewriteaof module-load acl-deluser acl-setuser function-flush setex psetex hmset incr decr incrby decrby incrbyfloat hincrby hincrbyfloat append setrange setbit bitop copy renamenx sdiffstore sinterstore sunionstore zunionstore
	zinterstore zrangestore georadius pexpire expireat pexpireat lrem linsert lmove rpoplpush blpop brpop blmove smove zpopmin zpopmax bzpopmin bzpopmax cluster-failover client-pause function-restore script-kill pfmerge zremrangebyscore zremrangebyrank getex`)

var redisAdmin = set("cluster sentinel script function xgroup memory latency slowlog client config acl module debug")

func runMongo(c *invocation) {
	runSQL(c)
	for _, f := range c.flags {
		if f.name == "--eval" && (!f.value.known || mongoDestroys.MatchString(f.value.text)) {
			c.destroys("runs a statement that destroys")
		}
	}
	for _, a := range c.operands {
		if strings.HasSuffix(a.text, ".js") {
			c.hidden("runs statements that nobody has read")
		}
	}
}

var mongoDestroys = pattern(`(?i)drop|delete|remove|update|replace|shutdown|rename|findAndModify|bulkWrite|save\(|killOp|compact|runCommand|adminCommand|load\(|require\(|process\.|fs\.|\$out|\$merge|\[['"]`)
