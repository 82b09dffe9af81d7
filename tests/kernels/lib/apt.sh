# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034	# shared with get and common.sh
#
# Debian packages through a private apt configuration: own source list, own
# index files, own download folder. Nothing is installed and the system's apt
# state is neither read (beyond its mirrors) nor changed.

# What Debian calls its releases, in the sources of whatever system this is.
apt_releases='bookworm trixie forky sid oldstable stable testing unstable'

# apt_targets - the archives of the system's apt, a line for each: component, suite, URI, and the
# origin if apt has downloaded the index, else "?".
apt_targets()
{
	# shellcheck disable=SC2016	# apt expands these
	local format='$(CREATED_BY) $(COMPONENT) $(RELEASE) $(REPO_URI)'

	{
		apt-get indextargets --format "$format \$(ORIGIN)"
		apt-get indextargets --no-release-info --format "$format ?"
	} 2>/dev/null | sed -n 's/^Packages //p'
}

# apt_uri SUITE... - where the system gets the first of these suites from that it has. Other archives
# have suites of the same names: an archive known to be Debian's comes first, one known to be
# another's does not count.
apt_uri()
{
	apt_targets | awk -v suites="$*" '
		BEGIN { later = 0 }
		$1 != "main" || $3 ~ /^cdrom:/ { next }
		$4 == "?" { $4 = ($3 in origin) ? origin[$3] : "Debian"; later = 1 }
		!later { origin[$3] = $4 }
		$4 == "Debian" && !(($2, later) in uri) { uri[$2, later] = $3 }
		END {
			last = split(suites, order, " ")
			for (later = 0; later <= 1; later++)
				for (i = 1; i <= last; i++)
					if ((order[i], later) in uri) {
						print uri[order[i], later]
						exit
					}
		}'
}

# apt_mirror RELEASE ''|-security - where to get this suite from. A mirror of Debian has all
# releases, so the source of another release will do.
apt_mirror()
{
	local suites=$1$2 other

	for other in $apt_releases; do
		suites+=" $other$2"
	done
	# shellcheck disable=SC2086	# names without blanks
	apt_uri $suites
}

apt_sources()
{
	local release=${1%-backports} main security signed

	main=$(apt_mirror "$release" '')
	[ -n "$main" ] || die "apt has no source for Debian: add it to the system's sources"
	security=$(apt_mirror "$release" -security)
	signed='signed-by=/usr/share/keyrings/debian-archive-keyring.gpg'

	case $1 in
	*-backports)
		echo "deb [$signed] $main $1 main"
		;;
	*)
		echo "deb [$signed] $main $1 main"
		echo "deb [$signed] $main $1-updates main"
		[ -z "$security" ] || echo "deb [$signed] $security $1-security main"
		;;
	esac
}

# apt_open SUITE - write the configuration. Packages are taken from this suite
# alone, so the candidate of a name is never ambiguous.
apt_open()
{
	apt_dir=$kernels/apt/$1
	mkdir -p "$apt_dir/lists/partial" "$apt_dir/archives/partial" \
		"$apt_dir/preferences.d" ||
		die "cannot create $apt_dir"
	apt_sources "$1" >"$apt_dir/sources.list" || exit 1
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

# apt_again COMMAND... - up to three times: what apt itself does not try again is a mirror that has
# changed between index and file.
apt_again()
{
	local tries

	for tries in 1 2 3; do
		"$@" && return
		echo "try $tries failed: $*"
	done
	return 1
}

apt_update()
{
	apt_again apt-get -c "$apt_dir/apt.conf" -o APT::Update::Error-Mode=any update
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
	(cd "$debs" && apt_again apt-get -c "$apt_dir/apt.conf" download "$@") || return
	for pkg in "$debs"/*.deb; do
		dpkg-deb -x "$pkg" "$to" || return
	done
	rm -rf "$debs"
}

# apt_keep_cached - use the copy of $name that is in the cache, and ask again in an hour, not on
# every call.
apt_keep_cached()
{
	say "$name: using the cached $(basename "$(current_dir)")"
	touch -d "$((max_age_days * 24 - 1)) hours ago" "$kernels/$name/current-$recipe"
}

# apt_refresh - fetch the index files. Returns 1 when that fails but an older
# copy of $name is in the cache, which is better than nothing without network.
apt_refresh()
{
	if current_dir >/dev/null; then
		say "$name: look for a newer version"
		apt_update >>"$log" 2>&1 </dev/null && return 0
		say "$name: cannot fetch the package lists (log: $log)"
		apt_keep_cached
		return 1
	fi
	step "fetch the package lists" "no network, or no such suite on this mirror" apt_update
}
