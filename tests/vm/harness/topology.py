# SPDX-License-Identifier: GPL-2.0-only
"""Which guests there are, the wire between them, and how they wait for each other."""

MTU = 9000


def guest_names(count):
    return 'ab'[:count]


def wires(folder, count):
    """
    For each guest its network devices as (netdev, MAC address, MTU).

    Two guests share one Ethernet segment made of a pair of datagram sockets: it starts in
    any order, needs no privileges, and drops frames only while the other side is not there.
    """
    if count == 1:
        return [[]]
    # Socket names are short: the limit is 108 bytes, whatever the cache folder is called.
    ends = [folder / 'wire-a', folder / 'wire-b']
    return [[(f'dgram,local.type=unix,local.path={ends[i]},'
              f'remote.type=unix,remote.path={ends[1 - i]}', f'52:54:00:5c:00:0{i + 1}', MTU)]
            for i in range(2)]


class Relay:
    """
    Barriers between guests: "sync NAME [VALUE]" is answered with "go NAME [VALUE]" and the
    other's value once both have asked, or with "lost NAME" if the other one has ended.
    With one guest there is nobody to wait for.
    """

    def __init__(self, count):
        self._count = count
        self.reset()

    def reset(self):
        self._waiting = {}      # barrier name -> {guest: value}
        self._left = set()

    def request(self, guest, line):
        words = line.split(None, 2)
        if len(words) < 2 or words[0] != 'sync':
            guest.answer(f'error unknown request: {line}')
            return
        name, value = words[1], words[2] if len(words) > 2 else ''
        waiting = self._waiting.setdefault(name, {})
        waiting[guest] = value
        if len(waiting) == self._count:
            del self._waiting[name]
            for one in waiting:
                others = [text for other, text in waiting.items() if other is not one]
                one.answer(f'go {name} {" ".join(others)}'.rstrip())
        elif self._left:
            self._release()

    def left(self, guest):
        """The test in this guest has ended: whoever waits for it waits in vain."""
        self._left.add(guest)
        self._release()

    def _release(self):
        for name, waiting in self._waiting.items():
            for guest in waiting:
                guest.answer(f'lost {name}')
        self._waiting = {}
