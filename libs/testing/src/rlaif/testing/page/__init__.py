"""The page in a browser: what it is shown, and what it says."""
