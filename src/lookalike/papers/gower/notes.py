"""Sentences about the figures, apart from the code that makes them.

Figures are kept under the text of the module that makes them: a sentence that is put better must
not make them again.
"""

TABLE1 = ""
TABLE1_CAUSES: dict[tuple[str, str], str] = {}
EXAMPLE = ""
TABLE3 = ""
LOWER = ""
STILL = ""
LEARNERS = ""
NO_LOSS = ""
AUDIOLOGY = ""
READINGS = ""
READING = ""
NOT_CLOSE = ""
WEIGHTS_NEAR = ""
WEIGHTS_LEARN = ""
OUTLOOK_PAIRS = ""
OUTLOOK_IMPORTANCE = ""
LAYERS = ""
POWERS = ""
POWERS_MILD = ""
POWERS_CREDIT = ""
CLOSURE = ""
