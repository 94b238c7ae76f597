"""spamnb evaluate"""

from __future__ import annotations

import os
from typing import Any

import click

from ..errors import Usage
from .shared import both_classes, class_option, format_option, jobs_option, model_choice, model_option, named_classes

SWEEP, TEXT = "sweep", "text"  # what --threshold and --plot stand for when they stand alone


class OptionsAlone(click.Command):
    """Lets --threshold and --plot stand alone, wherever they stand."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        alone = {"--threshold": (is_number, SWEEP), "--plot": (is_picture, TEXT)}
        given = []
        for arg, after in zip(args, [*args[1:], ""], strict=False):
            takes, instead = alone.get(arg, (bool, ""))
            given.append(f"{arg}={instead}" if instead and not takes(after) else arg)
        return super().parse_args(ctx, given)


def is_number(text: str) -> bool:
    """Whether this is a number or NAME=C, or begins a list of them."""
    try:
        float(text.partition(",")[0].rpartition("=")[2])
    except ValueError:
        return False
    return True


def is_picture(text: str) -> bool:
    """Whether this names a file to be made, rather than an option or mail that is there."""
    new = bool(text) and not text.startswith("-") and not os.path.exists(text)
    return new or text.endswith((".svg", ".png"))


@click.command(cls=OptionsAlone)
@click.argument("mailboxes", nargs=-1, metavar="[HAM SPAM]")
@click.option("--ham", multiple=True, metavar="PATH", help="A mailbox of ham; may be repeated.")
@click.option("--spam", multiple=True, metavar="PATH", help="A mailbox of spam; may be repeated.")
@class_option
@click.option("--kinds", metavar="KIND,...|all", help="Compare several kinds on the same mail.")
@click.option("--learning-curve", is_flag=True, help="Error against the number of training messages.")
@click.option("--protocol", metavar="folds|loo|half|online", help="Who judges whom: folds; each message by all others; "
              "the later half by the earlier; each block by all mail before it.")  # fmt: skip
@click.option("--threshold", metavar="[C,...]", help="Judge at this c, or these; alone: try many and recommend one.")
@click.option("--max-ham-loss", metavar="PERCENT", type=click.FloatRange(0, 100),
              help="Ham that the recommended c may lose.  [default: 0.1]")  # fmt: skip
@click.option("--cost", metavar="HAM:SPAM", help="What a lost ham costs beside a missed spam: mean cost, best c.")
@click.option("--plot", metavar="[FILE]", help="Draw it all into FILE.svg or FILE.png; alone: as text.")
@click.option("--folds", type=click.IntRange(2), metavar="N", help="Folds of the cross-validation (without mail: 5).")
@click.option("--seed", type=click.IntRange(0), help="Which messages share a fold or a draw.  [default: 0]")
@model_choice
@format_option
@jobs_option
@model_option
def evaluate(
    mailboxes: tuple[str, ...], ham: tuple[str, ...], spam: tuple[str, ...], classes: tuple[str, ...], **options: Any
) -> int:
    """Measure the model on its own messages, by folds, or on the mail in HAM and SPAM; or compare kinds of model.

    Mail that is named is judged by the model, unless --kinds, --learning-curve, --protocol or --folds ask for models
    of that very mail. Classes that you have named (--class) are shown by who is taken for whom.
    """
    from .named import evaluate_named, is_named

    if classes and (mailboxes or ham or spam):
        raise Usage("--class names all mail of all classes; give ham and spam as classes, too: --class ham=PATH")
    if classes or (not (mailboxes or ham or spam) and is_named(options["model"])):
        return evaluate_named(named_classes(classes), options)
    from .asked import asked_for
    from .compared import measured, show

    mail = both_classes(mailboxes, ham, spam) if mailboxes or ham or spam else ([], [])
    asked = asked_for(mail, options)
    status, findings = measured(asked)
    show(asked, findings)
    return status
