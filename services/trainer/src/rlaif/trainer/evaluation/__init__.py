"""Evaluation of a frozen policy: play episodes, write one result file, show or film them."""
