"""The methods: each gives a map of the problem it was given, and is what its name says."""

import math

import numpy as np
import pytest

from sce import SCE
from sce.compare import METHODS, Method, Problem
from sce.compare.methods import choose
from sce.core.parallel import Team
from sce.errors import ParameterError
from sce.graph.build import GraphOptions, build_affinity
from sce.layout.divergence import divergence_constants
from sce.layout.gradient.terms import Gradient
from sce.layout.problem import Problem as LayoutProblem
from sce.layout.similarities import Similarities

SMALL = {"largevis": {"n_samples": 200_000}}


@pytest.fixture(scope="module")
def problem():
    """Four clouds of 50 points."""
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(200, 6)) + 15 * rng.normal(size=(4, 6))[np.arange(200) % 4]).astype(np.float32)
    with Team(2) as team:
        return Problem(X, build_affinity(X, GraphOptions(n_neighbors=10), team, 0).P, 0, 1)


def means(problem, Y):
    """-E_P[ln q], E_P[q] and E_U[q]."""
    with Team(1) as team:
        terms = Gradient(Similarities(problem.P, team), None, "exact")(np.asarray(Y, np.float64))
    return terms.attraction, terms.mean_q_P, terms.mean_q_U


def kl(problem, Y):
    attraction, _, mean_q_U = means(problem, Y)
    with Team(1) as team:
        n_pairs, constant = divergence_constants(LayoutProblem(Similarities(problem.P, team)))
    return constant + attraction + math.log(mean_q_U * n_pairs)


def run(name, problem):
    method = METHODS[name]
    package = method.missing()
    if package:
        pytest.skip(f"{package} is not installed")
    return method.load()(problem, **{**method.parameters, **SMALL.get(name, {})})


@pytest.mark.filterwarnings("ignore")  # of the peers
@pytest.mark.parametrize("name", METHODS)
def test_every_method_finds_the_clouds(problem, name):
    """The nearest on the map is of the same cloud; neither X nor P is changed."""
    X, P = problem.X.copy(), problem.P.copy()
    Y = np.asarray(run(name, problem).Y, np.float64)
    assert Y.shape == (200, 2)
    square = ((Y[:, None] - Y) ** 2).sum(axis=2) + np.diag(np.full(200, np.inf))
    assert (square.argmin(axis=1) % 4 == np.arange(200) % 4).mean() > 0.98
    assert (X == problem.X).all()
    assert (P.data == problem.P.data).all()
    assert (P.indices == problem.P.indices).all()


def test_sce_is_the_estimator(problem):
    """On the given P with the paper's alpha, and on one of its own with all defaults."""
    given = run("sce", problem)
    model = SCE(affinity=lambda _: problem.P, alpha=0.5, random_state=0).fit(problem.X)
    assert (model.embedding_ == given.Y).all()
    assert given.r == model.scale_
    assert (SCE(random_state=0).fit_transform(problem.X) == run("sce-vectors", problem).Y).all()


def test_gsne_has_the_r_it_was_given(problem):
    """1 by default."""
    assert run("gsne", problem).r == 1.0
    assert METHODS["gsne"].load()(problem, r=7.0).r == 7.0


def test_repulsion_falls_from_t_sne_to_exaggeration(problem):
    """r of t-SNE, 1 / E_U, is above that of SCE, and that of t-SNE exaggerated by 12 below."""
    pytest.importorskip("openTSNE", reason="openTSNE is not installed")
    r = {}
    for name in ("tsne", "tsne-12"):
        r[name] = 1 / (METHODS[name].exaggeration * means(problem, run(name, problem).Y)[2])
    r["sce"], r["tsne-gradient"] = run("sce", problem).r, run("tsne-gradient", problem).r
    assert r["tsne-12"] < r["sce"] < min(r["tsne"], r["tsne-gradient"])


def test_converged_t_sne_is_at_its_own_r(problem):
    """r = 1 / E_U at the map, and its KL is no more than openTSNE's."""
    made = run("tsne-gradient", problem)
    assert made.r == pytest.approx(1 / means(problem, made.Y)[2], rel=0.02)
    pytest.importorskip("openTSNE", reason="openTSNE is not installed")
    assert kl(problem, made.Y) < kl(problem, run("tsne", problem).Y) + 0.02


def test_openTSNE_says_the_kl_that_we_compute(problem):  # noqa: N802
    """So it was really given our P."""
    made = run("tsne", problem)
    assert made.facts["kl"] == pytest.approx(kl(problem, made.Y), rel=0.02)


def test_names_and_parameters():
    """Of methods are understood, or refused with a hint."""
    assert [method.name for method in choose(None)] == list(METHODS)
    r = choose(["gsne:r=1e-3"])[0]
    assert (r.parameters, r.key, r.title) == ({"r": 1e-3}, "gsne-r=0.001", "GSNE, r = 0.001")
    assert choose(["largevis:n_samples=2e8"])[0].key == "largevis-n_samples=2e8"
    for bad, match in [
        ("tsen", "did you mean 'tsne'"), ("gsne:s=1", "gsne:r=NUMBER"), ("tsne:r=1", "tsne has no parameters"),
        ("sce:r=1", "sce:alpha=NUMBER"),
        ("gsne:r=", "above 0"), ("gsne:r=-1", "above 0"), ("gsne:r", "cannot be understood"),
    ]:  # fmt: skip
        with pytest.raises(ParameterError, match=match):
            choose([bad])
    with pytest.raises(ParameterError, match="no method to compare"):
        choose([])


def test_every_method_is_described():
    """A line on what it is, on what it works, and which version of what did the work."""
    for name, method in METHODS.items():
        assert method.name == method.key == name
        assert method.takes in ("graph", "vectors")
        assert method.about
        if method.missing() is None:
            assert all(method.versions().values())
    assert Method("x", "X", "graph", "", "m:f", needs={"not_there_at_all": "pkg"}).missing() == "pkg"
