# SPDX-License-Identifier: GPL-2.0-only
# Shared by the shell scripts of this folder; source it, do not run it.
# shellcheck shell=bash

# In which way a kernel's headers and exports are not those that this tree was written for. The
# lists are net/smc/ops/proto_tables.txt and net/smc/symbols.txt.

lists=$(realpath -m "$(dirname "${BASH_SOURCE[0]}")/../../net/smc")
members=$(dirname "${BASH_SOURCE[0]}")/members.awk

# source_dir KDIR: the folder whose include/ has the kernel's own headers, or nothing. Debian's
# packages and builds with O= have a Makefile in KDIR that includes the one there.
source_dir()
{
	local path

	path=$(sed -n 's/^include \(.*))\)\{0,1\}\([^()]*\))\{0,1\}\/Makefile$/\2/p' "$1/Makefile" | tail -n 1)
	for path in "$1" "$1/source" ${path:+"$path"}; do
		path=$(cd "$(realpath "$1")" && realpath -qm "$path")
		if [ -f "$path/include/linux/net.h" ] && [ -f "$path/include/net/sock.h" ]; then
			echo "$path"
			return
		fi
	done
}

# sentence_part TEXT: the lines on stdin as one list behind it, or nothing
sentence_part()
{
	local names

	names=$(paste -sd, | sed 's/,\([^ ]\)/, \1/g')
	[ -z "$names" ] || echo "$1 $names"
}

# listed PATTERN: members of which proto_tables.txt says this, a basic regular expression
listed()
{
	sed -n "s/^\(proto\|proto_ops\) \([^:]*\): $1\$/\1.\2/p" "$lists/ops/proto_tables.txt" | LC_ALL=C sort
}

# table_differences SOURCE: members of TCP's tables that are not in the list, and those which we
# replace in all kernels and this one does not have
table_differences()
{
	local there

	if ! there=$(awk -v struct=proto_ops -f "$members" "$1/include/linux/net.h" &&
		awk -v struct=proto -f "$members" "$1/include/net/sock.h"); then
		echo "has no struct proto_ops or no struct proto that can be read"
		return
	fi
	there=$(echo "$there" | LC_ALL=C sort -u)
	LC_ALL=C comm -23 <(echo "$there") <(listed '.*') | sentence_part "has"
	LC_ALL=C comm -13 <(echo "$there") <(listed 'ours') | sentence_part "lacks"
}

# not_exported KDIR MODULE...: symbols which these modules need and which the kernel does not export,
# or only to modules of a namespace
not_exported()
{
	local kdir=$1

	shift
	awk -F '\t' -v modules=" $* " '
		NR == FNR {
			if (split($0, word, " ") == 2 && index(modules, " " word[1] " "))
				need[word[2]] = 1
			next
		}
		$5 == "" { delete need[$2] }
		END { for (name in need) print name }' "$lists/symbols.txt" "$kdir/Module.symvers" |
		LC_ALL=C sort
}

# in_headers SOURCE NAME...: those whose place a macro or an inline function has taken
in_headers()
{
	local source=$1 names

	shift
	names=$(IFS='|' && echo "$*")
	grep -rhoE "define[[:space:]]+($names)\>|inline[[:space:]].*\<($names)\(|^($names)\(" \
		"$source/include" "$source/arch/x86/include" |
		grep -oE "\<($names)\(?\$" | tr -d '(' | LC_ALL=C sort -u || true
}

# symbol_differences KDIR SOURCE MODULE...: a kernel without Module.symvers says nothing about
# symbols, and modpost asks for none then
symbol_differences()
{
	local kdir=$1 source=$2 names

	[ -s "$kdir/Module.symvers" ] || return 0
	shift 2
	names=$(not_exported "$kdir" "$@")
	[ -n "$names" ] || return 0
	# shellcheck disable=SC2086	# one word for each name
	LC_ALL=C comm -23 <(echo "$names") <(in_headers "$source" $names) |
		sentence_part "does not export"
}

# differences KDIR MODULE...: what AF_SMC does not know of this kernel, as half a sentence; nothing
# if it knows all that matters
differences()
{
	local kdir=$1 source

	shift
	source=$(source_dir "$kdir")
	{
		if [ -n "$source" ]; then
			table_differences "$source"
			symbol_differences "$kdir" "$source" "$@"
		else
			echo "has no include/linux/net.h and include/net/sock.h"
		fi
	} | paste -sd';' | sed 's/;/; /g'
}
