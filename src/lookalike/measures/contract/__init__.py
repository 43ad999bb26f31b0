"""What every measure has: the base class, rows, traits, explanations."""
