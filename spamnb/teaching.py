"""Teach a scorecard one message at a time, with the standard library alone.

Counts are exact at once, and so are the naive Bayes weights of the message's own words and the offset that all words
share; logistic weights take one gradient step. Of a model that depends on all messages in another way only the classes
of messages are kept up to date, until it is fitted. What a lesson changes stands in the scorecard's later rows.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from math import exp, nan

from .naive import evidence, informative, shared_offset, threshold_offset
from .scorecard import FORGOTTEN, Column, Scorecard
from .tokens import ENVELOPE_BIT, known_token, token_id

RATE = 0.5  # of the logistic step: how far a message that surprises moves its own score


def teach(card: Scorecard, digest: int, label: int | None, counts: Mapping[str, int], sender: int) -> None:
    """Learn a message as ham (0) or spam (1), move it from another class, or forget it (None)."""
    before = card.learned_as(digest)
    if before == label:
        return
    if not card.teachable:  # heard after the next fit
        card.later_classes[digest] = FORGOTTEN if label is None else label
        return
    loosen(card)
    numbers = {token_id(token): 1 if card.binary else count for token, count in counts.items()}
    if before is not None:
        count_message(card, numbers, sender, before, -1)
    if label is not None:
        count_message(card, numbers, sender, label, +1)
    card.later_classes[digest] = FORGOTTEN if label is None else label
    weigh(card, list(numbers))
    if label is not None:
        for column in card.columns:
            if not column.naive:
                step(card, column, list(numbers), label)


def loosen(card: Scorecard) -> None:
    """Make the later rows writable, if they are still those of a file."""
    if not isinstance(card.later_counts[0], array):
        card.later_counts = array("I", card.later_counts[0]), array("I", card.later_counts[1])
        for column in card.columns:
            column.later = array("d", column.later)


def touched(card: Scorecard, number: int) -> int:
    """The later row of a token, made now if need be, by its place among the later rows."""
    row = card.row(number)
    if row >= card.base_rows:
        return row - card.base_rows
    ham, spam = card.counts(row) if row >= 0 else (0, 0)
    place = len(card.later_rows)
    card.later_rows[number] = card.base_rows + place
    card.later_counts[0].append(ham)
    card.later_counts[1].append(spam)
    for column in card.columns:
        column.later.append(column.weight(row, card.base_rows) if row >= 0 else nan)
    return place


def count_message(card: Scorecard, numbers: Mapping[int, int], sender: int, label: int, sign: int) -> None:
    """Add a message to the counts of a class, or take it out again."""
    add_counts(card, numbers, label, sign)
    messages = list(card.messages)
    messages[label] += sign
    card.messages = messages[0], messages[1]
    if sender:
        before = card.sender_counts(sender)
        after = (max(before[0] + sign, 0), before[1]) if label == 0 else (before[0], max(before[1] + sign, 0))
        card.later_senders[sender] = after
        count_sender(card, card.is_contact(sender), before, -1)
        count_sender(card, card.is_contact(sender), after, +1)


def add_counts(card: Scorecard, numbers: Mapping[int, int], label: int, sign: int) -> None:
    """Add to the counts of tokens in a class; no count falls below 0, should a copy differ from what was learned."""
    totals = list(card.totals)
    for number, count in numbers.items():
        place = touched(card, number)
        table = card.later_counts[label]
        unseen = not (card.later_counts[0][place] or card.later_counts[1][place])
        change = max(sign * count, -table[place])
        table[place] += change
        totals[label] += change
        card.words += unseen - (not (card.later_counts[0][place] or card.later_counts[1][place]))
    card.totals = totals[0], totals[1]


def count_sender(card: Scorecard, contact: bool, mail: tuple[int, int], sign: int) -> None:
    """Add or take out the sender tokens of all mail from one address, given how much ham and spam it sent.

    A message never vouches for itself: a single ham from an address comes from nobody known.
    """
    for label, messages in enumerate(mail):
        from_ham = mail[0] > (label == 0)
        if messages:
            numbers = {token_id(known_token(contact, from_ham)): messages}
            add_counts(card, numbers, label, sign)
            weigh(card, list(numbers))


def weigh(card: Scorecard, numbers: list[int]) -> None:
    """Set the naive Bayes weights of some tokens, and what all tokens share, from the counts."""
    if not all(card.messages):
        return
    offset = shared_offset(card.totals[0], card.totals[1], card.words, card.alpha)
    if card.kind == "multinomial":
        card.prior = -threshold_offset(1.0, *card.messages)
    for column in card.columns:
        if not column.naive:
            continue
        column.offset = offset
        for number in numbers:
            if speaks_for(column, number):
                place = touched(card, number)
                column.later[place] = naive_weight(card, card.later_counts[0][place], card.later_counts[1][place])


def naive_weight(card: Scorecard, ham: int, spam: int) -> float:
    """A word's evidence, or NaN when it is not heard."""
    if not ham + spam or (card.kind == "corrected" and not informative(ham, spam, *card.messages)):
        return nan
    return float(evidence(ham, spam, card.alpha))


def speaks_for(column: Column, number: int) -> bool:
    """Whether a column hears a token: the text's and the envelope's hear their own."""
    witness = column.name.partition(" ")[0]
    return witness == ("envelope" if number & ENVELOPE_BIT else "text") or witness not in ("text", "envelope")


def step(card: Scorecard, column: Column, numbers: list[int], label: int) -> None:
    """One step down the slope of the logistic loss, for the words that have been seen twice."""
    heard = [
        place
        for number in numbers
        if speaks_for(column, number) and sum(card.counts(card.base_rows + (place := touched(card, number)))) > 1
    ]
    if not heard:
        return
    weights = [column.later[place] for place in heard]
    divisor = column.divisor(len(heard))
    margin = sum(weight for weight in weights if weight == weight) / divisor + column.intercept
    surprise = label - 1.0 / (1.0 + exp(-max(-700.0, min(700.0, margin))))
    for place, weight in zip(heard, weights, strict=True):
        column.later[place] = (weight if weight == weight else 0.0) + RATE * surprise / divisor
