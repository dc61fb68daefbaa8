"""The kernel and the machine: processes, sockets' peers, file events, clocks."""
