"""The daemon: the composition root, the one loop with state, the HTTP edge.

Enters: kernel events, hook reports, agents' files, requests.
Leaves: stored events, answers, streams, notifications.
"""
