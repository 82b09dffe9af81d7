# SPDX-License-Identifier: GPL-2.0-only
"""
The netlink specifications in Documentation/netlink/specs, and messages decoded by them. Decoding
is strict: what the specification does not allow is an error.
"""

import functools
import re
import struct
from pathlib import Path

import nl

SPECS = Path(__file__).resolve().parents[3] / 'Documentation' / 'netlink' / 'specs'
SIZES = {'u8': '=B', 'u16': '=H', 'u32': '=I', 'u64': '=Q'}
KEY = re.compile(r'([\w-]+):(?:\s+(.*))?$')


class Yaml:
    """Reads as much of YAML as the specifications use."""

    def __init__(self, path):
        self.lines = []
        for line in path.read_text(encoding='utf-8').splitlines():
            if not line.strip() or line.lstrip().startswith('#') or line == '---':
                continue
            indent, text = len(line) - len(line.lstrip()), line.strip()
            if text.startswith('- '):
                self.lines.append((indent, '-'))
                indent, text = indent + 2, text[2:]
            self.lines.append((indent, text))
        self.next = 0

    def block(self, indent):
        """The mapping or list whose lines have this indent."""
        if self.lines[self.next][1] == '-':
            return self.items(indent)
        found = {}
        while self.next < len(self.lines) and self.lines[self.next][0] == indent:
            key, value = KEY.match(self.lines[self.next][1]).groups()
            self.next += 1
            found[key] = self.value(indent, value)
        return found

    def items(self, indent):
        found = []
        while self.next < len(self.lines) and self.lines[self.next] == (indent, '-'):
            self.next += 1
            found.append(self.block(self.lines[self.next][0]))
        return found

    def value(self, indent, text):
        if text == '>-':
            words = []
            while self.next < len(self.lines) and self.lines[self.next][0] > indent:
                words.append(self.lines[self.next][1])
                self.next += 1
            return ' '.join(words)
        if text is None:
            if self.lines[self.next][1].startswith('['):
                text = self.lines[self.next][1]
                self.next += 1
                return self.value(indent, text)
            return self.block(self.lines[self.next][0])
        if text == '{}':
            return {}
        if text.startswith('['):
            return [word.strip() for word in text[1:-1].split(',')]
        return int(text) if text.isdigit() else text.strip('"')


class Attribute:
    """One attribute of a set."""

    def __init__(self, fields, number):
        self.name = fields['name']
        self.kind = fields['type']
        self.number = number
        self.nested = fields.get('nested-attributes')
        self.max_len = fields.get('checks', {}).get('max-len')
        self.big_endian = fields.get('byte-order') == 'big-endian'


class Spec:
    """One family."""

    def __init__(self, name):
        self.tree = Yaml(SPECS / f'{name}.yaml').block(0)
        self.family = self.tree['name']
        self.sets = {s['name']: self.numbered(s['attributes']) for s in
                     self.tree['attribute-sets']}
        self.operations = {op['name']: op for op in self.tree['operations']['list']}

    @staticmethod
    def numbered(fields):
        found, number = {}, 0
        for entry in fields:
            number = entry.get('value', number + 1)
            found[number] = Attribute(entry, number)
        return found

    def decode(self, set_name, data):
        """A dict in the order of the message, from name to value."""
        found = {}
        for kind, value in nl.attrs(data):
            attribute = self.sets[set_name].get(kind & nl.NLA_TYPE)
            if attribute is None:
                raise ValueError(f'{set_name}: attribute {kind & nl.NLA_TYPE} is not specified')
            if attribute.kind == 'pad':
                continue
            if attribute.name in found:
                raise ValueError(f'{set_name}: {attribute.name} came twice')
            if bool(kind & nl.NLA_NESTED) != (attribute.kind == 'nest'):
                raise ValueError(f'{set_name}: {attribute.name}: wrong nesting flag')
            found[attribute.name] = self.decode_value(attribute, value)
        return found

    def decode_value(self, attribute, value):
        if attribute.kind == 'nest':
            return self.decode(attribute.nested, value)
        if attribute.kind == 'binary':
            return value
        if attribute.kind == 'string':
            if not value.endswith(b'\0') or b'\0' in value[:-1]:
                raise ValueError(f'{attribute.name} is no string: {value}')
            if attribute.max_len and len(value) - 1 > attribute.max_len:
                raise ValueError(f'{attribute.name} is too long: {value}')
            return value[:-1].decode()
        if attribute.kind == 'uint':
            size = {4: '=I', 8: '=Q'}.get(len(value))
        else:
            size = SIZES[attribute.kind]
        if size is None or struct.calcsize(size) != len(value):
            raise ValueError(f'{attribute.name} has {len(value)} bytes')
        if attribute.big_endian:
            size = size.replace('=', '>')
        number = struct.unpack(size, value)[0]
        if attribute.kind == 'uint' and len(value) == 8 and number < 1 << 32:
            raise ValueError(f'{attribute.name} has 8 bytes for {number}')
        return number


@functools.cache
def load_spec(name):
    """Reads it once: a process of another user may not be allowed to read the tree."""
    return Spec(name)


class Family(nl.Genl):
    """A socket that speaks in names of the specification."""

    def __init__(self, name, room=65536):
        self.spec = load_spec(name)
        super().__init__(self.spec.family, room)

    def command(self, name):
        return self.spec.operations[name]['value']

    def show(self, name):
        """Decoded messages of a dump, checked for what all have in common."""
        answer = self.dump(self.command(name))
        if answer.error or not answer.done:
            raise ValueError(f'{name}: {answer}')
        found = []
        for message in answer.messages:
            command, version, data = message.genl()
            if (message.kind, message.flags, command, version) != (
                    self.family, nl.F_MULTI, self.command(name), 1):
                raise ValueError(f'{name}: odd headers')
            found.append(self.spec.decode(self.spec.operations[name]['attribute-set'], data))
        return found

    def listen(self):
        """Events come in from now on."""
        self.join('events')
        self.sock.setblocking(False)

    def events(self):
        """What has come in: pairs of name and decoded attributes."""
        found = []
        names = {op['value']: name for name, op in self.spec.operations.items()}
        while True:
            try:
                messages = list(self.messages())
            except BlockingIOError:
                return found
            for message in messages:
                command, version, data = message.genl()
                if (message.kind, message.flags, version) != (self.family, 0, 1):
                    raise ValueError('odd headers of an event')
                op = self.spec.operations[names[command]]
                found.append((names[command], self.spec.decode(op['attribute-set'], data)))

    def set(self, name, *data):
        """errno of a request that changes something; attributes as made by nl.attr()."""
        return self.do(self.command(name), b''.join(data))
