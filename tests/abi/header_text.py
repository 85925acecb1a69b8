# SPDX-License-Identifier: MIT
"""Reads terse.h as text: its structs with their members in order, and its numbers."""
import re


def load(path):
    with open(path) as f:
        return re.sub(r'/\*.*?\*/', '', f.read(), flags=re.S)


def structs(text):
    """{'terse_str': [('ptr', 'const char *'), ...]}; a function pointer's type is '(*)'."""
    found = {}
    for name, body in re.findall(r'typedef struct (\w+) \{(.*?)\n\} \1;', text, flags=re.S):
        members = []
        for member in filter(None, (' '.join(m.split()) for m in body.split(';'))):
            function = re.match(r'.*?\(\*(\w+)\)\(', member)
            plain = re.match(r'(.*?)(\w+)$', member)
            members.append((function.group(1), '(*)') if function
                           else (plain.group(2), plain.group(1).strip()))
        found[name] = members
    return found


def numbers(text):
    """The names of all #defines that have a numeric value."""
    return [name for name, value in re.findall(r'^#define (TERSE_\w+) (.+)$', text, flags=re.M)
            if not value.strip().startswith('"')]
