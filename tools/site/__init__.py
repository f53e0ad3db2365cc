"""The site: how Sphinx makes it from the pages in ``docs``."""
