"""`nephila completion`: the script that makes a shell complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of a shell.

    \b
    bash:  nephila completion bash > ~/.local/share/bash-completion/completions/nephila
    zsh:   nephila completion zsh > "${fpath[1]}/_nephila"
    fish:  nephila completion fish > ~/.config/fish/completions/nephila.fish
    """
    from nephila.cli.commands import nephila

    completion = get_completion_class(shell)
    assert completion is not None, shell
    click.echo(completion(nephila, {}, "nephila", "_NEPHILA_COMPLETE").source())
