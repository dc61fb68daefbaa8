"""One suite per port, run on every adapter and on the fake that other tests use."""
