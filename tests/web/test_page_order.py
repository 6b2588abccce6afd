"""What reaches the page late, or in another order than it was sent, does no harm."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from cluewise.web import _frames
from cluewise.web._fits import Fit
from web_site import Site

pytestmark = pytest.mark.needs_chromium

UNSENT = "() => Object.keys(localStorage).some((name) => name.startsWith('cluewise.kept'))"
NO_SERVER = """() => {
  const now = Date.now;
  Date.now = () => now() + 10_000;  // the connection lasted
  window.tries = 0;
  window.WebSocket = class {
    constructor() { window.tries++; setTimeout(() => this.onclose?.()); }
    close() {}
  };
  dispatchEvent(new Event("online"));
}"""


@pytest.fixture
def site(table):
    made = Site(table, columns="x,y")
    yield made
    made.close()


def asked(page):
    """The rows of the question on the page."""
    return tuple(map(int, page.get_by_test_id("question").get_attribute("data-rows").split()))


def wait_until(page, holds):
    """Wait for something that the page does not show."""
    for _ in range(200):
        if holds():
            return
        page.wait_for_timeout(50)
    told = page.locator("body").inner_text()
    raise AssertionError(f"it did not happen within ten seconds; the page says: {told}")


@contextmanager
def held(page, address):
    """The first response of the server at an address, which the page does not get before the end of the block."""
    found = []

    def keep(route):
        if found:
            route.continue_()
        else:
            found.append((route, route.fetch()))

    page.route(re.compile(address), keep)
    yield found
    for route, response in found:
        route.fulfill(response=response)


def test_questions_that_were_chosen_before_an_answer_do_not_bring_it_back(site, page):
    site.visit(page)
    with held(page, "/api/questions") as first:
        site.session.hub.push({"type": "questions"})
        wait_until(page, lambda: first)
        answered = asked(page)
        page.keyboard.press("a")
        wait_until(page, lambda: not page.evaluate(UNSENT))
    page.wait_for_timeout(200)
    for count in (2, 3, 4):
        assert asked(page) != answered
        page.keyboard.press("x")
        wait_until(page, lambda count=count: len(site.standing()) == count)


def test_undo_does_not_overtake_the_answer_that_it_takes_back(site, page):
    site.visit(page)
    site.say((0, 1), True)
    rows, waiting = asked(page), []
    page.route(
        re.compile("/api/answers$"),
        lambda route: waiting.append(route) if route.request.method == "POST" else route.continue_(),
    )
    page.keyboard.press("a")
    wait_until(page, lambda: waiting)
    page.keyboard.press("u")
    page.wait_for_timeout(200)
    waiting[0].continue_()
    page.get_by_test_id("banner").get_by_text("Taken back").wait_for()
    assert [one.question.rows for one in site.standing()] == [(0, 1)]
    assert asked(page) == rows


def test_labels_that_come_late_do_not_replace_newer_ones(site, page):
    with held(page, "/api/labels") as first:
        site.visit(page)
        wait_until(page, lambda: first)
        fit = site.session.fit
        labels = fit.labels.copy()
        labels[0] = one = int(labels[20])
        site.session.fit = replace(fit, revision=fit.revision + 1, labels=labels)
        site.session.hub.push(_frames.labels_frame(fit.revision + 1, labels))
        page.wait_for_timeout(200)
    page.wait_for_timeout(200)
    page.get_by_test_id(f"cluster-{one}").locator(".about").click()
    page.get_by_test_id("table").click()
    page.get_by_test_id("rows").get_by_role("row", name="row00").wait_for()


def test_a_server_without_clusters_yet_takes_none_from_the_page(site, page):
    site.visit(page)
    second = page.get_by_test_id("cluster-1")
    second.locator(".about").click()
    session, fit = site.session, site.session.fit
    session.fit = Fit.nothing(fit.state, session.n)  # as after a restart, until the first fit ends
    page.context.set_offline(True)
    banner = page.get_by_test_id("banner")
    banner.get_by_text("No connection to cluewise.").wait_for()
    page.context.set_offline(False)
    banner.wait_for(state="detached")
    page.wait_for_timeout(800)  # all that the page asks for is there
    stands = page.get_by_label("Where the project stands")
    stands.get_by_text("3 clusters").wait_for()
    assert second.get_attribute("data-selected") == "true"
    session.fit = replace(fit, labels=np.minimum(fit.labels, 1))
    session.hub.push(_frames.labels_frame(1, session.fit.labels))
    session.hub.push({"type": "state", "state": session.state()})
    stands.get_by_text("2 clusters").wait_for()


def test_a_server_that_stays_away_is_asked_less_and_less_often(site, page):
    site.visit(page)
    page.evaluate(NO_SERVER)
    page.wait_for_timeout(3000)
    assert 2 <= page.evaluate("window.tries") <= 4


def test_without_a_connection_the_page_says_that_an_act_was_not_done(site, page):
    site.visit(page)
    page.context.set_offline(True)
    banner = page.get_by_test_id("banner")
    banner.get_by_text("No connection to cluewise.").wait_for()
    page.get_by_test_id("cluster-0").locator(".about").click()
    page.keyboard.press("k")
    banner.get_by_text("This was not done").wait_for()


def test_no_button_moves_when_the_page_says_what_was_done(site, page):
    site.visit(page)
    page.keyboard.press("a")
    wait_until(page, lambda: site.standing())
    undo = page.get_by_test_id("answer-undo")
    before = undo.bounding_box()
    undo.click()
    page.get_by_test_id("banner").get_by_text("Taken back").wait_for()
    assert undo.bounding_box() == before
