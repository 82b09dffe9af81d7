# SPDX-License-Identifier: GPL-2.0-only
"""The two RDMA ports in one kernel that rdma_wire() of tests/lib/rdma.sh makes, and links on them."""

import ipaddress
import os
import socket
import subprocess
from pathlib import Path

PORTS = 0, 1
ADDRESS = {(socket.AF_INET, 0): '10.9.0.1', (socket.AF_INET, 1): '10.9.0.2',
           (socket.AF_INET6, 0): 'fd09::1', (socket.AF_INET6, 1): 'fd09::2'}


def gid(address):
    """An address as the text of a GID."""
    found = ipaddress.ip_address(address)
    if found.version == 4:
        found = ipaddress.IPv6Address(f'::ffff:{address}')
    return found.exploded


def entries(port):
    """The table of addresses of a device, as text."""
    table = Path(f'/sys/class/infiniband/rxe{port}/ports/1/gids')
    return [entry.read_text(encoding='ascii').strip() for entry in table.iterdir()]


def gids(port):
    """All addresses that a device has, as text."""
    return set(entries(port)) - {gid('::')}


def interface(port):
    """Index of the network device."""
    return socket.if_nametoindex(f'smc{port}')


def unplug(port):
    subprocess.run(['rdma', 'link', 'del', f'rxe{port}'], check=True)


def plug_in(port):
    subprocess.run(['rdma', 'link', 'add', f'rxe{port}', 'type',
                    os.environ.get('RDMA_TYPE', 'rxe'), 'netdev', f'smc{port}'],
                   check=True)


def block(on, ports=PORTS):
    """Packets of RoCE are lost when they come in at these ports: by default in both directions."""
    for port in ports:
        subprocess.run(['ip', 'rule', 'add' if on else 'del', 'pref', '5', 'iif', f'smc{port}',
                        'ipproto', 'udp', 'dport', '4791', 'blackhole'], check=True)


def shell(script, **more):
    """Calls functions of lib/rdma.sh, which RDMA_LIB names."""
    done = subprocess.run(['sh', '-c', f'. "$RDMA_LIB"; {script}'], capture_output=True, text=True,
                          env=dict(os.environ, **more), check=False)
    if done.returncode:
        raise ValueError(f'{script}: {done.stdout}{done.stderr}')
    return done.stdout


def have(addresses, times=1):
    """Whether each port has its address already; work of the core adds them."""
    return all(entries(port).count(gid(address)) >= times
               for port, address in zip(PORTS, addresses))


def links(gen):
    """Decoded links by group; each group comes before its links, in a message of its own kind."""
    answer = gen.dump(gen.command('get-link-smcr'))
    if answer.error or not answer.done:
        raise ValueError(f'links: {answer}')
    found = {}
    for message in answer.messages:
        command, _, data = message.genl()
        decoded = gen.spec.decode('smc', data)
        if command == gen.command('get-lgr-smcr'):
            last = decoded['lgr-smcr']['id']
            if last in found:
                raise ValueError(f'group {last} came twice')
            found[last] = []
        elif command == gen.command('get-link-smcr') and decoded['link-smcr']['lgr-id'] == last:
            found[last].append(decoded['link-smcr'])
        else:
            raise ValueError(f'behind group {last}: {decoded}')
    return found
