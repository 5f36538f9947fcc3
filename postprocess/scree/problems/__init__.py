"""Friction problems made from a size and a seed, as FCLIB files: what `scree_replay --generate` writes, but for the family `pile`, and
what tests and benchmarks of solvers take. All have a solution, and the table of src/replay/generated_problems.cpp says why.

All are one step of dt = 0.01 s under gravity g = 9.81 m/s2 along the last axis. Except in `manufactured` and `ill_conditioned`, bodies
start from rest unless the table says otherwise, and contacts touch and have no bias. So v = 0 keeps every contact from closing further,
and that is enough for a solution to exist (Acary, Cadoux, Lemarechal, Malick, ZAMM 91, 2011); where the bodies stand, v = 0 is the
solution.
"""
