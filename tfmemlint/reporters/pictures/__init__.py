"""Pages with pictures: one HTML file that needs nothing beside it.

``charts`` draws with matplotlib, an extra of the package, into SVG whose colours are those of the page; ``page`` is the
page around them, light or dark as the reader's browser is.
"""
