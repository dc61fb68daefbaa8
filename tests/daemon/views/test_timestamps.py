"""Moments: the wire's text is UTC; a sentence for people has the clock on their wall."""

import time

from headcount.daemon.views.timestamps import clock_text, time_text


def test_a_sentence_has_the_local_time_of_day() -> None:
    now = time.time()
    assert clock_text(now) == time.strftime("%H:%M", time.localtime(now))
    assert time_text(now).endswith("Z")


def test_another_day_is_named() -> None:
    assert clock_text(0.0) == time.strftime("%Y-%m-%d %H:%M", time.localtime(0.0))
