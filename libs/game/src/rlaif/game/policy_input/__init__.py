"""What a policy sees of a moment beside the 128 numbers: RAM in, one row of numbers out."""
