"""Films of a run's best episodes, made by replay after they were played."""
