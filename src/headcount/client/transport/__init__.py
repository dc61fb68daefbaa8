"""HTTP/1.1 over the unix socket: connections, answers, event streams.

Enters: a request.
Leaves: a status, headers, a body; or a fault.
"""
