"""Object storage behind one port: S3 for real, files for tests and first aid.

The only package that imports boto3.
"""
