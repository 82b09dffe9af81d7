# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh

# points SCRIPT ARGUMENT...: what a Python test says, and how it ends, for tests/uml/points.awk
points() {
	points_status=0
	python3 -B "$@" 2>&1 || points_status=$?
	printf '\nstatus %s\n' "$points_status"
}
