"""spamnb train"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..errors import Usage
from ..naive import NEVER
from ..notices import tell, warn
from .shared import both_classes, class_option, jobs_option, model_choice, model_option, named_classes, settled

if TYPE_CHECKING:
    from ..scorecard import Scorecard


@click.command()
@click.argument("mailboxes", nargs=-1, metavar="[HAM SPAM]")
@click.option("--ham", multiple=True, metavar="PATH", help="A mailbox of ham; may be repeated.")
@click.option("--spam", multiple=True, metavar="PATH", help="A mailbox of spam; may be repeated.")
@class_option
@click.option("--unlabelled", multiple=True, metavar="PATH", help="Mail of unknown class, for --kind em.")
@model_choice
@click.option("--contacts", metavar="FILE", help="A file with the addresses of people you know.")
@click.option("--replace", is_flag=True, help="Even if lessons learned since the last training are lost.")
@jobs_option
@model_option
def train(
    mailboxes: tuple[str, ...],
    ham: tuple[str, ...],
    spam: tuple[str, ...],
    classes: tuple[str, ...],
    unlabelled: tuple[str, ...],
    replace: bool,
    **options: Any,
) -> int:
    """Fit a model on mailboxes of any kind: mbox, maildir, MH, folders, files."""
    from .. import report, training
    from ..models import SEVERAL
    from ..store import Store

    if options["unlabelled_weight"] and not unlabelled:
        raise Usage("--unlabelled-weight weighs unlabelled mail; name some with --unlabelled PATH")
    mail = mail_of_classes(mailboxes, ham, spam, classes)
    settings = settled(**options)
    if classes and settings.kind == "corrected" and not options["kind"]:
        settings = settings._replace(kind="multinomial")
    choice = training.choice_of(settings, several=bool(classes), unlabelled=bool(unlabelled))
    with report.progress("reading mail") as progress:
        trained = training.train(
            Store(settings.model), mail, choice, unlabelled, overwrite=replace, jobs=settings.jobs, progress=progress
        )
    report.show_trained(trained, settings.model)
    if trained.card.alpha == 0 and trained.card.kind in SEVERAL:
        tell(f"nothing is smoothed: {one_sided(trained.card)}; any of them outweighs all other words together")
    for name in trained.gathered.contradictions:
        tell(f"{name}: is in {'several' if classes else 'both'} classes; left out")
    return warn(trained.gathered.left_out)


def mail_of_classes(
    mailboxes: tuple[str, ...], ham: tuple[str, ...], spam: tuple[str, ...], classes: tuple[str, ...]
) -> dict[str, list[str]]:
    """The mailboxes of ham and spam, or of the classes that the user names."""
    if not classes:
        hams, spams = both_classes(mailboxes, ham, spam)
        return {"ham": hams, "spam": spams}
    if mailboxes or ham or spam:
        raise Usage("--class names all mail of all classes; give ham and spam as classes, too: --class ham=PATH")
    return named_classes(classes)


def one_sided(card: Scorecard) -> str:
    """How many words a class has never shown, which without smoothing makes it impossible."""
    import numpy as np

    if card.classes == ("ham", "spam"):
        missing = (np.asarray(card.tables["ham"]) == 0) | (np.asarray(card.tables["spam"]) == 0)
    else:
        missing = np.any([np.asarray(column.weights) < NEVER / 2 for column in card.columns], axis=0)
    return f"{int(missing.sum()):,} of {card.words:,} words are missing in a class"
