"""How much to smooth, found from the mail: by leave-one-out, or by the marginal likelihood.

Leave-one-out asks how well each message is judged by a model of all the others. Such a model differs from that of all
messages in the message's own class y alone, so that none is fitted anew (x: the message's counts, |x|: its length):

    multinomial   log (m_y − 1) + Σ_j x_j log (n_yj − x_j + α) − |x| log (N_y − |x| + α V)
    Bernoulli     log (m_y − 1) + Σ_j log of (n_yj − x_j + α) / (m_y − 1 + 2α), or of 1 minus it where x_j = 0

The prior of a class is its number of messages, not divided by all. The dictionary does not shrink: a word that only
the left-out message has stays one of the V. α is above 0 throughout.

The marginal likelihood is the probability of the counts when the rates of the words are themselves drawn from a
Dirichlet (α, ..., α), or Beta (α, α) for presence, and integrated out. It needs the classes' totals only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import digamma, gammaln, polygamma

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]  # 0 .. K − 1

GRID = np.logspace(-4, 1, 21)  # four to a factor of ten
REFINED = np.linspace(-0.2, 0.2, 9)  # powers of ten about the best of them, to just before its neighbours

ALPHA_LEAST, ALPHA_MOST = 1e-6, 1e4  # where the likelihood rises on and on towards 0 or infinity
ALPHA_FLAT = 1.0  # Laplace, where every alpha is as likely as any other
SCAN = np.geomspace(ALPHA_LEAST, ALPHA_MOST, 41)  # several classes can make several peaks
CLOSE = 1e-13  # in log alpha
MOST_STEPS = 200  # halving alone needs 50
ASYMPTOTIC = 30.0  # from here on four terms of digamma's series are exact to 1e-14


# Totals


def class_totals(counts: sparse.csr_matrix, labels: Labels, classes: int, binary: bool = False) -> NDArray[np.int64]:
    """n_kj: occurrences of every word in every class, or messages that have it; K × V."""
    words = counts.shape[1]
    x = counts.data > 0 if binary else counts.data
    place = np.repeat(labels.astype(np.int64), np.diff(counts.indptr)) * words + counts.indices
    return np.bincount(place, x, minlength=classes * words).astype(np.int64).reshape(classes, words)


@dataclass(frozen=True)
class Tally:
    """What leave-one-out needs to know of the messages whatever alpha is."""

    x: sparse.csr_matrix  # messages × V
    row: NDArray[np.int64]  # of every entry of x
    own: NDArray[np.int64]  # n_yj of every entry's word in its message's class, itself counted
    labels: NDArray[np.int64]
    messages: NDArray[np.int64]  # m_k
    totals: NDArray[np.int64]  # n_kj

    def over_words(self, of_entries: Floats) -> Floats:
        """Sums of the entries of each message; a message without words has 0."""
        return np.asarray(np.bincount(self.row, of_entries, minlength=len(self.labels)), np.float64)

    def with_prior(self, likelihood: Floats, own: Floats) -> Floats:
        """log m_k + likelihood, where a message's own class has one message less and its own likelihood."""
        at = np.arange(len(self.labels)), self.labels
        left = np.broadcast_to(self.messages, likelihood.shape).copy()
        left[at] -= 1
        likelihood[at] = own
        with np.errstate(divide="ignore"):  # nothing is left of a class of one message: log 0 = −∞
            return np.asarray(np.log(left) + likelihood)


def tally(counts: sparse.csr_matrix, labels: Labels, classes: int, binary: bool) -> Tally:
    """Count once, for any number of alphas."""
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    x = (counts.data > 0 if binary else counts.data).astype(np.float64)
    totals = class_totals(counts, labels, classes, binary)
    return Tally(
        x=sparse.csr_matrix((x, counts.indices, counts.indptr), shape=counts.shape),
        row=row,
        own=totals[labels[row], counts.indices],
        labels=labels.astype(np.int64),
        messages=np.bincount(labels, minlength=classes),
        totals=totals,
    )


# Leave-one-out


def leave_one_out_scores(
    counts: sparse.csr_matrix, labels: Labels, classes: int, alpha: float, binary: bool = False
) -> Floats:
    """log m_k + log p(message | k) of a multinomial model of the other messages; messages × K.

    The only message of a class scores −∞ there, as no model of the others knows that class.
    """
    return multinomial_left_out(tally(counts, labels, classes, binary), alpha)


def leave_one_out_bernoulli(counts: sparse.csr_matrix, labels: Labels, classes: int, alpha: float) -> Floats:
    """The same for a Bernoulli model, in which absent words count."""
    return bernoulli_left_out(tally(counts, labels, classes, binary=True), alpha)


