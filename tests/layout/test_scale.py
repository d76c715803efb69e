"""The rules for r and their estimate while the layout moves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sce.errors import ParameterError
from sce.layout.scale import FixedScale, ScaleEstimate, SCEScale, SNEScale, make_rule


def test_names_and_numbers_become_rules():
    """The words "sce" and "sne", a number and a rule object all name a rule."""
    assert make_rule("sce", alpha=0.2) == SCEScale(0.2)
    assert make_rule("sne", exaggeration=12) == SNEScale(12)
    assert make_rule(5) == FixedScale(5)
    rule = SCEScale(0.5, forgetting="paper")
    assert make_rule(rule) is rule


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scale": "tsne"}, 'scale must be "sce", "sne", a repulsion weight r above 0 or a rule; got \'tsne\'.'),
        ({"scale": 0}, "scale must be a repulsion weight r above 0, at most 1e30; got 0."),
        ({"scale": -1.5}, "scale must be a repulsion weight r above 0, at most 1e30; got -1.5."),
        ({"scale": float("nan")}, "scale must be a repulsion weight r above 0, at most 1e30; got nan."),
        ({"scale": None}, "scale must be a repulsion weight r above 0, at most 1e30; got None."),
        ({"scale": "sce", "alpha": 1.2}, "alpha must be a number from 0 to 1; got 1.2."),
        ({"scale": "sce", "alpha": -0.1}, "alpha must be a number from 0 to 1; got -0.1."),
        ({"scale": "sce", "alpha": "half"}, "alpha must be a number from 0 to 1; got 'half'."),
        ({"scale": "sne", "exaggeration": 0}, "exaggeration must be a number above 0; got 0."),
        ({"scale": "sce", "exaggeration": 4}, "exaggeration=4 is only for scale=\"sne\"; got scale='sce'."),
    ],
)
def test_bad_rules_are_refused_in_a_sentence(arguments, message):
    """Each wrong value is named with what would be right."""
    with pytest.raises(ParameterError) as error:
        make_rule(**arguments)
    assert str(error.value) == message


def test_forgetting_must_be_a_share_or_the_papers():
    """Neither other words nor negative numbers."""
    for value in ("papers", -0.1):
        with pytest.raises(ParameterError, match="forgetting must be"):
            SCEScale(0.5, forgetting=value)
    with pytest.raises(ParameterError, match="start must be a repulsion weight r above 0; got 0"):
        SNEScale(start=0)


def test_estimate_starts_low_and_ends_at_the_rule():
    """r is 0.2 at first, changes by little in the first epoch, and in the last epoch is that epoch's Eq. (6)."""
    estimate = ScaleEstimate(SCEScale(0.5), planned=100.0, n_pairs=1e6)
    assert estimate.r == pytest.approx(0.2)
    estimate.mix(0.5, 0.1, 1.0)
    assert 0.2 < estimate.r < 0.25
    for _ in range(98):
        estimate.mix(0.5, 0.1, 1.0)
    estimate.mix(0.9, 0.1, 1.0)
    assert estimate.r == pytest.approx(2.0)


@pytest.mark.parametrize("rule", [SCEScale(0.3, start=0.7), SNEScale(12.0, start=0.7)])
def test_start_is_the_first_r(rule):
    """Whatever the rule's other parameters."""
    assert ScaleEstimate(rule, planned=10.0, n_pairs=10.0).r == pytest.approx(0.7)


def test_the_papers_rate_mixes_against_all_pairs():
    """With the paper's rate, rho = N(N-1) / (N(N-1) + omega)."""
    estimate = ScaleEstimate(SCEScale(1.0, forgetting="paper", start=1.0), planned=100.0, n_pairs=90.0)
    estimate.mix(0.4, 0.1, 10.0)
    assert 1 / estimate.r == pytest.approx(0.9 * 1.0 + 0.1 * 0.4)


def test_a_fixed_scale_never_moves():
    """What is drawn does not matter to it."""
    estimate = ScaleEstimate(FixedScale(7.0), planned=10.0, n_pairs=10.0)
    estimate.mix(0.1, 0.1, 5.0)
    assert estimate.r == 7.0


@given(st.floats(1e-3, 1.0), st.floats(1e-4, 1.0), st.floats(0.0, 1.0))
def test_weight_is_the_slope_of_the_energy(q_P, q_U, alpha):
    """In E_U, at a given E_P: what the line search of the full gradient lowers has the rule's gradient."""
    for rule in (FixedScale(7.0), SNEScale(3.0), SCEScale(alpha), SCEScale(0.0), SCEScale(1.0)):
        h = 1e-4 * q_U
        slope = (rule.energy(q_P, q_U + h) - rule.energy(q_P, q_U - h)) / (2 * h)
        assert slope == pytest.approx(rule.weight(q_P, q_U), rel=1e-3)
