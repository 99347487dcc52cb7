"""Equality of mathematical answers: reading LaTeX, exact numbers, and algebra in a child process.

    LaTeX ─▶ tokens ─▶ Answer (sets, intervals, matrices, ...) ─▶ compare ─▶ verdict
                          └─ leaves are Nodes: exact where rational, else asked of the worker

Nothing here is ever evaluated as code, and this process never does algebra: what is not decided
by text or by exact fractions goes to a child process that can be killed.
"""
