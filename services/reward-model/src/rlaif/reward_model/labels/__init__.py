"""From score objects to labels, pairs and their split."""
