"""The browser of the tests sees what goes wrong in a page, and leaves other tests alone."""

import asyncio

import pytest

pytestmark = pytest.mark.needs_chromium
HEADERS = {"content-type": "text/html", "content-security-policy": "default-src 'none'; script-src 'self'"}


def serve(page, html):
    page.route("http://page.test/", lambda route: route.fulfill(body=html, headers=HEADERS))
    page.goto("http://page.test/")


def test_a_page_without_faults_passes(page):
    serve(page, "<p>Do these belong together?</p>")
    assert page.inner_text("p") == "Do these belong together?"


@pytest.mark.parametrize(("html", "fault"), [("<script>1</script>", "script-src"), ("<p style='top: 0'>", "style-src")])
def test_what_the_policy_refuses_is_a_fault(html, fault, page, faults):
    serve(page, html)
    page.wait_for_timeout(1)  # lets the message arrive
    assert fault in faults.pop()


def test_an_uncaught_error_is_a_fault(page, faults):
    serve(page, "<p>")
    page.evaluate("setTimeout(() => { throw Error('lost') })")
    page.wait_for_timeout(50)
    assert "lost" in faults.pop()


def test_other_tests_can_run_event_loops(chromium):
    asyncio.run(asyncio.sleep(0))
