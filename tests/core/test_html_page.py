"""Pages of HTML for notebooks."""

from sce.core.html_page import Picture, beside, facts, page, sentences, strip, table

EVIL = "<script>alert('x')</script>&\""


def test_text_from_outside_is_escaped():
    """Wherever it goes."""
    picture = Picture("data:image/png;base64,AA", 10, EVIL, EVIL, marked=True)
    whole = page(EVIL, facts({EVIL: EVIL}), table([(EVIL, EVIL)], (EVIL, EVIL)), sentences([EVIL]), strip([picture]))
    whole += beside(picture, facts({"a": EVIL}))
    assert "<script" not in whole
    assert 'x"' not in whole
    assert whole.count("&lt;script&gt;") == 12


def test_the_colours_are_those_of_the_surroundings():
    """So that a page is legible on light and on dark."""
    whole = page("a", facts({"b": "c", "none": None}), strip([Picture("x", 1, "y", "z")]))
    assert "color: " not in whole
    assert "background: none" in whole
    assert "none" not in whole.replace("background: none", "").replace("border: none", "").replace(
        "max-width: none", ""
    )
