"""``make nightly``: every cell of every test, in parts, one after another; ``make nightly PART=3`` runs one.

Each part is a pytest of its own with a limit of time: where one hangs or a worker of it is lost, its processes are
ended, it counts as failed, and the next one runs. What no part lists is of the last.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
PARTS: dict[str, tuple[str, ...]] = {
    "conformance": ("tests/conformance",),
    "reductions and elementwise": ("tests/test_matrix.py",),
    "blocks": ("tests/test_blocks.py", "tests/test_block_indexing.py", "tests/test_block_joining.py"),
    "sorting and scans": ("tests/test_sorting.py", "tests/test_scan.py", "tests/test_counts.py"),
    "indexing and moves": ("tests/test_indexing.py", "tests/test_manipulation.py", "tests/test_broadcasting.py"),
    "integer arguments": ("tests/test_integer_arguments.py",),
    "recipes": ("tests/test_nested_coverage.py", "tests/test_no_rows.py"),
    "second derivatives": ("tests/test_second_derivatives.py",),
    "vmap": ("tests/test_vmap_grad.py",),
    "devices": ("tests/test_devices.py",),
    "overflow and slack": ("tests/test_overflow.py", "tests/test_slack_nans.py", "tests/test_half_dtypes.py"),
    "the standard": ("tests/test_namespace.py", "tests/test_properties.py"),
    "all else": (),
}
"""What is run together, by file: no part takes more than half an hour on two cores."""
LIMIT = 30 * 60
OPTIONS = ("--numprocesses=auto", "--dist=worksteal", "--max-worker-restart=0", "--quiet", "--run-nightly")


def files(name: str) -> list[str]:
    """The paths of a part."""
    if PARTS[name]:
        return list(PARTS[name])
    listed = {ROOT / path for paths in PARTS.values() for path in paths}
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    return ["raggedarray", *(str(p.relative_to(ROOT)) for p in tests if not listed & {p, *p.parents})]


def run(name: str) -> str:
    """Run a part; what came of it, ``passed`` or other words."""
    command = [sys.executable, "-m", "pytest", *OPTIONS, *files(name)]
    with subprocess.Popen(command, cwd=ROOT, start_new_session=True) as process:
        try:
            code = process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            end(process.pid)
    return "passed" if code == 0 else f"not done after {LIMIT // 60} minutes" if code is None else f"failed ({code})"


def end(group: int) -> None:
    """End what is left of a group of processes: workers outlive a run that is stuck."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return


def main(chosen: str) -> int:
    names = [list(PARTS)[int(chosen) - 1]] if chosen else list(PARTS)
    report = {}
    for name in names:
        print(f"== {name}", flush=True)
        start = time.monotonic()
        report[name] = (run(name), (time.monotonic() - start) / 60)
    for name, (outcome, minutes) in report.items():
        print(f"{list(PARTS).index(name) + 1:3} {minutes:6.1f} min  {name}: {outcome}")
    return int(any(outcome != "passed" for outcome, _ in report.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
