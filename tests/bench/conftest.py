# SPDX-License-Identifier: MIT
"""The option of the benchmark's own test."""


def pytest_addoption(parser):
    try:
        parser.addoption('--build', default='', help='build folder to measure')
    except ValueError:
        pass  # the host suite has it too
