# SPDX-License-Identifier: MIT
"""What was built, laid out for servers as an installation would: copies, so that who owns the
checkout, and who may read it, does not matter."""
import glob
import os
import re
import shutil
import subprocess
import tempfile

TSAN_SUPPRESSIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'tsan.supp')
STOCK_LIGHTTPD_MODULES = '/usr/lib/lighttpd'


class Built:
    def __init__(self, build, folder, preload='', libh2o='', threads=1):
        self.build, self.folder, self.preload = build, folder, preload
        self.libh2o, self.threads = libh2o, threads
        self.reports = os.path.join(folder, 'sanitizer')
        os.makedirs(self.reports)
        os.chmod(self.reports, 0o1777)  # the server has become somebody else when it reports
        self.cli = self._copy('hosts/cli/terse', 'bin')
        self.plugin_folder = os.path.join(folder, 'plugin')
        self.plugin = self.link_plugin(self._copy('plugin/terse.so', 'plugin/built'))
        self.mocks = {os.path.basename(path): path for path in
                      (self._copy(os.path.relpath(mock, build), 'mock') for mock in
                       sorted(glob.glob(os.path.join(build, 'tests/mock/*.so'))))}
        self.lighttpd_modules = self._lighttpd_modules()
        self.h2o_preload = self._h2o_preload()

    def _copy(self, name, into):
        target = os.path.join(self.folder, into)
        os.makedirs(target, exist_ok=True)
        return shutil.copy(os.path.join(self.build, name), target)

    def link_plugin(self, versioned, name='terse.so'):
        """Points the link that configurations name at a plugin file, in one step."""
        link, fresh = (os.path.join(self.plugin_folder, n) for n in (name, name + '.new'))
        os.symlink(versioned, fresh)
        os.replace(fresh, link)
        return link

    def _lighttpd_modules(self):
        folder = os.path.join(self.folder, 'lighttpd')
        os.makedirs(folder)
        for module in glob.glob(os.path.join(STOCK_LIGHTTPD_MODULES, '*.so')):
            os.symlink(module, os.path.join(folder, os.path.basename(module)))
        mine = os.path.join(self.build, 'hosts/lighttpd/mod_terse.so')
        if not os.path.exists(mine):
            return folder
        target = os.path.join(folder, 'mod_terse.so')
        if os.path.lexists(target):
            os.unlink(target)
        shutil.copy(mine, target)
        return folder

    def _h2o_preload(self):
        """The file to preload, with the shim beside it; '' when the build has none."""
        names = ['hosts/h2o/terse-h2o.so', 'hosts/h2o/terse-h2o-preload.so']
        if not all(os.path.exists(os.path.join(self.build, name)) for name in names):
            return ''
        return [self._copy(name, 'h2o') for name in names][-1]

    @property
    def preload_environment(self):
        """For a server whose own build knows no sanitizer."""
        log = os.path.join(self.reports, 'report')
        if self.libh2o:
            return {
                'LD_LIBRARY_PATH': self.libh2o,
                'TSAN_OPTIONS': f'log_path={log}:exitcode=99:suppressions={TSAN_SUPPRESSIONS}',
            }
        if not self.preload:
            return {}
        return {
            'LD_PRELOAD': self.preload,
            'ASAN_OPTIONS': f'log_path={log}:exitcode=99:detect_stack_use_after_return=1',
            'LSAN_OPTIONS': 'exitcode=99',
            'UBSAN_OPTIONS': f'log_path={log}:print_stacktrace=1',
        }

    def sanitizer_reports(self):
        """What sanitizers have said since the last call."""
        said = []
        for path in glob.glob(os.path.join(self.reports, 'report.*')):
            with open(path, encoding='utf-8', errors='replace') as report:
                said.append(report.read())
            os.unlink(path)
        return '\n'.join(said)

    def terse(self, *args, **kwargs):
        """Runs the command line tool with the plugin that was built."""
        kwargs.setdefault('timeout', 30)
        env = {'PATH': '/usr/bin:/bin', 'LC_ALL': 'C'}
        return subprocess.run([self.cli, *args], env=env, capture_output=True, text=True,
                              check=False, **kwargs)

    def info(self, plugin=None):
        done = self.terse('info', '--plugin', plugin or self.plugin)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def version(self, plugin=None):
        """The version that `terse info` shows for a plugin."""
        return re.search(r'^plugin\W+(\S+)', self.info(plugin), re.M).group(1)

    def explain(self, method, request, status, response, body, version='HTTP/1.1'):
        """(coding, reason) that `terse explain` gives for these facts."""
        args = ['explain', '--plugin', self.plugin, '--method', method,
                '--http', version.removeprefix('HTTP/'), '--status', str(status)]
        for name, value in request:
            args += ['--request-header', f'{name}: {value}']
        for name, value in response:
            args += ['--response-header', f'{name}: {value}']
        with tempfile.NamedTemporaryFile() as file:
            file.write(body)
            file.flush()
            done = self.terse(*args, *(['--file', file.name] if body else ['--length', '0']))
        assert done.returncode == 0, done.stderr
        return tuple(re.search(rf'^{name} +(\S+)$', done.stdout, re.M).group(1)
                     for name in ('coding', 'reason'))
