# SPDX-License-Identifier: GPL-2.0-only
#
# usage: awk -v struct=NAME -f members.awk HEADER
#
# Prints the members of a struct, one "NAME.MEMBER" per line; exit 1 if it is not there. All
# branches of #if count. A declaration that this program cannot read is printed as a whole: no list
# of known members has that, so nothing is overlooked.

# declared TEXT: one declarator, with or without its type
function declared(text)
{
	gsub(/[ \t]+/, " ", text)
	sub(/^ /, "", text)
	sub(/ $/, "", text)
	if (text == "")
		return
	if (text ~ /^[^(]*\( ?\* ?[A-Za-z_][A-Za-z_0-9]* ?\) ?\(/) {
		sub(/^[^(]*\( ?\* ?/, "", text)
		sub(/ ?\).*/, "", text)
	} else if (text ~ /^[^()]*[A-Za-z_][A-Za-z_0-9]*( ?\[[^\]]*\])*( ?: ?[0-9]+)?$/) {
		sub(/ ?: ?[0-9]+$/, "", text)
		sub(/( ?\[[^\]]*\])+$/, "", text)
		sub(/.*[^A-Za-z_0-9]/, "", text)
	}
	print struct "." text
}

# end_of TEXT, FIRST, LAST: where the bracket at its start is closed
function end_of(text, first, last,	at, depth, c)
{
	for (at = 1; at <= length(text); at++) {
		c = substr(text, at, 1)
		depth += (c == first) - (c == last)
		if (!depth)
			return at
	}
	return length(text)
}

# declarations TEXT: what is between the braces; a struct or union without a name lends its own
# members
function declarations(text,	at, c, start, inner, is_struct)
{
	start = 1
	for (at = 1; at <= length(text); at++) {
		c = substr(text, at, 1)
		if (c == "(") {
			at += end_of(substr(text, at), "(", ")") - 1
		} else if (c == "{") {
			inner = substr(text, at + 1, end_of(substr(text, at), "{", "}") - 2)
			at += length(inner) + 1
			start = at + 1
			is_struct = 1
		} else if (c == "," || c == ";") {
			c = substr(text, start, at - start)
			if (is_struct && c !~ /[^ \t]/)
				declarations(inner)
			else
				declared(c)
			is_struct = 0
			start = at + 1
		}
	}
	declared(substr(text, start))
}

# without_comments TEXT
function without_comments(text,	at, end, rest)
{
	while ((at = index(text, "/*"))) {
		rest = substr(text, at + 2)
		end = index(rest, "*/")
		text = substr(text, 1, at - 1) " " (end ? substr(rest, end + 2) : "")
	}
	return text
}

$0 ~ "^struct[ \t]+" struct "[ \t]*\\{" {
	inside = 1
	sub(/^[^{]*\{/, "")
	body = ""
}
inside && /^}/ {
	found = 1
	exit
}
inside {
	sub(/\/\/.*/, "")
	body = body (directive || /^[ \t]*#/ ? "" : " " $0)
	directive = (directive || /^[ \t]*#/) && /\\$/
}
END {
	if (!found)
		exit 1
	declarations(without_comments(body))
}
