"""What 10^8 and 10^10 rows would cost: measured constants, a model, and a simulation."""
