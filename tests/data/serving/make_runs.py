"""Writes runs.txt: request streams through a scheduler that was written from the rules alone, in the plainest way.

python make_runs.py. Line: BATCHING MAX_SEQS BUDGET BLOCK POOL POLICY | ARRIVAL:PROMPT:OUTPUT:PRIORITY ... | STEPS PREEMPTIONS
DISCARDED PEAK | FIRST ... | DONE ..."""

import random

rng = random.Random(20261130)


def blocks(tokens, size):
    return -(-tokens // size)


def continuous(requests, seats, budget_all, size, pool, policy):
    jobs = [dict(id=i, arrival=a, prompt=p, output=o, priority=q, computed=0, out=0, held=0) for i, (a, p, o, q) in enumerate(requests)]
    ahead = sorted(jobs, key=lambda j: (j["arrival"], j["id"]))
    order = {j["id"]: place for place, j in enumerate(ahead)}
    waiting, running, step, steps = [], [], 0, 0
    first, done = {}, {}
    preemptions = discarded = peak = 0
    while ahead or waiting or running:
        while ahead and ahead[0]["arrival"] <= step:
            waiting.append(ahead.pop(0))
        if not waiting and not running:
            step = ahead[0]["arrival"]
            continue
        step += 1
        steps += 1
        budget, plan, calm = budget_all, {}, True

        def free():
            return pool - sum(j["held"] for j in jobs)

        queue = list(running)
        for job in queue:
            if budget == 0:
                break
            if job not in running:
                continue
            n = min(job["prompt"] + job["out"] - job["computed"], budget)
            gone = False
            while blocks(job["computed"] + n, size) - job["held"] > free():
                if policy == "fcfs":
                    victim = running[-1]
                else:
                    victim = max(running, key=lambda j: (j["priority"], order[j["id"]]))
                running.remove(victim)
                budget += plan.pop(victim["id"], 0)
                discarded += victim["computed"]
                victim["held"] = victim["computed"] = 0
                waiting.insert(0, victim)
                preemptions += 1
                calm = False
                if victim is job:
                    gone = True
                    break
            if gone:
                break
            job["held"] = blocks(job["computed"] + n, size)
            plan[job["id"]] = n
            budget -= n
        if calm:
            if policy == "priority":
                waiting.sort(key=lambda j: (j["priority"], order[j["id"]]))
            while waiting and len(running) < seats and budget > 0:
                job = waiting[0]
                n = min(job["prompt"] + job["out"], budget)
                if blocks(n, size) > free():
                    break
                waiting.pop(0)
                running.append(job)
                job["held"] = blocks(n, size)
                plan[job["id"]] = n
                budget -= n
        peak = max(peak, pool - free())
        for job in list(running):
            n = plan.get(job["id"], 0)
            job["computed"] += n
            if n and job["computed"] == job["prompt"] + job["out"]:
                job["out"] += 1
                first.setdefault(job["id"], step)
                if job["out"] == job["output"]:
                    done[job["id"]] = step
                    running.remove(job)
                    job["held"] = 0
    return steps, preemptions, discarded, peak, first, done


lines = ["# see make_runs.py"]
while len(lines) < 81:
    size = rng.choice([1, 2, 4, 8, 16])
    requests = [(rng.choice([0, 0, rng.randrange(20)]), rng.randint(1, 40), rng.randint(1, 20), rng.randint(-1, 1)) for _ in range(rng.randint(1, 12))]
    least = max(blocks(p + o - 1, size) for _, p, o, _ in requests)
    pool = least + rng.randint(0, max(2, 40 // size))
    seats, budget, policy = rng.randint(1, 8), rng.randint(1, 64), rng.choice(["fcfs", "priority"])
    steps, preemptions, discarded, peak, first, done = continuous(requests, seats, budget, size, pool, policy)
    stream = " ".join(f"{a}:{p}:{o}:{q}" for a, p, o, q in requests)
    listed = lambda of: " ".join(str(of[i]) for i in range(len(requests)))
    lines.append(f"{seats} {budget} {size} {pool} {policy} | {stream} | {steps} {preemptions} {discarded} {peak} | {listed(first)} | {listed(done)}")
with open("runs.txt", "w") as file:
    file.write("\n".join(lines) + "\n")
