"""The object store: S3 or a folder."""
