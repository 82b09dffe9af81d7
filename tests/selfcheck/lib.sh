# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# For the scripts with a deliberate defect.

# shellcheck source=../vm/lib.sh
. "$VM_DIR/lib.sh"

# defect NAME: let the test module misbehave.
defect() {
	echo "$1" >/sys/module/selfcheck/parameters/defect
}
