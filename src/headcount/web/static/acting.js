// Acting: what is done from the page, asked for twice, and what came of it.
//
// Rules
//   1. Nothing ends or takes anything before its dialog was answered.
//   2. What came of it is said in the daemon's words: a wish that failed is no success.
//
// Not here: which button does what (views/).

import { refreshAll } from "./hearing.js";
import { change } from "./state.js";
import { Refused } from "./wire.js";

const NOTICE_FOR = 8000, BAD_NOTICE_FOR = 30000, SLOW_AFTER = 300;

export function say(text, bad = false) {
  change({ notice: { text, bad }, noticeUntil: Date.now() + (bad ? BAD_NOTICE_FOR : NOTICE_FOR) });
}

// Asks before it does: what exactly, by which request, with the command that would do the same.
export function confirm(title, lines, command, word, doing) {
  change({ dialog: { title, lines, command, word, doing } });
}

// Does it and says what came of it: `doing` gives a text, or { text, bad }, or nothing to say.
export async function act(doing) {
  change({ dialog: null, notice: null });
  const later = setTimeout(() => say("Asked; waiting for what comes of it…"), SLOW_AFTER);
  try {
    const said = await doing();
    clearTimeout(later);
    if (said) say(said.text ?? said, said.bad ?? false);
    else change({ notice: null });
  } catch (fault) {
    clearTimeout(later);
    say(fault instanceof Refused ? [fault.message, fault.hint].filter(Boolean).join(" ") : "The daemon did not answer.", true);
  }
  refreshAll();
}
