"""`python -m optrack` is the command line."""

import sys

from optrack.cli import main

sys.exit(main())
