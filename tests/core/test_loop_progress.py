"""Callbacks are told of the fit, its starts and its iterations; the last complete state is kept."""

import numpy as np
import pytest

import cluewise as cw
from cluewise import PCKMeans
from cluewise.checks._fits import copy_with
from cluewise.core import centers
from cluewise.core.loop import Progress, Task

X = np.random.default_rng(0).normal(size=(60, 2))


class Diary:
    """Writes down every call; says stop when told to."""

    def __init__(self, stop=lambda context: None, fail=""):
        self.lines = []
        self.stop = stop
        self.fail = fail

    def _note(self, hook, estimator, context):
        self.lines.append((hook, context.task_name, context.task_id))
        self.estimator = estimator
        self.context = context
        if self.fail == hook:
            raise OSError(hook)

    def setup(self, estimator, context):
        self._note("setup", estimator, context)

    def teardown(self, estimator, context):
        self._note("teardown", estimator, context)

    def on_fit_task_begin(self, *, estimator, context):
        self._note("begin", estimator, context)

    def on_fit_task_end(self, *, estimator, context):
        self._note("end", estimator, context)
        return self.stop(context)


def test_the_order_of_calls():
    diary = Diary()
    model = PCKMeans(3, n_init=2, random_state=0).set_callbacks(diary).fit(X)
    lines = diary.lines
    assert lines[:3] == [("setup", "fit", 0), ("begin", "fit", 0), ("begin", "start", 0)]
    assert lines[-3:] == [("end", "start", 1), ("end", "fit", 0), ("teardown", "fit", 0)]
    second = lines.index(("begin", "start", 1))
    assert lines[second - 1] == ("end", "start", 0)
    iterations = [line for line in lines[second:] if line[1] == "iteration"]
    assert iterations[:2] == [("begin", "iteration", 0), ("end", "iteration", 0)]
    assert [line[2] for line in iterations[::2]] == list(range(len(iterations) // 2))
    assert diary.estimator is model


def test_the_tree_of_tasks():
    tasks = []
    PCKMeans(3, n_init=1, random_state=0, max_iter=7).set_callbacks(Diary(lambda c: tasks.append(c))).fit(X)
    iteration, start, root = tasks[0], tasks[-2], tasks[-1]
    assert (iteration.parent, start.parent, root.parent) == (start, root, None)
    assert len({task.root_uuid for task in tasks}) == 1
    assert (root.max_subtasks, start.max_subtasks, iteration.max_subtasks) == (1, 7, 0)
    assert {task.estimator_name for task in tasks} == {"PCKMeans"}
    assert root.source_estimator_name is None


def test_iterations_carry_their_objective():
    values = []
    model = PCKMeans(3, n_init=1, random_state=0).set_callbacks(Diary(lambda c: values.append(c.objective))).fit(X)
    assert values[:-2] == model.trace_.tolist()
    assert values[-2:] == [None, None]


@pytest.mark.parametrize("task", ["iteration", "start"])
def test_stop(task):
    diary = Diary(lambda context: context.task_name == task)
    model = PCKMeans(3, n_init=3, random_state=0, tol=0).set_callbacks(diary).fit(X)
    starts = [line for line in diary.lines if line[:2] == ("end", "start")]
    assert len(starts) == (3 if task == "iteration" else 1)
    assert (model.n_iter_ == 1) == (task == "iteration")
    assert len(model.labels_) == 60
    assert model.objective_ == pytest.approx(model.trace_[-1])


def test_teardown_comes_whatever_happens():
    diary = Diary()
    with pytest.raises(ValueError, match="init needs shape"):
        PCKMeans(3, init=np.zeros((2, 2))).set_callbacks(diary).fit(X)
    assert diary.lines[-1] == ("teardown", "fit", 0)
    assert ("end", "fit", 0) not in diary.lines


@pytest.mark.parametrize("hook", ["setup", "begin", "end"])
def test_a_callback_that_fails_is_torn_down_with_the_others(hook):
    good, bad = Diary(), Diary(fail=hook)
    with pytest.raises(OSError, match=hook):
        PCKMeans(3, random_state=0).set_callbacks(good, bad).fit(X)
    assert good.lines[-1] == bad.lines[-1] == ("teardown", "fit", 0)


def test_callbacks_of_an_earlier_call_are_replaced():
    first, second = Diary(), Diary()
    PCKMeans(3, random_state=0).set_callbacks(first).set_callbacks(second).fit(X)
    assert not first.lines
    assert second.lines
    PCKMeans(3, random_state=0).set_callbacks(second).set_callbacks().fit(X)
    assert second.lines[-1] == ("teardown", "fit", 0)


@pytest.mark.parametrize("thing", [object(), Diary, 3])
def test_not_a_callback(thing):
    with pytest.raises(TypeError, match="is not a callback"):
        PCKMeans().set_callbacks(thing)


class Press(Diary):
    """Ctrl-C right after the second iteration."""

    def on_fit_task_end(self, *, estimator, context):
        super().on_fit_task_end(estimator=estimator, context=context)
        if context.task_name == "iteration" and context.task_id == 1:
            raise KeyboardInterrupt


# In the family of alternatives max_iter counts something else, steps at one temperature for example, and in OneSpectral
# also steps of the splits before the first iteration; these methods have tests of their own.
ITERATING = [
    name
    for name, cls in cw.clusterers().items()
    if "max_iter" in cls().get_params()
    and not cls.__module__.startswith("cluewise.alternative.")
    and name != "OneSpectral"
]


@pytest.mark.parametrize("name", ITERATING)
def test_interrupted(name):
    """Ctrl-C: the last complete iteration is what stays, and nothing of an earlier fit."""
    rng = np.random.default_rng(3)
    data = rng.exponential(size=(400, 3))  # some methods count
    model = copy_with(cw.clusterers()[name](6, random_state=0), init=data[:6], n_init=1, tol=0.0)
    expected = copy_with(model, max_iter=2).fit(data)
    model.fit(data[:50])
    press = Press()
    with pytest.raises(KeyboardInterrupt):
        model.set_callbacks(press).fit(data)
    assert press.lines[-1] == ("teardown", "fit", 0)
    assert model.n_iter_ == 2
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    for place in {"cluster_centers_", "means_"} & set(vars(expected)):
        np.testing.assert_array_equal(getattr(model, place), getattr(expected, place))
    if model.card.predicts:
        np.testing.assert_array_equal(model.predict(data[:9]), expected.predict(data[:9]))
    assert not hasattr(model, "margin_")  # it would be that of the earlier fit
    assert not hasattr(model, "broken_")


def test_interrupted_in_a_later_start_keeps_the_best_of_all():
    """A start that has only begun does not replace one that ended better."""
    with Progress(PCKMeans(), (), 2, 9) as progress:
        progress.begin_start(0)
        progress("first", [3.0])
        progress("better", [3.0, 2.0])
        progress.begin_start(1)
        progress("worse", [2.5])
        assert progress.last == ("better", [3.0, 2.0])
        progress("best", [2.5, 1.0])
        assert progress.last == ("best", [2.5, 1.0])


def test_interrupted_before_the_first_iteration(monkeypatch):
    def press(*args):
        raise KeyboardInterrupt

    model = PCKMeans(3, random_state=0).fit(X)
    monkeypatch.setattr(centers, "refill", press)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :1])
    assert not hasattr(model, "labels_")


