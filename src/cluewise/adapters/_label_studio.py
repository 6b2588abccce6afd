"""Questions as tasks of Label Studio, and its annotations as answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

from cluewise.active import Answer, Question

__all__ = ["label_studio_answers", "label_studio_config", "label_studio_tasks"]

SAME, DIFFERENT, UNKNOWN = "same", "different", "don't know"
_VALUES = {SAME: True, DIFFERENT: False, UNKNOWN: None}


def label_studio_config(columns: Sequence[str], *, image: str | None = None) -> str:
    """The labeling interface for the tasks of `label_studio_tasks`: two items and three choices.

    Parameters
    ----------
    columns : sequence of str
        Columns to show, in this order.
    image : str, optional
        A column with addresses of pictures, shown above the others.

    Returns
    -------
    str
        XML to paste into the settings of the project, under Labeling Interface, Code.

    Examples
    --------
    >>> import cluewise as cw
    >>> print(cw.adapters.label_studio_config(["title"]))
    <View>
      <View style="display: flex; gap: 2rem">
        <View style="flex: 50%">
          <Text name="first_title" value="$first_title"/>
        </View>
        <View style="flex: 50%">
          <Text name="second_title" value="$second_title"/>
        </View>
      </View>
      <Choices name="answer" toName="first_title" choice="single" required="true" showInline="true">
        <Choice value="same" hotkey="a"/>
        <Choice value="different" hotkey="x"/>
        <Choice value="don't know" hotkey="space"/>
      </Choices>
    </View>
    """
    lines = ["<View>", '  <View style="display: flex; gap: 2rem">']
    for side in ("first", "second"):
        lines.append('    <View style="flex: 50%">')
        for name in ([] if image is None else [image]) + [name for name in columns if name != image]:
            tag, key = "Image" if name == image else "Text", f"{side}_{name}"
            lines.append(f"      <{tag} name={quoteattr(key)} value={quoteattr('$' + key)}/>")
        lines.append("    </View>")
    head = image if image is not None else columns[0]
    lines += [
        "  </View>",
        f'  <Choices name="answer" toName={quoteattr("first_" + head)} choice="single" required="true"'
        ' showInline="true">',
        *(
            f"    <Choice value={quoteattr(value)} hotkey={quoteattr(key)}/>"
            for value, key in ((SAME, "a"), (DIFFERENT, "x"), (UNKNOWN, "space"))
        ),
        "  </Choices>",
        "</View>",
    ]
    return "\n".join(lines)


def label_studio_tasks(
    questions: Iterable[Question], table: Mapping[str, Sequence[Any]], columns: Sequence[str]
) -> list[dict[str, Any]]:
    """Questions about pairs as tasks to import into Label Studio.

    Parameters
    ----------
    questions : iterable of Question
        Questions about pairs, such as ``project.ask(20)``.
    table : mapping or data frame
        The rows, by column.
    columns : sequence of str
        Columns that people see.

    Returns
    -------
    list of dict
        Write it with ``json.dump`` and import the file. What the clusters suggest is left out, as it would sway people.

    Examples
    --------
    >>> import cluewise as cw
    >>> from cluewise.active import Question
    >>> cw.adapters.label_studio_tasks([Question("pair", (0, 2))], {"title": ["a", "b", "c"]}, ["title"])
    [{'data': {'rows': [0, 2], 'first_title': 'a', 'second_title': 'c'}}]
    """
    cells = {name: list(table[name]) for name in columns}
    tasks = []
    for question in questions:
        if question.kind != "pair":
            raise ValueError(f"tasks are about pairs; this question is of the kind {question.kind!r}.")
        sides = zip(("first", "second"), question.rows)
        shown = {f"{side}_{name}": str(column[row]) for side, row in sides for name, column in cells.items()}
        tasks.append({"data": {"rows": list(question.rows), **shown}})
    return tasks


def label_studio_answers(exported: Iterable[Mapping[str, Any]]) -> list[Answer]:
    """Annotations of Label Studio as answers, for ``project.tell``.

    Parameters
    ----------
    exported : iterable of dict
        The tasks of an export as JSON, with their annotations.

    Returns
    -------
    list of Answer
        An answer for each annotation that was not skipped or left empty: who, when, and how long it took. Telling a
        project twice stores nothing twice.

    Examples
    --------
    >>> import cluewise as cw
    >>> result = [{"from_name": "answer", "type": "choices", "value": {"choices": ["same"]}}]
    >>> task = {"data": {"rows": [0, 2]}, "annotations": [{"id": 7, "completed_by": 1, "result": result}]}
    >>> cw.adapters.label_studio_answers([task])[0].value
    True
    """
    answers = []
    for number, task in enumerate(exported):
        rows = task.get("data", {}).get("rows")
        if rows is None:
            raise ValueError(f"task {number} does not say which rows it is about; was it made by label_studio_tasks?")
        question = Question("pair", tuple(rows))
        for annotation in task.get("annotations", ()):
            if annotation.get("was_cancelled"):
                continue
            chosen = [_choice(one) for one in annotation["result"] if one.get("from_name") == "answer"]
            if not chosen:
                continue
            if chosen[0] not in _VALUES:
                raise ValueError(f"task {number} has the answer {chosen[0]!r}; answers are {', '.join(_VALUES)}.")
            answers.append(
                Answer(
                    question,
                    _VALUES[chosen[0]],
                    who=_person(annotation.get("completed_by")),
                    when=str(annotation.get("created_at") or ""),
                    seconds=annotation.get("lead_time"),
                    nonce=f"label-studio-{annotation['id']}" if "id" in annotation else "",
                )
            )
    return answers


def _choice(result: Mapping[str, Any]) -> str:
    return str(result["value"]["choices"][0])


def _person(completed_by: Any) -> str:
    """Who annotated; exports have a number, or what is known about the person."""
    if isinstance(completed_by, Mapping):
        return str(completed_by.get("email") or completed_by.get("id") or "")
    return "" if completed_by is None else f"user {completed_by}"
