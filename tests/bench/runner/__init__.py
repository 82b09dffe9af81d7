# SPDX-License-Identifier: GPL-2.0-only
"""Boots guests that run the load generator, and makes tables of what it reports."""
