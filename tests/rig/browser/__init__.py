"""A real browser, and requests to the page's port without one."""
