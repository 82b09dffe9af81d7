# SPDX-License-Identifier: GPL-2.0-only
#
# The test points of Python tests (selftests/netlink/cases.py) as TAP. -v prefix=NAME
/^(not )?ok - / {
	bad = /^not /
	sub(/^(not )?ok - /, "")
	gsub(/ /, "_")
	print (bad ? "not " : "") "ok " ++n " - " prefix "." $0
	next
}
{ print "# " $0 }
END { print "1.." n }
