# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The interactive shell of SHELL=1: sourced by the agent on the console.

# The terminal is for the user now: warnings still come through.
echo N >/sys/module/printk/parameters/ignore_loglevel
echo 5 >/proc/sys/kernel/printk
stty sane
PATH=${VM_TOOLS:-/nonexistent}:${VM_SELFTESTS:-/nonexistent}:$PATH
cat <<TEXT

Guest $VM_GUEST, $VM_RELEASE. The host's files, changes stay in memory.
Modules under test: ${VM_MODULES:-none}  Test helpers: . $VM_DIR/lib.sh
Leave with exit; kill at once with Ctrl-A x.
TEXT
if [ -x /bin/bash ]; then
	PS1='vm-\h:\w# ' exec bash --norc -i
fi
exec sh -i
