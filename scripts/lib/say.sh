# SPDX-License-Identifier: GPL-2.0-only
# Shared by the shell scripts of this folder; source it, do not run it.
# shellcheck shell=bash

# die MESSAGE...: one sentence on stderr, then exit 1
die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# note MESSAGE...: one line of progress on stderr; stdout belongs to results
note()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
}
