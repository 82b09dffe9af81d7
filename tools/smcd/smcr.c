// SPDX-License-Identifier: GPL-2.0-only
#include "tool.h"

int main(int argc, char **argv)
{
	return tool_main("smcr", argc, argv);
}
