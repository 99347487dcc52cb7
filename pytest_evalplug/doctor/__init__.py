"""What stands in the way of an evaluation on this machine: the checks of ``evalplug doctor``."""
