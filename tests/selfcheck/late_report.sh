#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The kernel complains half a second after the end of the test. A core dump starts the program
# that does it in its place: nothing else outlives the test. No other test needs this much memory,
# or shares the boot.
#
# expect: late-warning
# kernels: stock-6.12
# memory: 768M

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

cat >/run/late_report <<'TEXT'
#!/bin/sh
cat >/dev/null
until dmesg | grep -q 'smc-vm: end late_report'; do
	sleep 0.1
done
sleep 0.5
echo '<4>WARNING: a late report' >/dev/kmsg
TEXT
chmod +x /run/late_report
echo '|/run/late_report' >/proc/sys/kernel/core_pattern
sh -c 'kill -SEGV $$'
pass "one that is good"
done_testing
