# SPDX-License-Identifier: MIT
"""A copy of the checkout that mutants are put into, with a build folder of its own."""
import contextlib
import os
import shutil
import subprocess

from catalogue import CHECKOUT

WHOLE = ('abi', 'plugin', 'hosts', 'tests')
FILES = ('README.md', 'meson.build', 'meson_options.txt')
# What the host suite takes from a build folder, by server.
PLUGIN = ('plugin/terse.so', 'hosts/cli/terse')
BUILT = {
    'lighttpd': PLUGIN + ('hosts/lighttpd/mod_terse.so',),
    'h2o': PLUGIN + ('hosts/h2o/terse-h2o.so', 'hosts/h2o/terse-h2o-preload.so'),
}


def targets_of(cases):
    """What has to be built for these cases."""
    return sorted({target for case in cases for target in BUILT.get(case.where, (case.program,))})


class Trouble(Exception):
    """Something that is no answer to whether a mutant is killed."""


def run(command, what, **kwargs):
    """What a command said; Trouble when it fails."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors='replace', check=False,
                          **kwargs)
    if done.returncode != 0:
        raise Trouble(f'{what}\n{done.stdout}')
    return done.stdout


def patch(folder, path, *options):
    """Applies a patch to the last letter of its context; where in the file does not matter."""
    run(['patch', '-p1', '-F0', '-s', '-f', '--no-backup-if-mismatch', '-r', '-', *options,
         '-i', path], 'does not apply', cwd=folder)


class Copy:
    def __init__(self, folder, options):
        self.folder, self.options = folder, options
        self.build = os.path.join(folder, 'build')

    def set_up(self, targets):
        """Whoever the servers become has to be able to read it."""
        os.mkdir(self.folder, 0o755)
        for name in WHOLE:
            shutil.copytree(os.path.join(CHECKOUT, name), os.path.join(self.folder, name),
                            ignore=shutil.ignore_patterns('__pycache__'))
        for name in FILES:
            shutil.copy(os.path.join(CHECKOUT, name), self.folder)
        # a mutant may leave a variable without use, and speed of what is built does not matter
        run(['meson', 'setup', self.build, self.folder, *self.options, '-Dwerror=false',
             '-Dbuildtype=debug'], 'cannot be set up')
        self.make(targets)

    def make(self, targets):
        run(['ninja', '-C', self.build, *targets], 'does not build')

    @contextlib.contextmanager
    def mutated(self, mutant):
        """The copy with the mutant in it; afterwards as it was, and to be built again."""
        before = {}
        for name in mutant.files:
            with open(os.path.join(self.folder, name), 'rb') as file:
                before[name] = file.read()
        try:
            patch(self.folder, mutant.path)
            yield
        finally:
            for name, text in before.items():
                with open(os.path.join(self.folder, name), 'wb') as file:
                    file.write(text)
