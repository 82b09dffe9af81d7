# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034	# shared with get and common.sh
#
# Debian's own kernels, as they are: image, modules, headers.

# The packages' names carry the version, so ask the meta package.
stock_resolve()
{
	image=$(apt_depends linux-image-amd64 linux-image-)
	release=${image#linux-image-}
	headers=linux-headers-$release
	common=$(apt_depends "$headers" linux-headers-)
	kbuild=$(apt_depends "$headers" linux-kbuild-)
	if [ -z "$image" ] || [ -z "$common" ] || [ -z "$kbuild" ]; then
		die "$name: the package lists hold no complete set of image and headers (log: $log); likely cause: a mirror in the middle of an update, try again later"
	fi
	case $release in
	"$series".*|"$series"-*) ;;
	*) die "$name: Debian's kernel there is now $release, not $series; likely cause: the suite has moved on" ;;
	esac
	version=$(apt_field "$image" Version)
	key=$(key_of "$version")-$recipe
}

# Debian 13 packs the modules below usr/lib, Debian 12 below lib.
stock_unpack_packages()
{
	apt_unpack "$tmp" "$@" || return
	[ ! -d "$tmp/usr/lib/modules" ] || { mkdir -p "$tmp/lib" && mv "$tmp/usr/lib/modules" "$tmp/lib/"; }
}

# The headers' Makefile names its other half by an absolute path in /usr/src;
# name it relative to itself, so that it works wherever it was unpacked. The
# vmlinux there has only type information, and its presence makes every module
# build need pahole.
stock_fix_headers()
{
	local top=$tmp/usr/src/$headers

	# shellcheck disable=SC2016	# make expands this, not the shell
	sed -i -E 's|^include +/usr/src/(linux-headers-[^/]*)/Makefile|include $(abspath $(dir $(realpath $(lastword $(MAKEFILE_LIST))))../\1)/Makefile|' \
		"$top/Makefile" || return
	grep -q '^include .*abspath' "$top/Makefile" || return
	rm -f "$top/vmlinux"
	! find "$tmp/usr" -type l -lname '/usr/*' | grep . || return
	ln -sfn "usr/src/$headers" "$tmp/build"
	rm -f "$tmp/lib/modules/$release/build" "$tmp/lib/modules/$release/source"
	ln -s ../../../build "$tmp/lib/modules/$release/build"
}

# stock_tools_run - do the headers' programs run here? Those of a later Debian need its libc.
stock_tools_run()
{
	# Not into a pipe: ldd fails when grep has seen enough before it is done
	! grep -q 'GLIBC_.* not found' \
		<<<"$(ldd "$tmp/usr/lib/$kbuild/tools/objtool/objtool.real-x86" 2>&1)"
}

# An earlier Debian has its own kernel of the same series, whose programs run, and its own compiler,
# which does not know -fmin-function-alignment.
stock_borrow_tools()
{
	local top=$tmp/usr/src/$headers other cc program

	other=$("$here/get" "stock-$series") || return
	cc=$(gcc -dumpversion) || return
	while read -r program; do
		cp "$other"/usr/lib/linux-kbuild-*/"$program" "$tmp/usr/lib/$kbuild/$program" || return
	done < <(cd "$tmp/usr/lib/$kbuild" && LC_ALL=C grep -rlaP '^\x7fELF' .)
	sed -i -E -e "s/\<gcc-[0-9]+/gcc-$cc/" -e '/\<CONFIG_CC_HAS_(MIN|SANE)_FUNCTION_ALIGNMENT\>/d' \
		"$top/.kernelvariables" "$top/include/config/auto.conf" \
		"$top/include/generated/autoconf.h" || return
	stock_tools_run
}

# Unpacking xz under TCG costs seconds per boot; here it is paid once.
stock_fix_modules()
{
	local modules=$tmp/lib/modules/$release

	find "$modules" -name '*.ko.xz' -print0 | xargs -0r -P2 -n64 xz -d || return
	depmod -b "$tmp" "$release"
}

# The same holds for the kernel itself. Where it is in the file: Documentation/arch/x86/boot.rst; its
# length counts four bytes with the size at the end. What comes out is an ELF file, which QEMU starts as
# it is (PVH).
stock_unpack_image()
{
	local file=$tmp/boot/vmlinuz-$release sectors offset length unpack

	sectors=$(od -An -tu1 -j $((0x1f1)) -N 1 "$file")
	read -r offset length < <(od -An -tu4 -j $((0x248)) -N 8 "$file")
	offset=$(((sectors + 1) * 512 + offset))
	case $(od -An -tx4 -j "$offset" -N 4 "$file") in
	*587a37fd) unpack='xz -dc' ;;
	*fd2fb528) unpack='zstd -dcq' ;;
	*) return 1 ;;
	esac
	head -c $((offset + length - 4)) "$file" | tail -c +$((offset + 1)) | $unpack >"$tmp/image" &&
		[ "$(od -An -c -j 1 -N 3 "$tmp/image" | tr -d ' ')" = ELF ]
}

stock_arrange()
{
	mv "$tmp/boot/config-$release" "$tmp/config" &&
		rm -rf "${tmp:?}/boot" "${tmp:?}/usr/share" &&
		printf '%s\n' "$version" >"$tmp/version" &&
		printf '%s\n' "$release" >"$tmp/release"
}

stock_fetch()
{
	tmp_new
	step "download and unpack $image $version" "no network, or no space left below $cache" \
		stock_unpack_packages "$image=$version" "$headers" "$common" "$kbuild"
	step "adapt the headers" "the packages' layout has changed" stock_fix_headers
	[ "$name" = "stock-$series" ] || stock_tools_run ||
		step "adapt the headers to an earlier Debian" \
			"programs of Debian's stock-$series do not run here either" stock_borrow_tools
	step "uncompress the modules" "no space left below $cache" stock_fix_modules
	step "uncompress the kernel" "it is compressed in another way now" stock_unpack_image
	step "arrange the files" "the packages' layout has changed" stock_arrange
	tmp_commit "$key"
}
