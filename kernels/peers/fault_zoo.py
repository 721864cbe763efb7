"""Every fault of fault_zoo.cu under every checker of compute-sanitizer; what each said, as text.

    python3 fault_zoo.py FOLDER

Writes FOLDER/FAULT.TOOL.txt, and FOLDER/matrix.txt: the summary of each, and what the program says without a checker.
"""

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

FAULTS = ["none", "out_of_bounds", "misaligned", "shared_race", "global_race", "uninitialised", "divergent_barrier", "two_barriers",
          "syncwarp_mask", "past_shared", "double_free", "use_after_free", "leak", "inside_a_pool"]
TOOLS = {"memcheck": ["--leak-check", "full"], "racecheck": [], "initcheck": [], "synccheck": []}
HANGS = "two_barriers"
HERE = os.path.dirname(os.path.abspath(__file__))


def said(command, limit=60):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
        return done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        return "the program did not end\n"


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        program = os.path.join(place, "fault_zoo")
        subprocess.run(["nvcc", "-lineinfo", "-arch=native", "-o", program, "fault_zoo.cu"], check=True, cwd=HERE)

        def check(pair):
            fault, tool = pair
            few = [] if tool == "initcheck" else ["--print-limit", "4"]
            command = ["compute-sanitizer", *few, "--tool", tool, *TOOLS[tool], program, fault]
            text = said(command, 12 if fault == HANGS else 60)
            text = text.replace(place + "/", "").replace(HERE + "/", "")
            with open(os.path.join(folder, f"{fault}.{tool}.txt"), "w") as out:
                out.write(text)
            return f"{fault} {tool} {summary(text)}"

        pairs = [(fault, tool) for fault in FAULTS for tool in TOOLS]
        with ThreadPoolExecutor(12) as workers:
            lines = list(workers.map(check, [pair for pair in pairs if pair[0] != HANGS]))
        # Alone: while it hangs, others wait for the card.
        lines += [check(pair) for pair in pairs if pair[0] == HANGS]
        alone = [f"{fault} plain {said([program, fault], 12).strip()}" for fault in FAULTS]
        with open(os.path.join(folder, "matrix.txt"), "w") as out:
            out.write("\n".join(alone + lines) + "\n")


def summary(text):
    """The last line that sums up; a run without one did not end."""
    lines = [line.lstrip("= ") for line in text.splitlines() if "SUMMARY" in line]
    return "; ".join(lines) or text.strip().splitlines()[-1]


if __name__ == "__main__":
    main()
