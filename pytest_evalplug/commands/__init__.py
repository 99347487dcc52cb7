"""The subcommands of ``evalplug``: each a module with ``add_arguments`` and ``run``."""
