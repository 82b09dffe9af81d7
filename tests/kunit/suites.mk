# SPDX-License-Identifier: GPL-2.0-only
# Suites which test pure sources only: the KUnit module and tests/unit run them both. A new one
# needs one line here; the pure sources themselves are listed in net/smc/Kbuild.
pure-tests-y += bits_test.o
pure-tests-y += cdc_test.o
pure-tests-y += clc_accept_test.o
pure-tests-y += clc_proposal_test.o
pure-tests-y += clc_proposal_v2_test.o
pure-tests-y += clc_test.o
pure-tests-y += close_fsm_test.o
pure-tests-y += cursor_test.o
pure-tests-y += stepper_test.o
pure-tests-y += eid_test.o
pure-tests-y += llc_flow_test.o
pure-tests-y += llc_link_test.o
pure-tests-y += llc_rkey_test.o
pure-tests-y += llc_test.o
pure-tests-y += reason_test.o
pure-tests-y += select_rdma_test.o
pure-tests-y += select_test.o
pure-tests-y += topology_test.o

# Suites which need a kernel; they include the source they test.
kernel-tests-y += pair_test.o
kernel-tests-y += pnet_test.o
kernel-tests-y += tcp_queue_test.o