def multinomial_left_out(t: Tally, alpha: float) -> Floats:
    """Σ_j x_j log (n_kj + α) − |x| log (N_k + α V), own class: n_yj − x_j and N_y − |x|."""
    pseudo = alpha * max(t.totals.shape[1], 1)  # without words every |x| is 0, and so must the product be
    sizes, length = t.totals.sum(axis=1), t.over_words(t.x.data)
    scores = t.x @ np.log(t.totals.T + alpha) - length[:, None] * np.log(sizes + pseudo)
    own = t.over_words(t.x.data * np.log(t.own - t.x.data + alpha))
    return t.with_prior(scores, own - length * np.log(sizes[t.labels] - length + pseudo))


def bernoulli_left_out(t: Tally, alpha: float) -> Floats:
    """A message without words, one number a class, then log p − log (1 − p) for each word that it has.

    Own class: m_y − 1 messages, n_yj − 1 of them have the word. A word that all m_y have is absent in none, so its
    share in the message without words is taken back by every message: any number does there, and 0 left is as good.
    """
    totals, messages = t.totals, t.messages[:, None]
    lacking = np.log(messages - totals + alpha)
    scores = t.x @ (np.log(totals + alpha) - lacking).T + (lacking - np.log(messages + 2 * alpha)).sum(axis=1)
    lacking = np.log(np.maximum(messages - 1 - totals, 0) + alpha)
    empty = (lacking - np.log(np.maximum(messages - 1, 0) + 2 * alpha)).sum(axis=1)
    words = np.log(t.own - t.x.data + alpha) - lacking[t.labels[t.row], t.x.indices]
    return t.with_prior(scores, empty[t.labels] + t.over_words(t.x.data * words))


@dataclass(frozen=True)
class Tuned:
    """The alpha chosen, and every one tried, ascending, with its errors and mean log loss."""

    alpha: float
    tried: list[tuple[float, int, float]]


def auto_alpha(
    counts: sparse.csr_matrix,
    labels: Labels,
    classes: int,
    binary: bool = False,
    kind: Literal["multinomial", "bernoulli"] = "multinomial",
) -> Tuned:
    """The alpha with the fewest leave-one-out errors; of equals the lowest mean log loss, then the largest alpha."""
    left_out = {"multinomial": multinomial_left_out, "bernoulli": bernoulli_left_out}[kind]
    counted = tally(counts, labels, classes, binary or kind == "bernoulli")

    def judged(alphas: Floats) -> list[tuple[float, int, float]]:
        return [(alpha, *errors_and_loss(left_out(counted, alpha), counted.labels)) for alpha in alphas.tolist()]

    tried = judged(GRID)
    about = min(tried, key=preference)[0] * 10.0 ** REFINED[REFINED != 0]
    tried += judged(about[(about > GRID[0]) & (about < GRID[-1])])
    return Tuned(min(tried, key=preference)[0], sorted(tried))


def preference(judged: tuple[float, int, float]) -> tuple[int, float, float]:
    """Less is better: errors, then loss, then minus alpha."""
    alpha, errors, loss = judged
    return errors, loss, -alpha


def errors_and_loss(scores: Floats, labels: NDArray[np.int64]) -> tuple[int, float]:
    """Messages whose best class is not theirs (of equal classes the first is best), and the mean of −log p(own class).

    The only message of its class is an error whatever alpha is, and stays out of the mean.
    """
    own = scores[np.arange(len(labels)), labels]
    known = np.isfinite(own)
    errors = int((scores.argmax(axis=1) != labels).sum())
    loss = np.logaddexp.reduce(scores[known], axis=1) - own[known]
    return errors, float(loss.sum() / max(len(loss), 1))


# Marginal likelihood


