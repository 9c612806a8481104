"""The service: runs and their processes, uploads, the champion, REST. Knows no game."""
