# SPDX-License-Identifier: GPL-2.0-only
#
# The front door: every target hands over to a script or to a Makefile below. The objects of the
# modules are listed in Kbuild, which is what the kernel's build system reads.
#
## make                  the modules for the running kernel (or KDIR=...) and the tools
## make install          both; modules go below updates/smc of the kernel (also DESTDIR=...)
## make uninstall        the kernel's own modules are back
## make demo             redis and iperf3 over SMC in a virtual machine (KERNEL=6.1)
## make test             the daily tests of the six suites below, then one line with the verdict
## make test-all         all suites in full, before a release; takes hours
## make check            static checks, installation by make and by DKMS
## make unit             pure code and tools in user space under sanitizers, fuzzing (T=...)
## make kunit            kernel unit tests in User Mode Linux (T=...)
## make uml              socket tests in User Mode Linux with KASAN, lockdep, kmemleak (T=...)
## make vm               tests in virtual machines (T=... KERNEL=..., SHELL=1, GDB=1)
## make selfcheck        does the harness find deliberate defects?
## make debug            vm and selfcheck on a debug kernel, not in make test (T=...)
## make coverage         lines of each folder reached by the tests in User Mode Linux and user space
## make bench            speed compared with TCP and others
## make clean            what builds left in this tree

# "make vm SHELL=1" asks for a shell in the guest, but SHELL is also the name of make's own shell.
GUEST_SHELL := $(filter 1,$(SHELL))
override SHELL := /bin/bash
MAKEOVERRIDES := $(filter-out SHELL=%,$(MAKEOVERRIDES))

KDIR	?= /lib/modules/$(shell uname -r)/build
NEEDS	:= @scripts/install-packages build

# What the packages have to be there for; DKMS wants no tools
PURPOSE	:= $(or $(filter modules tools,$(MAKECMDGOALS)),modules tools) $(filter install,$(MAKECMDGOALS))

all: modules tools

modules: check-kernel
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

check-packages:
	@scripts/check-packages $(KDIR) $(PURPOSE)

check-kernel: check-packages
	@scripts/check-kernel $(KDIR) >/dev/null

tools: check-packages
	$(MAKE) -C tools

install: modules tools
	scripts/install-modules install $(KDIR)
	$(MAKE) -C tools install

uninstall:
	@$(MAKE) -s -C tools unused
	scripts/install-modules uninstall $(KDIR)
	$(MAKE) -C tools uninstall

demo:
	$(NEEDS) demo tools vm
	@scripts/demo

test:
	$(NEEDS) bpf check test tools vm
	@scripts/test

test-all:
	$(NEEDS) bpf check programs test tools vm
	@scripts/test --all

check:
	$(NEEDS) bpf check tools
	@scripts/test $@

unit:
	$(NEEDS) bpf test tools
	@scripts/test $@

kunit:
	$(NEEDS) bpf test tools
	@scripts/test $@ $(if $(T),-- '$(T)')

uml:
	$(NEEDS) bpf test tools
	@scripts/test $@ $(if $(T),-- '$(T)')

debug:
	$(NEEDS) bpf test tools vm
	@scripts/test $@

vm:
	$(NEEDS) bpf test tools vm
	@$(if $(GUEST_SHELL)$(GDB),SHELL=$(GUEST_SHELL) tests/vm/run,scripts/test $@)

selfcheck:
	$(NEEDS) bpf test tools vm
	@scripts/test $@

coverage:
	$(NEEDS) bpf test tools vm
	@scripts/coverage

bench:
	$(NEEDS) bench tools vm
	@tests/bench/run

clean:
	@scripts/clean

help:
	@sed -n 's/^## //p' $(firstword $(MAKEFILE_LIST))

.PHONY: all modules check-packages check-kernel tools install uninstall demo test test-all check unit kunit uml vm \
	selfcheck debug coverage bench clean help
