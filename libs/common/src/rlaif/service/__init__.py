"""The shell around every service: settings, command line, web app, health, metrics, errors, logs.

The only package of the shared library that imports fastapi and uvicorn.
"""
