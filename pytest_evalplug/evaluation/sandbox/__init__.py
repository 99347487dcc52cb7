"""Running code that a model wrote, so that neither the run nor the verdict is in its hands.

*The verdict.* Test and program never share an interpreter. The test runs in one process, the
program in another that was split off before the test was there; calls and values cross by pipes
(``inside/``). A pass is decided and reported by the first, from plain values of exact types, after
at least one check of something that the program defines. Exits, printed marks, patched tools,
lying ``__eq__`` and searches of the program's own memory have nothing to get hold of.

*The run.* The strongest kind that works is used and named in the verdict:

- ``bwrap`` (bubblewrap) and ``namespaces``: own process, network, IPC and mount namespaces, of the
  file system only the system's libraries and Python, read-only, and a small ``/tmp`` in memory.
- ``rlimits``: no namespaces; limits, a system call filter, and Landlock where the kernel has it.

All have limits on time, memory, file size, processes and output, a system call filter (no
sockets, no ptrace, no mounts), no capabilities, an environment of PATH and LANG, no standard
input, and end with all their processes. Root's programs run as a user of their own.

*What remains possible.* A program sees the arguments that it is called with, and may answer these
alone. Where a test compares two objects of the program's own classes, or uses helpers that only
the program defines, it believes the program. A hole in the kernel leads out. Memory is limited per
process, not in all (the kernel is told to end these processes first). In ``rlimits`` without
Landlock a program can read what its user can, and write there unless root started the run; without
a filter for the machine (other than x86-64 and ARM64) it also has the network and can signal its
user's processes.

*What a test can't do here*: see what a program prints or patch its globals, since it is elsewhere.
"""

from pytest_evalplug.evaluation.sandbox.runner import Limits, Verdict, run, run_program

__all__ = ["Limits", "Verdict", "run", "run_program"]
