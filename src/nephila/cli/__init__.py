"""The command line: words in, a room's front door called, a report out as text or JSON.

A command lives in a module of its own that is imported only when the command is run, so that `nephila --help`
answers at once. What a user did wrong comes back as one sentence on standard error and an exit code: 0 done,
1 failed, 2 wrong usage, 3 disk full, 4 folder in use, 5 damaged, 130 interrupted and resumable.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> None:
    """The console script: runs one command and exits with its code."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """One command; returns its exit code instead of leaving the process."""
    import click

    from nephila.cli.commands import nephila
    from nephila.errors import NephilaError

    try:
        code = nephila.main(args=arguments, prog_name="nephila", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except NephilaError as error:
        from nephila.cli.output import complain

        complain(str(error))
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("nephila: interrupted; the same command goes on from here.", err=True)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone, as in `nephila … | head`
        sys.stderr.close()
        return 0
    return code if isinstance(code, int) else 0
