# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034	# shared with get and common.sh
#
# Kernels built from Debian's source: "allnoconfig" plus the fragments in
# config/, for the architecture $arch. The key covers all that goes in.

# build_fragments - their options, so that comments may change for free.
build_fragments()
{
	local fragment

	for fragment in $fragments; do
		grep -E '^CONFIG_|^# CONFIG_.* is not set$' \
			"$here/config/$fragment.config"
	done | sort -u
}

build_key()
{
	{
		build_fragments
		case " $fragments " in
		*' kcsan '*) echo "KCSAN_SANITIZE=$KCSAN_SANITIZE" ;;
		esac
		[ "$name" != debug-6.1 ] || declare -f build_spare_early_code
		declare -f build_make build_config build_compile build_install \
			build_strip build_unchecked
		basename "$source"
		gcc --version
		ld --version
	} | sha256sum | cut -c 1-12
}

# build_unchecked - for make: "n" in folders to which sockets and their memory do not come, empty in
# others. KASAN and UBSAN in all of the kernel are what half of the build's time goes to.
build_unchecked()
{
	local checked='drivers/infiniband/% drivers/net drivers/net/%'
	local unchecked='arch/% block block/% crypto crypto/% drivers/% fs/% init ipc security security/%'

	printf '%s' "\$(if \$(filter-out $checked,\$(filter $unchecked,\$(obj))),n)"
}

# For make as well: KCSAN, where it is configured, watches what is built against this kernel, our modules,
# and nothing of the kernel itself. Races of the two are seen all the same, when the kernel's half writes.
export KCSAN_SANITIZE=n

# QEMU starts an ELF file through PVH. Linux 6.1 asks for the hypervisor there with memcmp(), before KASAN has
# memory: checked, it resets itself without a word. (For make: what is in MAKEFLAGS is as on its command line.)
build_spare_early_code()
{
	export MAKEFLAGS='KASAN_SANITIZE_string.o=n'
}

# With ccache nothing is compiled again where a step has changed, but no option. What is not there yet
# is preprocessed once, not twice: a tenth of the first build's time. No step, so not in the key.
export CCACHE_DEPEND=1
build_make()
{
	local cc=gcc

	if command -v ccache >/dev/null; then
		cc='ccache gcc'
		export CCACHE_DIR=$cache/ccache CCACHE_MAXSIZE=3G CCACHE_NOHASHDIR=1
	fi
	KASAN_SANITIZE=$(build_unchecked) UBSAN_SANITIZE=$(build_unchecked) \
		nice -n 15 make -C "$source" O="$tmp/build" ARCH="$arch" CC="$cc" \
		HOSTCC="$cc" KBUILD_BUILD_TIMESTAMP=@0 KBUILD_BUILD_USER=smc \
		KBUILD_BUILD_HOST=smc -j"${JOBS:-$(nproc)}" "$@"
}

# build_dropped - the options that a fragment asks for and that are not so in
# the end, because of their dependencies or because they were renamed. Without
# this it would go unnoticed until a test passes for the wrong reason.
build_dropped()
{
	local line

	while read -r line; do
		grep -qxF "$line" "$tmp/build/.config" && continue
		case $line in
		# Absent because of its dependencies is off as well.
		'# '*) line=${line#\# }
		       grep -q "^${line%% *}=" "$tmp/build/.config" || continue ;;
		esac
		printf '%s\n' "$line"
	done < <(build_fragments)
}

build_config()
{
	mkdir -p "$tmp/build" || return
	build_fragments >"$tmp/fragments" || return
	build_make KCONFIG_ALLCONFIG="$tmp/fragments" allnoconfig || return
	rm "$tmp/fragments"
}

# build_compile - image and modules; reports what it cost.
build_compile()
{
	local TIMEFORMAT='build: %R s, CPU %U s user, %S s system'

	time build_make "$image" modules
}

# What runs goes to lib/modules. The distribution's AF_SMC stays out of it: it
# was built only because TCP's hooks depend on that option, and a socket() call
# must never load it in place of ours.
build_install()
{
	local modules

	release=$(cat "$tmp/build/include/config/kernel.release") || return
	modules=$tmp/lib/modules/$release
	build_make INSTALL_MOD_PATH="$tmp" DEPMOD=true modules_install || return
	rm -rf "$modules/kernel/net/smc" "$modules/build" || return
	depmod -b "$tmp" "$release" || return
	! grep -q 'net/smc/' "$modules/modules.dep" || return
	ln -s ../../../build "$modules/build" || return
	printf '%s\n' "$release" >"$tmp/release"
	cp "$tmp/build/.config" "$tmp/config"
}

# The image moves out of the object tree; what external modules need remains,
# and a Makefile that knows its architecture without being told. Modules get
# debug information, which brings the kernel's types along; the kernel itself
# does without, as it would take a third longer to build.
build_strip()
{
	# shellcheck disable=SC2016	# make expands this
	printf '%s\n' "export ARCH := $arch" 'export KCFLAGS := -g $(KCFLAGS)' \
		"include $source/Makefile" \
		>"$tmp/build/Makefile" || return
	case $arch in
	um)  mv "$tmp/build/linux" "$tmp/linux" ;;
	x86) mv "$tmp/build/vmlinux" "$tmp/vmlinux" && ln -s vmlinux "$tmp/image" ;;
	esac || return
	find "$tmp/build" \( -name '*.o' -o -name '*.a' -o -name '*.ko' -o \
		-name '*.cmd' -o -name '*.mod' -o -name '*.mod.c' -o \
		-name 'vmlinux*' -o -name '.tmp_*' -o -name 'linux' \) \
		-type f -delete
}

build_kernel()
{
	local dropped

	tmp_new
	step "configure Linux $source_version for $arch" \
		"a missing tool of the kernel build" build_config
	dropped=$(build_dropped | paste -sd' ')
	[ -z "$dropped" ] ||
		die "$name: Linux $source_version does not accept these options of tests/kernels/config: $dropped"
	step "build the kernel (10 to 20 minutes)" \
		"a compiler that is too new, or no space left below $cache" build_compile
	step "install the modules" "no space left below $cache" build_install
	step "strip the build folder" "no space left below $cache" build_strip
	grep '^build: ' "$log" | tee "$tmp/cost" >&2
	tmp_commit "$key"
}

# build_resolve - the key; fetches the source, whose version is part of it.
build_resolve()
{
	need bc bc
	need bison bison
	need cpio cpio
	need flex flex
	need gcc gcc
	source=$("$here/get" "source-$series") || exit 1
	source_version=$(cat "$source/release")
	[ "$name" != debug-6.1 ] || build_spare_early_code
	key=$(build_key)
	case $arch in
	um)  image=linux ;;
	x86) image=vmlinux ;;
	esac
}

build_prepare()
{
	[ -d "$kernels/$name/$key" ] && return
	log_open "$name"
	build_kernel
}
