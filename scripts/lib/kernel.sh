# SPDX-License-Identifier: GPL-2.0-only
# Shared by the shell scripts of this folder; source it, do not run it.
# shellcheck shell=bash

# kernel_release KDIR: what "uname -r" says in the kernel of this build folder, or nothing. Not
# taken from include/config/kernel.release, which holds something else in Debian's 6.1 headers.
kernel_release()
{
	local header=$1/include/generated/utsrelease.h

	[ ! -f "$header" ] || sed -n 's/^#define UTS_RELEASE "\(.*\)"/\1/p' "$header"
}
