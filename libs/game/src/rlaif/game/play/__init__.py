"""`rlaif-game play`: manual play in a window, with recording and replay."""
