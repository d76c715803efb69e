"""`python -m sce` is `sce`."""

import sys

from sce.cli.main import main

sys.exit(main())
