# SPDX-License-Identifier: GPL-2.0-only
#
# The test points of Python tests (selftests/netlink/cases.py) as TAP, see points() in ../lib/points.sh: a line
# "status N" tells how a script has ended. A script that fails without a failed point is one, and so is a
# script without a point. -v prefix=NAME -v wanted=N: N scripts have to end, 1 by default
function point(good, name)
{
	gsub(/ /, "_", name)
	print (good ? "" : "not ") "ok " ++n " - " prefix "." name
	failed += !good
}
/^(not )?ok - / {
	good = !/^not /
	sub(/^(not )?ok - /, "")
	point(good, $0)
	next
}
/^status [0-9]+$/ {
	if ($2 > 1 || ($2 == 1 && !failed) || n == before)
		point(0, "script " ++scripts " ended with status " $2)
	else
		scripts++
	failed = 0
	before = n
	next
}
NF { print "# " $0 }
END {
	if (scripts != (wanted ? wanted : 1))
		point(0, scripts + 0 " of " (wanted ? wanted : 1) " scripts ended")
	print "1.." n
}
