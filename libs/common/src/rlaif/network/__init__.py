"""Facts about network addresses that need no network.

Knows no library and no service.
"""
