"""The command line, a thin face: options in, library calls, words out. Nothing else imports it."""
