package command

import "strings"

// codeDestroys reports whether code of any language deletes, spawns, writes or decodes in a way that shows.
func codeDestroys(text string) bool {
	if strings.Contains(text, "Function(") {
		return true
	}
	lower := strings.ToLower(text)
	for _, w := range codeWords {
		if strings.Contains(lower, w) {
			return true
		}
	}
	for _, w := range codeStarts {
		if wordIn(lower, w, false) {
			return true
		}
	}
	for _, w := range codeWholes {
		if wordIn(lower, w, true) {
			return true
		}
	}
	return strings.Contains(lower, "open") && opensToWrite.MatchString(lower)
}

// wordIn reports whether text has the word where a word begins, and with whole also ends.
func wordIn(text, word string, whole bool) bool {
	for i := strings.Index(text, word); i >= 0; {
		end := i + len(word)
		if (i == 0 || !inWord(text[i-1])) && (!whole || end == len(text) || !inWord(text[end])) {
			return true
		}
		next := strings.Index(text[i+1:], word)
		if next < 0 {
			return false
		}
		i += 1 + next
	}
	return false
}

func inWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

var (
	// In small letters; a space stands for one space, the lists are split at line ends and bars.
	codeWords = fields("rmtree|rmdir|removedirs|os.remove|.remove(|subprocess|popen|spawn|b64decode|base64|fromhex|unhexlify|codecs.decode|marshal|pickle|__import__|child_process|rmsync|unlinksync|" +
		"writefile|truncate|file.delete|file.write|file.open|file.rm|fileutils|rm_rf|shutil|`|%x|qx(|qx{|qx/|shell_exec|passthru|proc_open|pty.|os.kill|os.rename|os.replace|os.chmod|os.exec|" +
		"os.spawn|os.posix|atob(|buffer.from|compile(|getattr(|ctypes|rename(|.rm(|.unlink(|removesync|.cp(|.cpsync(|.copyfile|.kill(|remove_tree|emptydir|createwritestream|appendfile|send2trash|" +
		"pexpect|importlib|__builtins__|globals(|builtins|decompress|rot13|rot_13|open3|empty trash|empty the trash|keystroke|write_text|write_bytes|do shell script|deno.command|deno.run|bun.$|" +
		"$dropdatabase|drop table|instance_eval|kernel|chr(|process.kill")
	codeStarts   = fields("unlink|exec|rm(|dir.delete|dir.unlink")
	codeWholes   = fields("system|eval|fork|rm_r|qx")
	opensToWrite = pattern(`open\([^)]*,\s*['"][wax+]|open\s*\(?[^)]*['"]\s*[>|]`)
)

func fields(list string) []string { return strings.Split(list, "|") }
