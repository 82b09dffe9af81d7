# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034	# shared with get and common.sh
#
# Debian packages through a private apt configuration: own source list, own
# index files, own download folder. Nothing is installed and the system's apt
# state is neither read (beyond its mirrors) nor changed.

apt_release=bookworm

# apt_mirror SUITE - where the system gets this suite from.
apt_mirror()
{
	local uri

	# shellcheck disable=SC2016	# apt expands these
	uri=$(apt-get indextargets --no-release-info \
		--format '$(CREATED_BY) $(RELEASE) $(REPO_URI)' 2>/dev/null |
		awk -v suite="$1" '$1 == "Packages" && $2 == suite { print $3; exit }')
	[ -n "$uri" ] || die "apt has no source for $1: add Debian's to the system's sources"
	printf '%s\n' "$uri"
}

apt_sources()
{
	local main security signed

	main=$(apt_mirror $apt_release) || exit 1
	security=$(apt_mirror $apt_release-security) || exit 1
	signed='signed-by=/usr/share/keyrings/debian-archive-keyring.gpg'

	case $1 in
	stable)
		echo "deb [$signed] $main $apt_release main"
		echo "deb [$signed] $main $apt_release-updates main"
		echo "deb [$signed] $security $apt_release-security main"
		;;
	backports)
		echo "deb [$signed] $main $apt_release-backports main"
		;;
	esac
}

# apt_open stable|backports - write the configuration. Packages are taken
# from this suite alone, so the candidate of a name is never ambiguous.
apt_open()
{
	apt_dir=$kernels/apt/$1
	mkdir -p "$apt_dir/lists/partial" "$apt_dir/archives/partial" \
		"$apt_dir/preferences.d" ||
		die "cannot create $apt_dir"
	apt_sources "$1" >"$apt_dir/sources.list"
	: >"$apt_dir/status"
	cat >"$apt_dir/apt.conf" <<-END
		#clear APT::Update;
		#clear DPkg::Post-Invoke;
		APT::Architecture "amd64";
		APT::Architectures { "amd64"; };
		APT::Sandbox::User "root";
		Acquire::Languages "none";
		Acquire::Retries "3";
		Dir::Cache "$apt_dir";
		Dir::Cache::archives "$apt_dir/archives";
		Dir::Etc::preferences "$apt_dir/preferences";
		Dir::Etc::preferencesparts "$apt_dir/preferences.d";
		Dir::Etc::sourcelist "$apt_dir/sources.list";
		Dir::Etc::sourceparts "-";
		Dir::State "$apt_dir";
		Dir::State::lists "$apt_dir/lists";
		Dir::State::status "$apt_dir/status";
	END
}

apt_update()
{
	apt-get -c "$apt_dir/apt.conf" -o APT::Update::Error-Mode=any update
}

# apt_field PACKAGE FIELD - a field of the candidate version.
apt_field()
{
	apt-cache -c "$apt_dir/apt.conf" show --no-all-versions "$1" 2>>"$log" |
		awk -v field="$2:" '$1 == field { sub(/^[^ ]* /, ""); print; exit }'
}

# apt_depends PACKAGE PREFIX - the first dependency whose name starts so.
apt_depends()
{
	apt_field "$1" Depends | tr ',' '\n' |
		awk -v prefix="$2" 'index($1, prefix) == 1 { print $1; exit }'
}

# apt_unpack DIRECTORY PACKAGE... - download and unpack; keeps no archive.
apt_unpack()
{
	local to=$1 pkg debs

	shift
	debs=$(mktemp -d "$apt_dir/archives/get.XXXXXX") || return
	(cd "$debs" && apt-get -c "$apt_dir/apt.conf" download "$@") || return
	for pkg in "$debs"/*.deb; do
		dpkg-deb -x "$pkg" "$to" || return
	done
	rm -rf "$debs"
}

# apt_refresh - fetch the index files. Returns 1 when that fails but an older
# copy of $name is in the cache, which is better than nothing without network.
apt_refresh()
{
	if current_dir >/dev/null; then
		say "$name: look for a newer version"
		apt_update >>"$log" 2>&1 </dev/null && return 0
		say "$name: cannot fetch the package lists (log: $log), using the cached $(basename "$(current_dir)")"
		# Ask again in an hour, not on every call.
		touch -d "$((max_age_days * 24 - 1)) hours ago" \
			"$kernels/$name/current-$recipe"
		return 1
	fi
	step "fetch the package lists" "no network, or no such suite on this mirror" apt_update
}
