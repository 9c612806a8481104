"""Asks the judges for one segment and puts their answers together."""
