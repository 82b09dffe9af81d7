# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034	# shared with get and common.sh
#
# Debian's kernel source with its patches: checkpatch, kernel-doc, and what the
# debug kernels are built from.

# Nothing here builds these, and they are half of the source: other
# architectures, and drivers for hardware that no virtual machine has. Their
# Kconfig files stay, because the rest of the tree reads them.
source_excludes=(
	--exclude='linux-source-*/arch/*/boot/dts/*'
	--exclude='linux-source-*/drivers/gpu/*.[ch]'
	--exclude='linux-source-*/drivers/media/*.[ch]'
	--exclude='linux-source-*/drivers/net/wireless/*.[ch]'
	--exclude='linux-source-*/drivers/staging/*.[ch]'
	--exclude='linux-source-*/sound/*.[ch]'
)

for arch in alpha arc arm arm64 csky hexagon loongarch m68k microblaze mips \
	nios2 openrisc parisc powerpc riscv s390 sh sparc xtensa; do
	source_excludes+=("--exclude=linux-source-*/arch/$arch/*.[chS]")
done

source_resolve()
{
	package=linux-source-$series
	version=$(apt_field "$package" Version)
	[ -n "$version" ] ||
		die "$name: there is no package $package (log: $log); likely cause: the suite has moved on to another kernel"
	key=$(key_of "$version")-$recipe
}

# Where processors have AMX, the registers that User Mode Linux gets and sets for a
# process are 11,008 bytes, and all or none can be set: nothing would start. Later kernels ask
# the host for the size.
source_make_room()
{
	local file=$tmp/arch/x86/um/user-offsets.c

	sed -i 's/(HOST_FP_SIZE, 2696)/(HOST_FP_SIZE, 12288)/' "$file" &&
		grep -q 'HOST_FP_SIZE, 12288' "$file"
}

source_unpack()
{
	tar -x -J -C "$tmp" --strip-components=1 "${source_excludes[@]}" \
		-f "$tmp.deb/usr/src/$package.tar.xz" || return
	[ -x "$tmp/scripts/checkpatch.pl" ] || return
	source_make_room || return
	make -s -C "$tmp" kernelversion >"$tmp/release" || return
	printf '%s\n' "$version" >"$tmp/version"
}

source_fetch()
{
	tmp_new
	rm -rf "$tmp.deb"
	step "download $package $version (150 MB)" "no network, or no space left below $cache" \
		apt_unpack "$tmp.deb" "$package=$version"
	step "unpack the source" "no space left below $cache" source_unpack
	rm -rf "$tmp.deb"
	tmp_commit "$key"
}
