"""The marks without which a file of Python has no examples in its docstrings: most files need no reader of them."""

import re

may_have_examples = re.compile(r">>>|```|~~~|::|(?:[Ee]xample|[Uu]sage).*:").search
"""Return a match if the docstrings in a text may have examples."""
