"""Python client: `rlaif.client.Run("current").history()` is a DataFrame of a run's curves."""

from rlaif.client.rest import ClientError
from rlaif.client.run import Run

__all__ = ["ClientError", "Run"]
