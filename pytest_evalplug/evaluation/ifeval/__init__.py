"""IFEval: the 25 verifiable instructions of Zhou et al. 2023, arXiv:2311.07911.

One module for each family of instructions, named as in the dataset, with one function for each
instruction. Results equal lm-evaluation-harness 0.4.13's task ``ifeval`` (the authors' code) with
NLTK 3.10.4, but that nothing is drawn at random, no reply is an error, and time is linear.
"""
