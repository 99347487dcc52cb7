"""What runs inside the sandbox: plain modules that import nothing of the package around them.

Two processes that share no memory do the work. The *checker* runs the test, the *program* process
runs what a model wrote, and they exchange calls and values over two pipes (peer.py, codec.py).
Values arrive in the checker as plain Python objects, so what is compared, and with what, is out of
the program's reach.

Each execution starts an interpreter, so these modules import little when they run: ``typing``,
``signal`` and ``threading`` (for type checkers only, or by their C halves) would double the time.
"""