def test_without_callbacks_only_the_state_is_kept():
    with Progress(PCKMeans(), (), 1, 9) as progress:
        progress.begin_start(0)
        assert progress.last is None
        assert progress("state", [3.0, 2.0]) is False
        assert progress.last == ("state", [3.0, 2.0])
        assert progress.end_start() is False


def test_a_task_knows_when_it_began():
    root = Task("fit", None, "Name", 0, 1)
    assert Task("start", root, "Name", 0, 1).init_time >= root.init_time


@pytest.mark.parametrize("model", [cw.KCC(3, n_partitions=5, n_init=2), cw.SCSC(3, n_partitions=5)])
def test_partitions_are_parts_of_the_first_start(model):
    """Making them takes most of the time of an ensemble, before there is an iteration to count."""
    tasks = []
    model.set_params(random_state=0).set_callbacks(Diary(lambda c: tasks.append(c))).fit(X)
    parts = [task for task in tasks if task.task_name == "part"]
    assert [task.task_id for task in parts] == list(range(5))
    whole = parts[0].parent
    assert (whole.task_name, whole.max_subtasks, tasks[5]) == ("partitions", 5, whole)
    assert (whole.parent.task_name, whole.parent.task_id) == ("start", 0)
    starts = [task.task_id for task in tasks if task.task_name == "start"]
    assert starts == list(range(tasks[-1].max_subtasks))


def test_slices_of_a_spanning_tree_are_parts(monkeypatch):
    monkeypatch.setattr("cluewise.density._condensed_tree.SLICE", 2400)  # ten rows of 59
    tasks = []
    cw.ConstrainedHDBSCAN().set_callbacks(Diary(lambda c: tasks.append(c))).fit(X)
    parts = [task for task in tasks if task.task_name == "part"]
    assert [task.task_id for task in parts] == list(range(6))
    assert {(task.parent.task_name, task.parent.max_subtasks) for task in parts} == {("spanning tree", 6)}
