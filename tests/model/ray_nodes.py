"""A Ray cluster of two nodes on this machine, in a process of its own.

Prints its address; ``kill`` on standard input ends the second node the hard way, the end of input
both.
"""

from __future__ import annotations

import sys

from ray.cluster_utils import Cluster

cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
second = cluster.add_node(num_cpus=1)
print(cluster.address, flush=True)
for line in sys.stdin:
    assert line == "kill\n"
    cluster.remove_node(second, allow_graceful=False)
cluster.shutdown()
