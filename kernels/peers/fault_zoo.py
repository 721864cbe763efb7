"""Every fault of fault_zoo.cu under every checker of compute-sanitizer; what each said, as text.

    python3 fault_zoo.py FOLDER

Writes FOLDER/FAULT.TOOL.txt, and FOLDER/alone.txt: what the program says of itself without a checker.
"""

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

FAULTS = ["none", "out_of_bounds", "misaligned", "shared_race", "global_race", "uninitialised", "divergent_barrier", "past_shared",
          "double_free", "use_after_free", "leak", "inside_a_pool"]
TOOLS = {"memcheck": ["--leak-check", "full"], "racecheck": [], "initcheck": [], "synccheck": []}
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
            text = said(["compute-sanitizer", "--tool", tool, *TOOLS[tool], program, fault])
            with open(os.path.join(folder, f"{fault}.{tool}.txt"), "w") as out:
                out.write(text.replace(place + "/", "").replace(HERE + "/", ""))

        with ThreadPoolExecutor(6) as workers:
            list(workers.map(check, [(fault, tool) for fault in FAULTS for tool in TOOLS]))
        with open(os.path.join(folder, "alone.txt"), "w") as out:
            for fault in FAULTS:
                out.write(f"{fault}: {said([program, fault])}")


if __name__ == "__main__":
    main()
