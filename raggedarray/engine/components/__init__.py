"""Components of different shapes worked on together: as stacks, exact or padded to a few shapes."""
