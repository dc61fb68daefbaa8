"""Long faults: the promises under hours of what rarely happens, with a seed to repeat it."""
