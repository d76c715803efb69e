"""opt-SNE's rules, on curves with a known answer and in a run."""

import numpy as np
import pytest

from sce.compare.tsne import EXAGGERATION, MAX_OPTSNE_ITERATIONS, PeakOfRate, SmallFall


def first_stop(rule, curve, every):
    """The iteration at which a rule stops a curve of KL, or None."""
    for iteration in range(every, len(curve) + 1, every):
        if rule(iteration, curve[iteration - 1], None):
            return iteration
    return None


def test_early_exaggeration_ends_after_the_peak_of_the_rate():
    """KL falls slowly, fast, slowly: the fall is steepest at iteration 100, and the end is soon after."""
    t = np.arange(1, 301)
    stop = first_stop(PeakOfRate(), 5 - 2 / (1 + np.exp(-(t - 100) / 10)), 3)
    assert 100 < stop < 100 + 3 * 6


def test_early_exaggeration_does_not_end_at_once():
    """What happens in the first iterations is not looked at, nor does it end while the rate grows."""
    t = np.arange(1, 301)
    assert first_stop(PeakOfRate(), 5 + np.sin(t[:14]), 1) is None
    assert first_stop(PeakOfRate(), 5 - 1e-5 * t**2, 3) is None


def test_the_run_ends_when_kl_hardly_falls():
    """KL = 1 + exp(-t / 50) falls by less than a 5000th of itself in five iterations from t = 50 ln(5000 (e^0.1 - 1)) on."""
    t = np.arange(1, 1001)
    expected = 50 * np.log(5000 * (np.exp(0.1) - 1))
    stop = first_stop(SmallFall(), 1 + np.exp(-t / 50), 5)
    assert expected <= stop <= expected + 6
    assert first_stop(SmallFall(), 5 - 0.01 * t[:400], 5) is None


def test_a_run_by_the_rules(monkeypatch):
    """The learning rate is N / 12 in both phases; the first has exaggeration 12 and ends early; KL ends near t-SNE's."""
    openTSNE = pytest.importorskip("openTSNE", reason="openTSNE is not installed")
    from sklearn.datasets import load_digits

    from sce.compare import Problem
    from sce.compare.tsne import optsne_vectors, tsne_vectors

    phases = []
    usual = openTSNE.TSNEEmbedding.optimize

    def watched(self, n_iter, **options):
        phases.append((options["exaggeration"], options["learning_rate"]))
        return usual(self, n_iter, **options)

    problem = Problem(load_digits().data[:400].astype(np.float32), None, 0, 1)
    monkeypatch.setattr(openTSNE.TSNEEmbedding, "optimize", watched)
    made = optsne_vectors(problem)
    assert phases == [(EXAGGERATION, 400 / 12), (1.0, 400 / 12)]
    monkeypatch.undo()
    assert 15 < made.facts["early_iterations"] < made.facts["iterations"] <= MAX_OPTSNE_ITERATIONS
    assert made.facts["kl"] == pytest.approx(tsne_vectors(problem).facts["kl"], rel=0.1)
