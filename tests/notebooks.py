"""Notebooks that really run, in a kernel of their own."""

import asyncio
import sys
import warnings
from typing import NamedTuple


class Cell(NamedTuple):
    """What a cell shows: pictures, pages of HTML, what is printed on either stream, and plain texts of values."""

    pictures: list
    pages: list
    stdout: str
    stderr: str
    texts: list
    error: str | None


def execute(notebook):
    """Run all cells of a notebook, and keep what they show in it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the kernel's connection, for example
        from nbclient import NotebookClient

        if sys.platform == "win32":
            asyncio.set_event_loop_policy(asyncio.WindowsSelectorEventLoopPolicy())
        NotebookClient(notebook, timeout=300, kernel_name="python3", allow_errors=True).execute()
    return notebook


def read(path):
    """A notebook from a file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import nbformat

        return nbformat.read(path, as_version=4)


def run_cells(*sources):
    """Run these sources as the cells of a notebook: what each shows, and the notebook."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from nbformat.v4 import new_code_cell, new_notebook

        notebook = execute(new_notebook(cells=[new_code_cell(source) for source in sources]))
    return [shown(cell) for cell in notebook.cells], notebook


def shown(cell):
    """What a cell that has run shows."""
    outputs = cell.outputs
    data = [each.data for each in outputs if "data" in each]

    def printed(name):
        return "".join(each.text for each in outputs if each.output_type == "stream" and each.name == name)

    return Cell(
        [each["image/png"] for each in data if "image/png" in each],
        [each["text/html"] for each in data if "text/html" in each],
        printed("stdout"),
        printed("stderr"),
        [each["text/plain"] for each in outputs if each.output_type == "execute_result" for each in [each.data]],
        next((each.evalue for each in outputs if each.output_type == "error"), None),
    )


def as_page(notebook):
    """The HTML that a notebook is exported to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from nbconvert import HTMLExporter

        return HTMLExporter().from_notebook_node(notebook)[0]
