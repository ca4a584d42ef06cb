package textdiff

// Hidden reports whether r is a character that a reader does not see as what it is: a control character (C0 with tab
// and newline, DEL, C1), one that turns the direction of text, one without width, a soft hyphen, a line or paragraph
// separator, an invisible operator or filler, or one of the tags that carry text nobody sees.
//
// Which of them are harmless where they stand (a tab, a newline, CR before LF, a leading byte order mark) is for the
// caller to know.
func Hidden(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7F && r <= 0x9F:
		return true
	case r < 0x300:
		return r == 0xAD
	}
	switch r {
	case 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x3164, 0xFEFF, 0xFFA0:
		return true
	}
	for _, span := range hiddenSpans() {
		if r >= span[0] && r <= span[1] {
			return true
		}
	}
	return false
}

// hiddenSpans returns the ranges of hidden characters above U+0300: zero width and direction marks, separators and
// embeddings, word joiner to deprecated format characters (isolates among them), interlinear annotation, tags, and the
// variation selectors that only serve rare ideographs or to carry data.
func hiddenSpans() [6][2]rune {
	return [6][2]rune{
		{0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F}, {0xE0100, 0xE01EF},
	}
}
