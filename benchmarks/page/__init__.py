"""The budgets of the explorer page, measured in a real browser."""
