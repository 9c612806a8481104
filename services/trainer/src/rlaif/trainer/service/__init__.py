"""The service: runs and their processes, uploads, the champion, REST. Independent of the game."""
