"""What the cells of a column are: numbers, dates, levels, lists, roles."""
