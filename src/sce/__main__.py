"""`python -m sce` is `sce`."""

import sys

from sce.cli import main

sys.exit(main())
