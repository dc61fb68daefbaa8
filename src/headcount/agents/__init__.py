"""The agents' adapters: what each agent's processes, hooks and files look like, in headcount's own words."""
