"""What all tests share: ways to run an op, what runs by day, and how many compiled programs are kept."""
