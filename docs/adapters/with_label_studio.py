"""Questions of a project as tasks of Label Studio, and its annotations as answers."""

import json

from label_studio_sdk.label_interface import LabelInterface

import cluewise as cw

table = {"title": ["red wine", "white wine", "bread", "rolls"]}
questions = [cw.active.Question("pair", (0, 1)), cw.active.Question("pair", (1, 2))]

config = cw.adapters.label_studio_config(["title"])  # paste it into the settings of the project
tasks = cw.adapters.label_studio_tasks(questions, table, ["title"])
file = json.dumps(tasks)  # import it

interface = LabelInterface(config)
interface.validate()
assert all(interface.validate_task(task) for task in json.loads(file))

# What people say comes back in an export as JSON.
regions = [interface.get_control("answer").label(choices=[said])._dict() for said in ("same", "different")]
exported = [
    {**task, "annotations": [{"id": i, "result": [region]}]} for i, (task, region) in enumerate(zip(tasks, regions))
]
assert all(interface.validate_annotation(task["annotations"][0]) for task in exported)

answers = cw.adapters.label_studio_answers(exported)
assert [answer.value for answer in answers] == [True, False]
