# SPDX-License-Identifier: GPL-2.0-only
"""Boots kernels in QEMU, runs tests in them and judges what came back."""
