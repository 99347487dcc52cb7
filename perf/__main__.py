"""All figures, one script after another; what cannot be measured here says why.

    python -m perf [SCRIPT ...]

Takes a few hours on two cores, most of them the peers'. Leave the machine alone meanwhile.
"""

from __future__ import annotations

import subprocess
import sys

SCRIPTS = {
    "startup": (),
    "items": ("1000", "10000"),
    "gsm8k_run": (),
    "throughput": ("--throughput",),
    "rescore": (),
    "viewer": (),
    "scaling": (),
    "scale": (),
    "memory": ("20000",),
    "api_client": (),
    "likelihood": (),
    "generation": (),
}
"""Name -> arguments; the script is of the same name unless ``MODULES`` says otherwise."""
MODULES = {"throughput": "gsm8k_run"}


def main() -> None:
    """Run the scripts that are named, or all."""
    names = sys.argv[1:] or [*SCRIPTS]
    if unknown := [name for name in names if name not in SCRIPTS]:
        sys.exit(f"unknown: {', '.join(unknown)}; there are {', '.join(SCRIPTS)}")
    failed = []
    for name in names:
        command = [sys.executable, "-m", f"perf.{MODULES.get(name, name)}", *SCRIPTS[name]]
        if subprocess.run(command, check=False).returncode:
            failed.append(name)
    if failed:
        sys.exit(f"not measured: {', '.join(failed)}")


if __name__ == "__main__":
    main()
