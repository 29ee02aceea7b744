# SPDX-License-Identifier: MIT
"""Half a second of Python: integers, JSON, regular expressions, sorting."""
import json, re
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps
print(max(collatz(n) for n in range(1, 40000)))
text = json.dumps([{"key": i, "text": "x" * (i % 50)} for i in range(30000)])
print(len(json.loads(text)), len(re.findall(r"x+", text)))
print(sum(sorted(hash(str(i)) % 1000 for i in range(300000))) > 0)
