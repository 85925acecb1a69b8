# SPDX-License-Identifier: MIT
"""hosts/h2o/example_config.c: a program over libh2o-evloop that registers Terse by itself, with the
configuration of stock h2o."""
import os

from h2o import CGI, H2O
from server import Server

LEAKS_OF_H2O = [  # of its functions; the library has no more to tell them by
    'h2o_configurator_define_headers_commands',  # names of commands
    'h2o_headers_append_command',  # what header.add says of a path
    'h2o_mimemap_clone',  # of paths that have handlers of their own
    'h2o_strdup',  # origins' names
    'h2o_vector__expand',  # the status handler's list of threads
]
LEAKS_OF_ITS_THREADS = [
    'h2o_mem_alloc_recycle',  # what a thread has kept for later goes with it
]


class LibH2O(H2O):
    name = 'libh2o'
    binary = CGI  # what comes with the stock server and cases need
    module_built = 'hosts/h2o/terse-h2o-config-example'
    unknown_settings = ('user', 'error-log')  # of the stock server's main program
    lacks = {
        **H2O.lacks,
        'reload': 'no master process, and the program reads its configuration once',
        'other-user': 'the program stays the user who started it',
        'try': 'hosts/try starts servers that are installed',
    }

    def environment(self):
        """Nothing is preloaded: a sanitizer is linked in, and the helpers of CGI go without.  Its
        end is its own, so leaks are searched for."""
        env = Server.environment(self)
        env.pop('LD_PRELOAD', None)
        leaks = LEAKS_OF_H2O + (LEAKS_OF_ITS_THREADS if self.site.workers > 1 else [])
        with open(self._file('leaks'), 'w', encoding='ascii') as file:
            file.writelines(f'leak:{function}\n' for function in leaks)
        # the library has no frame pointers: the functions above would not be seen
        env['ASAN_OPTIONS'] = env.get('ASAN_OPTIONS', '') + ':fast_unwind_on_malloc=0'
        env['LSAN_OPTIONS'] = f'exitcode=99:print_suppressions=0:suppressions={file.name}'
        return env

    def _command(self, *flags):
        program = os.path.join(self.built.build, self.module_built)
        return [program, *flags, '-c', self._file('h2o.conf')]

    def command(self):
        return self._command()

    def check_command(self):
        return self._command('-t')

    def binaries(self):
        return [self.command()[0], os.path.join(self.built.build, H2O.module_built)]
