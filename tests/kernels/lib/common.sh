# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034	# $name comes from the caller
#
# Cache layout, messages, steps and locks shared by everything below
# tests/kernels.
#
#   $cache/kernels/NAME/KEY/      one prepared kernel, complete or absent
#   $cache/kernels/NAME/current-RECIPE   the KEY that was last resolved, by a
#                                 script with this hash
#   $cache/kernels/NAME/lock      held while NAME is being prepared
#   $cache/log/NAME.log           what the steps for NAME printed

cache=${XDG_CACHE_HOME:-${HOME:?HOME is not set}/.cache}/smc
kernels=$cache/kernels
max_age_days=${SMC_KERNELS_MAX_AGE:-7}

say()
{
	printf 'kernels: %s\n' "$*" >&2
}

die()
{
	say "$*"
	exit 1
}

# log_open NAME - start an empty log; the steps below append to it.
log_open()
{
	log=$cache/log/$1.log
	mkdir -p "$cache/log" || die "cannot create $cache/log"
	: >"$log" || die "cannot write $log"
}

# step WHAT CAUSE COMMAND... - run one long step: one line of progress, its
# output into the log, and on failure one sentence that names all of it.
step()
{
	local what=$1 cause=$2 start=$SECONDS rc=0

	shift 2
	say "$name: $what ..."
	printf '\n== %s: %s\n' "$what" "$*" >>"$log"
	"$@" >>"$log" 2>&1 </dev/null || rc=$?
	if [ $rc -ne 0 ]; then
		die "$name: '$what' failed (log: $log); likely cause: $cause"
	fi
	if [ $((SECONDS - start)) -ge 10 ]; then
		say "$name: $what: $((SECONDS - start)) s"
	fi
}

# need PROGRAM PACKAGE - fail before anything was changed.
need()
{
	command -v "$1" >/dev/null ||
		die "$name: the program '$1' is missing; install the Debian package $2"
}

# with_lock FILE COMMAND... - serialize concurrent runs. The lock goes away
# with the last process that holds it, so an interrupted run leaves none.
with_lock()
{
	local file=$1 fd rc=0

	shift
	mkdir -p "$(dirname "$file")" || die "cannot create $(dirname "$file")"
	exec {fd}>"$file" || die "cannot open $file"
	if ! flock -n "$fd"; then
		say "$name: waiting for another run that holds $file"
		flock "$fd"
	fi
	"$@" || rc=$?
	exec {fd}>&-
	return $rc
}

# recipe_of FILE... - a short hash: what other scripts prepared is not ours.
recipe_of()
{
	cat "$@" | sha256sum | cut -c 1-8
}

# A package version as a file name that no tool trips over.
key_of()
{
	printf '%s' "$1" | tr -c 'A-Za-z0-9.-' '_'
}

# current_dir - the directory last resolved for $name, if it is there.
current_dir()
{
	local key

	key=$(cat "$kernels/$name/current-$recipe" 2>/dev/null) || return 1
	[ -n "$key" ] && [ -d "$kernels/$name/$key" ] || return 1
	printf '%s\n' "$kernels/$name/$key"
}

# current_is_fresh - is $name there, and resolved less than max_age_days ago?
current_is_fresh()
{
	current_dir >/dev/null && [ -n "$(find "$kernels/$name/current-$recipe" -mmin \
		"-$((max_age_days * 24 * 60))" 2>/dev/null)" ]
}

# set_current KEY
set_current()
{
	printf '%s\n' "$1" >"$kernels/$name/.current.$$" &&
		mv "$kernels/$name/.current.$$" "$kernels/$name/current-$recipe"
}

# tmp_new - an empty directory beside the final one, to be renamed when done.
tmp_new()
{
	tmp=$kernels/$name/.tmp
	if ! rm -rf "$tmp" || ! mkdir -p "$tmp"; then
		die "cannot create $tmp"
	fi
}

# tmp_commit KEY - the only place where a prepared kernel comes into being.
tmp_commit()
{
	rm -rf "${kernels:?}/$name/$1"
	mv "$tmp" "$kernels/$name/$1" ||
		die "cannot rename $tmp to $kernels/$name/$1"
}

# prune KEY - drop kernels of this name that nobody asked for in a month.
prune()
{
	touch "$kernels/$name/$1"
	find "$kernels/$name" -mindepth 1 -maxdepth 1 -type d ! -name "$1" \
		! -name '.*' -mtime +30 -exec rm -rf {} +
}
