# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034	# shared with get and common.sh
#
# The units with which Debian boots, of what sets up a network and of what our units are ordered
# against. Nothing else of the packages is kept.

units_packages='systemd udev ifupdown cloud-init network-manager nftables libvirt-daemon-system'

units_resolve()
{
	local package

	units=()
	for package in $units_packages; do
		version=$(apt_field "$package" Version)
		[ -n "$version" ] ||
			die "$name: there is no package $package (log: $log); likely cause: a mirror in the middle of an update, try again later"
		units+=("$package=$version")
	done
	key=$(printf '%s\n' "${units[@]}" | sha256sum | cut -c 1-16)-$recipe
}

units_keep()
{
	find "$tmp" ! -type d ! -path '*/systemd/system/*' -delete &&
		find "$tmp" -type d -empty -delete &&
		[ -e "$tmp/lib/systemd/system/multi-user.target" ] &&
		printf '%s\n' "${units[@]}" >"$tmp/version"
}

units_fetch()
{
	tmp_new
	step "download and unpack $units_packages (9 MB)" "no network, or no space left below $cache" \
		apt_unpack "$tmp" "${units[@]}"
	step "keep the units" "the packages' layout has changed" units_keep
	tmp_commit "$key"
}
