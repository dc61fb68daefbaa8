"""What a route is: its call, its permissions, its OpenAPI document.

Enters: a checked request and its caller.
Leaves: a typed call for a handler, or a refusal.
"""