@dataclass(frozen=True)
class Urns:
    """Draws from urns of `sides` colours each, every urn filled from Dirichlet (α, ..., α); equal counts stand once.

    log p = Σ log Γ(n + α) / Γ(α) over the counts n of the colours − Σ log Γ(N + sides α) / Γ(sides α) over the urns
    """

    sides: int
    counts: Floats  # n above 0
    times: Floats
    draws: Floats  # N above 0
    urns: Floats

    def log_likelihood(self, alpha: float) -> float:
        of_counts = gammaln(self.counts + alpha) - gammaln(alpha)
        of_draws = gammaln(self.draws + self.sides * alpha) - gammaln(self.sides * alpha)
        return float(self.times @ of_counts - self.urns @ of_draws)

    def pull(self, log_alpha: float) -> tuple[float, float]:
        """log of Minka's factor for alpha, which is above 0 where the likelihood rises; and its slope.

        factor = Σ (ψ(n + α) − ψ(α)) / (sides Σ (ψ(N + sides α) − ψ(sides α)))
        """
        alpha = float(np.exp(log_alpha))
        whole = self.sides * alpha
        up = self.times @ digamma_rise(alpha, self.counts)
        down = self.sides * (self.urns @ digamma_rise(whole, self.draws))
        up_slope = self.times @ (polygamma(1, alpha + self.counts) - polygamma(1, alpha))
        down_slope = self.sides**2 * (self.urns @ (polygamma(1, whole + self.draws) - polygamma(1, whole)))
        return float(np.log(up / down)), float(alpha * (up_slope / up - down_slope / down))

    def best_alpha(self) -> float:
        """Where the likelihood is highest, ALPHA_LEAST and ALPHA_MOST included; ALPHA_FLAT where it is level."""
        if self.sides < 2 or not self.urns @ (self.draws > 1):
            return ALPHA_FLAT
        places = np.log(SCAN)
        rises = np.array([self.pull(place)[0] > 0 for place in places])
        peaks = [
            float(np.exp(peak_between(self.pull, places[at], places[at + 1])))
            for at in np.flatnonzero(rises[:-1] & ~rises[1:])
        ]
        ends = [ALPHA_LEAST] * (not rises[0]) + [ALPHA_MOST] * bool(rises[-1])
        return max(peaks + ends, key=self.log_likelihood)


def digamma_rise(z: float, n: Floats) -> Floats:
    """ψ(z + n) − ψ(z), without the loss of digits that the difference has where z is large."""
    if z < ASYMPTOTIC:
        return np.asarray(digamma(z + n) - digamma(z))
    return np.asarray(np.log1p(n / z) + below_log(z) - below_log(z + n))


def below_log(z: Any) -> Any:
    """log z − ψ(z) = 1/2z + 1/12z² − 1/120z⁴ + 1/252z⁶ − ..."""
    return 1 / (2 * z) + 1 / (12 * z**2) - 1 / (120 * z**4) + 1 / (252 * z**6)


def peak_between(pull: Callable[[float], tuple[float, float]], low: float, high: float) -> float:
    """Where the pull is 0: Newton's steps, and halving where they would leave the bracket."""
    place = (low + high) / 2
    for _ in range(MOST_STEPS):
        value, slope = pull(place)
        low, high = (place, high) if value > 0 else (low, place)
        newton = place - value / slope if slope < 0 else np.inf
        before, place = place, newton if low <= newton <= high else (low + high) / 2
        if abs(place - before) <= CLOSE:
            break
    return place


def dirichlet_urns(totals: NDArray[Any]) -> Urns:
    """A class is an urn, a word a colour."""
    whole = totals.astype(np.int64)
    return Urns(whole.shape[1], *distinct(whole), *distinct(whole.sum(axis=1)))


def beta_urns(present: NDArray[Any], messages: NDArray[Any]) -> Urns:
    """Each word of each class is an urn of its own, with the colours present and absent."""
    there, of_class = present.astype(np.int64), messages.astype(np.int64)
    (seen, seen_times), (lacked, lacked_times) = distinct(there), distinct(of_class[:, None] - there)
    draws, classes = distinct(of_class)
    counts, times = np.append(seen, lacked), np.append(seen_times, lacked_times)
    return Urns(2, counts, times, draws, classes * there.shape[1])


def distinct(numbers: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """The numbers above 0, each once, and how often each stands."""
    values, times = np.unique(numbers[numbers > 0], return_counts=True)
    return values.astype(np.float64), times.astype(np.float64)


def log_marginal(totals: NDArray[Any], alpha: float) -> float:
    """Σ_k [log Γ(α V) − log Γ(N_k + α V) + Σ_j (log Γ(n_kj + α) − log Γ(α))], of K × V totals n.

    The multinomial coefficient, which alpha does not touch, is left out.
    """
    return dirichlet_urns(totals).log_likelihood(alpha)


def empirical_alpha(totals: NDArray[Any]) -> float:
    """The alpha at which log_marginal is highest, to ten digits.

    Where all of a class's words are one word it runs to 0, ALPHA_LEAST; where words are no more uneven than chance
    makes them, to infinity, ALPHA_MOST. With no or one word in the dictionary, or no class with two, any alpha is as
    good: ALPHA_FLAT.
    """
    return dirichlet_urns(totals).best_alpha()


def log_marginal_beta(present: NDArray[Any], messages: NDArray[Any], alpha: float) -> float:
    """Σ_k Σ_j log B(n_kj + α, m_k − n_kj + α) / B(α, α): of messages with each word, K × V, and messages, K."""
    return beta_urns(present, messages).log_likelihood(alpha)


def empirical_alpha_beta(present: NDArray[Any], messages: NDArray[Any]) -> float:
    """The alpha at which log_marginal_beta is highest; its ends are those of empirical_alpha."""
    return beta_urns(present, messages).best_alpha()
