"""Skills: generator scripts that yield one button per base step and end with a result.

Both a planner's macros and a policy's decisions are skills with an argument, see `table`.
"""
