# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# For the first process in User Mode Linux: what a kernel with CONFIG_GCOV_KERNEL has counted.

GCOV=/sys/kernel/debug/gcov

gcov_here()
{
	[ -d $GCOV ]
}

# save_gcov FOLDER: the counters, also those of modules that are gone, and links to the compiler's
# notes beside them, where gcov looks for these
save_gcov()
{
	gcov_here || return 0
	(
		cd $GCOV || exit
		find . -name '*.gc??' | while read -r file; do
			mkdir -p "$1/${file%/*}"
			if [ -L "$file" ]; then
				cp -P "$file" "$1/$file"
			else
				# The size is not known before it is read
				cat "$file" >"$1/$file"
			fi
		done
	)
}
