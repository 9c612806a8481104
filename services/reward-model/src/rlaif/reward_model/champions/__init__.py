"""Published models: the registry, comparisons, and detection of reward hacking."""
