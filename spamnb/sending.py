"""When a message was sent, by its own headers; the mail is read for nothing else."""

from __future__ import annotations

from collections.abc import Iterable

from .mailbox import LeftOut, Unit, messages
from .original import Original

EARLIEST = 378_691_200  # 1982, the year of RFC 822; a clock that shows less was never set


def sent(headers: Iterable[tuple[str, str]]) -> int | None:
    """Seconds since 1970 by the newest Received header that has a date, or else by Date; names are in lower case.

    The newest Received stands on top and is the reader's own server's word; Date is the sender's.
    """
    dates: dict[str, list[str]] = {"received": [], "date": []}
    for name, value in headers:
        if name in dates:
            dates[name].append(value.rpartition(";")[2])
    found = (seconds(text) for text in [*dates["received"], *dates["date"]])
    return next((when for when in found if when is not None), None)


def seconds(text: str) -> int | None:
    """A date as mail writes it; None where it is damaged. A date without a zone is one of Greenwich."""
    from datetime import UTC
    from email.utils import parsedate_to_datetime

    try:
        when = parsedate_to_datetime(" ".join(text.split()))
        found = int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp())
    except (ValueError, TypeError, IndexError, OverflowError):  # what strange dates raise differs by Python's version
        return None
    return found if found >= EARLIEST else None


def sent_units(units: list[Unit]) -> list[tuple[str, int | None]]:
    """The digest and the date of each message in some mail, in order. Runs in a worker."""
    unread = LeftOut()  # whoever counted this mail has told
    originals = (Original(mail.raw) for unit in units for mail in messages(unit, unread))
    return [(original.digest(), sent(plain_headers(original))) for original in originals]


def plain_headers(original: Original) -> list[tuple[str, str]]:
    """The headers of a message, not decoded."""
    return [(name.decode("ascii").lower(), value.decode("latin-1")) for name, value in original.headers]
