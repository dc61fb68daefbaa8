"""`python -m headcount` is the command line.

Not here: anything else (cli/main.py).
"""

import sys

from headcount.cli.main import main

sys.exit(main())
