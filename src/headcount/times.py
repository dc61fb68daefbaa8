"""Every constant of time, in seconds, each with its reason.

Rules
  1. No other module holds a literal of time; `tests/rules/test_times.py` looks.
  2. A constant says why it has its value, not only what it is.
"""

from typing import Final

# --- rules of evidence -------------------------------------------------------------------------

LOST_AFTER: Final = 600.0
"""A session whose process was never learned is `lost` after this much silence. Ten minutes is
longer than a model's slowest single answer, and only such sessions are touched by time at all."""

HIDDEN_AFTER: Final = 86_400.0
"""A lost session leaves `ps` after a day: by then nobody looks for it in the list of the living."""

RENAMED_WITHIN: Final = 10.0
"""A conversation of which nothing was heard but its name, and whose process takes another this soon, was never
one. `claude --continue` registers as a new one, and as the continued one 0.1 to 0.5 s later; a loaded machine takes
ten times that."""

CLOCK_SLACK: Final = 2.0
"""A stored time this far in the future means that the wall clock was set back, not that an event
came early; file times and the clock differ by milliseconds only."""

WAIT_MOST: Final = 86_400.0
"""The longest that one question for a claim waits: by then whoever asked should look again whether it still
wants it."""

WAITER_LOOKED_AT_AGAIN: Final = 1.0
"""Whoever waits for a free item and could not be proved alive (no descriptor left, mostly) is asked again
after this: as often as the fallback for processes without a descriptor looks."""

COLLISION_WITHIN: Final = 1_800.0
"""Two sessions that edited one file within this long of each other are told so. An edit older than half an
hour is usually committed, or known to whoever comes next."""

STALL_AFTER: Final = 600.0
"""A working session in which nothing stirs for this long is marked `working?`. Longer than a model's slowest single
answer; a hint that comes late is better than one that cries at every long thought."""

STALL_LOOK_EVERY: Final = 60.0
"""How often the working are looked at for that, while there are any: a tenth of the time that must go by."""

STALL_LOOK_WITHIN: Final = 10.0
"""How long one such look may take: milliseconds for each session. What takes longer says nothing of anybody."""

STALL_LOOKS_LEAST: Final = 4
"""Looks within the time that must go by, when that was set shorter."""

STALL_BLIND_AFTER: Final = 3.0
"""Looks that lie further apart than so many times their distance were not made: the machine slept, or its clock was
set. What happened meanwhile is not known, so the time starts anew."""

STILL_SHARE: Final = 0.1
"""Of one processor's time between two looks: less is no work. A terminal that only shows that it waits takes 0.03 to
0.05 (Claude Code 2.1.325, measured), one at rest 0.016."""

# --- store ---------------------------------------------------------------------------------------

RETENTION: Final = 30 * 86_400.0
"""How long ended sessions and journal events are kept unless configured: a month of history is
what people look back on; the journal stays small enough to copy."""

PRUNE_EVERY: Final = 3_600.0
"""Old events are removed once an hour: often enough that the size bound holds, seldom enough that
an idle daemon does nothing else."""

STORE_BUSY_WITHIN: Final = 0.25
"""How long a commit waits for another program's lock on the store: nobody else should hold one, a
backup's lock lasts milliseconds, and the daemon tries again anyway."""

COMMIT_RETRY_FIRST: Final = 0.2
COMMIT_RETRY_MOST: Final = 5.0
"""A commit that failed (full disk, I/O error) is tried again soon, then ever slower: the disk of a
busy machine usually has room again within seconds, and evidence waits in memory meanwhile."""

GATHERED_WITHIN: Final = 0.005
"""How long a commit waits at most for others that are coming in at this moment. A commit with fsync takes 0.3 to
several ms, so whoever was first waits at most for the time of some such commits, and all of them need one."""

# --- daemon --------------------------------------------------------------------------------------

READY_WITHIN: Final = 15.0
"""How long a client waits for a daemon it started. Ready takes 0.3 s; a loaded machine ten times
that, and a full recovery of thousands of sessions a second or two."""

STOP_WITHIN: Final = 10.0
"""How long `down` waits for the daemon to be gone before it says that it is not."""

DRAIN_STREAMS_WITHIN: Final = 1
"""Open event streams get this long at a stop; SIGTERM must be answered in under two."""

BEGAN_WITHIN: Final = 1.0
"""A turn this much older than its process is still its own: the kernel counts a beginning in ticks, clocks are set."""

ACCEPT_AGAIN_AFTER: Final = 0.1
"""Callers for whom no descriptor could be found are tried again after this: half of what a person feels, and nothing
for a loop that is not asked meanwhile."""

SCARCITY_SAID_EVERY: Final = 60.0
"""That descriptors are scarce is logged again only when nobody found it so for this long: each caller and each process
would say it, and a log that fills the disk takes the store with it."""

LINGER: Final = 2.0
"""Who is refused in the middle of its body may go on sending that long, so that it reads why. Whoever was granted a claim
with the last answer of a connection and closes it unread within that time gives the claim up."""

KEEP_ALIVE: Final = 75
"""Idle HTTP connections are kept longer than other clients' usual 5 s and 60 s, so that it is the
client who closes: a server closing at the same moment loses a request."""

HEADERS_WITHIN: Final = 10.0
BODY_WITHIN: Final = 20.0
"""A request's head and body must arrive within these: local clients need microseconds, and a
connection that sends a byte a second must not hold a file descriptor for ever."""

STREAM_PING_EVERY: Final = 30.0
"""A comment on an idle event stream, so that a dead reader is noticed and proxies do not close."""

WATCHDOG_EVERY: Final = 10.0
WATCHDOG_STRIKES: Final = 3
"""The loop is asked for a sign of life this often; after three unanswered questions in a row the
stacks are logged and the daemon ends, so that the next contact starts one that listens."""

WELL_AFTER: Final = 3_600.0
"""A daemon that served this long before its store broke is not in a row of broken starts: the count begins
anew. A disk that breaks stores does so within minutes."""

LOOK_WITHIN: Final = 2.0
"""What a claim waits for a file system to follow the links of its path. It takes microseconds; a network mount
that hangs takes for ever, and the caller's own patience ends at five seconds."""

UNANCHORED_FRESH: Final = 1.0
"""For how long "no agent is above that process" is believed without walking up again. A connection
that sends hundreds of reports a second is asked once; a shell that becomes an agent by exec is noticed
before its user has typed."""

POLL_EVERY: Final = 1.0
"""The portable adapter, and the fallback for processes that found no descriptor, look this often."""

MADE_AGAIN_AFTER: Final = 0.2
"""A socket or mailbox that was removed is made again this much later: whoever removes the whole home does not find it
anew. A client that finds no socket waits longer than this before it gives up."""

SETTLE_WITHIN: Final = 5.0
"""A mailbox file that is not whole at the first drain may still be being written; after this long
it is called damaged. A hook's `cat` takes milliseconds."""

PEEK_WITHIN: Final = 2.0
"""How long a terminal may take to show its pane: milliseconds, unless its server hangs."""

WORKTREE_FRESH: Final = 15.0
WORKTREE_WITHIN: Final = 0.5
"""Which branch a directory is on is read again after the first, soon enough to see a switch; a file system
that does not answer within the second is left alone, and the report goes on without it."""

# --- command line --------------------------------------------------------------------------------

CALL_WITHIN: Final = 5.0
"""A client's question to the daemon; answers take a millisecond, so five seconds mean a deaf one."""

GIVE_UP_WITHIN: Final = 1.0
"""How long a caller that gave up is kept while its request is withdrawn. What is not confirmed by then is sent later."""

LIMIT_SLACK: Final = 0.05
"""A client's socket may wait this much longer than its call has left: most calls need not tell the kernel anew."""

CONNECT_RETRY_EVERY: Final = 0.02
"""How often a client looks again while another client's daemon is coming up."""

DEMO_SECONDS: Final = 20.0
"""`headcount demo` plays for this long: enough to see work, waiting and a death, short enough to watch."""

DEMO_FRAME: Final = 0.5
"""How often the demo redraws its table."""

FAREWELL_WITHIN: Final = 0.5
"""Tabs whose page a person closes get this long to take the word; then their connections are closed anyway."""

SCREEN_PING_EVERY: Final = 2.0
SCREEN_SILENT_AFTER: Final = 6.0
"""A screen that somebody looks at asks for comments this often, and says that the connection is lost when three of them
are missing: a daemon that hangs looks alive otherwise. Whoever only waits is not woken so often."""

STREAM_SILENT_AFTER: Final = 75.0
"""A client gives a silent event stream up after this long: two and a half of the daemon's comments."""

START_AGAIN_AFTER: Final = 1.0
"""The daemon that held the lock may just be going: a client that met it and finds nobody listening after
this long starts one again."""

SLOW_ANSWER: Final = 0.25
"""`doctor` calls an answer slow from here: a hundred times the usual, and already felt by people."""

HOLD_LOOKS_AGAIN: Final = 0.5
"""`hold` looks again this often while the daemon is away: its claim cannot be given to another meanwhile."""

GUARD_WITHIN: Final = 0.25
"""What an agent's edit waits for the guard's word, and its start for the context: felt, but not long; after
that the edit goes on as if there were no guard."""

MINUTE: Final = 60
HOUR: Final = 3_600
DAY: Final = 86_400
"""The units in which people read and write spans."""

CENSUS_EVERY: Final = 60.0
CENSUS_FRESH: Final = 5.0
CENSUS_WAITED_FOR: Final = 1.0
"""All processes are looked at once a minute, as a net under the event path, and when somebody asks
who is there and the last look is older than a person's glance. It takes some 20 ms; who asks does not
wait longer than a second for it."""

# --- hooks ---------------------------------------------------------------------------------------

HOOK_WITHIN: Final = 5
"""What an installed hook line may take before the agent ends it, in whole seconds. It takes three
milliseconds; a hung file system must not hold an agent for the default of ten minutes."""

CODEX_HOOK_WITHIN: Final = 3
"""The same for Codex, which allows no more at the end of a session and at an interrupt, and says so on its
terminal when it is asked for more."""

FOREIGN_LOCK_WITHIN: Final = 0.2
"""How long a read of an agent's own database waits for a lock there. It is a hint that comes again."""

TRY_LINE_WITHIN: Final = 10.0
"""How long one trial of a hook line may take before the installer refuses to install it."""

CENSUS_SETTLES: Final = 1.0
"""A process younger than this is left to the next census: between fork and exec a child still looks
like the agent that started it, and an agent's own registry file takes 0.4 to 0.7 s to appear."""

GLIMPSE_AFTER: Final = 0.5
"""How long after a turn's end its transcript is looked at: by then its last lines are written."""

# --- discovery -----------------------------------------------------------------------------------

FOREIGN_WORD_WITHIN: Final = 0.1
"""What an adapter of a foreign package may take to judge what it was given, while the loop waits: ours take
microseconds. One that takes longer costs the loop this once, and is not asked again until it has come back."""

ADAPTER_WITHIN: Final = 2.0
"""What an adapter may take to say what all its processes have open: it reads a few small files, in a
thread. One that takes longer hangs (a dead file system, mostly), and the others go on without it."""

HINT_AFTER: Final = 0.1
"""How long after a change in an agent's directory its processes are looked at: one look for the handful of files
that a start writes at once."""

FOLLOW_AFTER: Final = 0.25
"""How often at most the transcript of a working session is looked at while it grows: sooner than people see, and a
quarter of a thousandth of a core for each session that writes without a pause."""

# --- terminals -----------------------------------------------------------------------------------

TMUX_WITHIN: Final = 2.0
"""How long one question to a tmux server may take. It answers in milliseconds; a stopped one never, and is then
not known rather than without panes."""

TERMINAL_AFTER: Final = 0.2
"""How long after a session was heard of its terminal is looked for: sessions that start together are looked for in
one go, and `ps` is not read faster than that."""

TERMINAL_ASKED_WITHIN: Final = 3.0
"""How long `jump` waits for a fresh look at where a session is, before it goes where it last was: a little longer
than one question to tmux."""

PANE_SETTLES: Final = 0.3
"""A pane whose own process ended is looked at again after this: tmux closes it within milliseconds, or keeps it."""

UNNAMED_AFTER: Final = 60.0
"""An agent names its conversation within a second of its start, unless it waits at its first question; after a minute
somebody should hear of the pane that it sits in."""

LEFTOVERS_FRESH: Final = 5.0
LEFTOVERS_WAITED_FOR: Final = 2.0
"""Panes, worktrees and records are looked at again when somebody asks and the last look is older than a person's
glance; git takes a tenth of a second a checkout, and nobody waits longer than the second for it."""

GIT_WITHIN: Final = 5.0
"""How long git may look at one checkout. A large one takes a second; a file system that hangs is left alone."""

CHECKOUT_WITHIN: Final = 15.0
"""All that git is asked about one checkout: three questions. Git in a mount that hangs cannot even be killed."""

AFTERMATH_WITHIN: Final = 20.0
"""How long panes and records are looked at after a death: some milliseconds, a few seconds where several tmux
servers do not answer, and for ever where an agent's own directory hangs."""

IDLE_LOOKED_AT_EVERY: Final = 30.0
IDLE_NOTICE: Final = 300.0
"""When idle sessions are closed at all, they are looked at this often, and closed five minutes after that was
announced: long enough to say no by typing, short beside the hours that are asked for."""

WINDOW_LOOKED_AT_EVERY: Final = 0.1
"""How often `launch --tmux` looks whether what runs in the new window is known: it takes some 0.2 s."""

# --- leftovers and ending ------------------------------------------------------------------------

DESCENDANTS_AFTER: Final = 0.25
DESCENDANTS_EVERY: Final = 2.0
DESCENDANTS_TOGETHER: Final = 0.05
"""How long after an agent's sign of life its tree is looked at: the tool that a hook tells of has started by then. And
how often at most: fifty agents that report without a pause would else keep a core busy with looking. Those that are
due within a moment of each other are looked at in one go: a thousand timers and threads cost more than the looks."""

CALM_AFTER: Final = 0.05
CALM_ROUNDS: Final = 8
"""What the dead left is looked for when no death came for this long, and after so many such moments in any case: a
thousand killed at once are told first, and one alone is looked after within the blink of an eye."""

END_WITHIN: Final = 3.0
"""How long whoever got SIGTERM is waited for before it is told to be still alive: shells and servers leave within
milliseconds, an agent saves its conversation in one to three seconds."""

KILLED_WITHIN: Final = 5.0
"""After SIGKILL only the kernel's own work is waited for; a process in uninterruptible sleep takes longer, and is
told to be still alive."""

SEARCH_WITHIN: Final = 30.0
SEARCH_WAITED_FOR: Final = 3.0
"""Reading the environments of a thousand processes takes 20 to 40 ms; a process that hangs in the kernel may hold
whoever reads it for ever. Whoever wants to hear what was left waits a little longer than a busy machine takes."""

KILL_AFTER_MOST: Final = 300.0
"""The longest grace before SIGKILL: a person waits for the answer."""
# --- page ----------------------------------------------------------------------------------------

PAGE_CODE_WITHIN: Final = 60.0
"""A link to the page is followed at once, by the browser that `headcount web` opens or by hand; a minute is
enough for a slow browser, and short for whoever finds it in a scrollback."""

PAGE_CREDENTIAL: Final = 86_400.0
"""A tab stays logged in for a day: it is kept open while one works, and the next morning asks for a new link."""

TIMELINE_SPAN: Final = 7_200.0
TIMELINE_MOST: Final = 7 * 86_400.0
"""What a timeline shows unless it is asked for more: the last two hours, what one still has in mind; and the
most that is read for one picture."""

# --- terminal UI ---------------------------------------------------------------------------------

TUI_FRAME: Final = 0.05
"""The terminal UI draws at most this often, however many events come: faster than anybody reads."""

TUI_TICK: Final = 1.0
"""How often the ages on the screen grow: their smallest unit is a second."""

TUI_THAW_AFTER: Final = 4.0
"""The order of the rows is frozen until nobody has moved through them for this long: the time of looking at one
row and deciding to go to the next."""

TUI_ENDED_SHOWN: Final = 60.0
"""A session that ended stays on the screen for a minute: whoever looks up now and then sees the death."""

TUI_ASK_AFTER: Final = 0.08
"""What lies behind a row is asked for when the cursor has stood on it this long: not for the rows it flies over."""

TUI_LOOK_AGAIN: Final = 30.0
"""Leftovers, claims and the time waited today are looked at again after this long without an event of theirs."""

TUI_STOP_AGAIN_WITHIN: Final = 3.0
"""The second press of `s` must come this soon: later it is a new first press, not a yes that was forgotten."""

TUI_SAID_FOR: Final = 8.0
"""What came of a key stands in the bottom line this long: a sentence and the command in it can be read."""

TUI_VERB_WITHIN: Final = 20.0
"""A verb that the terminal UI runs (`stop` waits for the process to end) is given up after this long."""

TUI_RECONNECT_MOST: Final = 2.0
"""A terminal UI without its daemon tries again ever slower, up to this: it is back before anybody looked up."""

# --- notifications -------------------------------------------------------------------------------

LONG_TURN: Final = 120.0
"""A finished turn is told of when it took at least two minutes: by then one looks elsewhere."""

NOTICE_FRESH: Final = 600.0
"""What happened while headcount was away and is older than this is not told of: by then it is history."""

NOTICE_GATHER: Final = 0.3
"""Notices are gathered for this long and sent as one: a reboot of tmux ends ten
agents at once."""

NOTICE_WITHIN: Final = 10.0
"""A notification program that takes longer is ended, and its notices count as not delivered."""

GLANCE_WITHIN: Final = 0.5
"""A tmux server that does not say within this what is on its screen is left alone, and the notice is sent."""

SEGMENT_AFTER: Final = 0.25
"""The tmux segment is pushed this long after the first change: many changes of one moment are one push."""

STATUSLINE_WITHIN: Final = 0.2
"""A prompt waits no longer than this for its line; then it has none."""

# --- MCP, service, doctor ------------------------------------------------------------------------

MCP_WAIT: Final = 45.0
MCP_WAIT_MOST: Final = 600.0
"""`wait_for_claim` waits for the first unless it is asked otherwise, and never for longer than the second: several
clients give a tool call up after 60 s, and whoever waited ten minutes should look again whether it still wants it."""

OTHER_PROGRAM_WITHIN: Final = 30.0
"""An agent's own command (`claude mcp add-json`) or `systemctl` is given up after this: both take a second, and the
start of a service with thousands of sessions to prove a few."""

SERVICE_WATCHDOG: Final = 60
SERVICE_RESTART_AFTER: Final = 1
SERVICE_GIVEN_UP_WITHIN: Final = 60
"""systemd ends a daemon that was silent for the first, twice what the daemon's own watchdog allows, so that it only
acts when that is stuck, too; a daemon that failed is started again after the second, soon and not in a spin; one
that failed five times within the third is broken, and is left alone."""

HOOK_COST_PROMISED: Final = 0.005
"""What being watched may cost an agent per event (G7); `doctor` measures it on the machine it runs on."""

# --- tokens --------------------------------------------------------------------------------------

TOKEN_CEILING: Final = 86_400.0
"""A token whose process cannot be asked any more is good for a day after it was last seen alive; one that
is over is remembered as long, so that whoever offers it hears why."""

TOKEN_RENEW_AFTER: Final = 3_600.0
"""A living process's token is renewed at most once an hour: often enough for a ceiling of a day, and a
question costs no write."""

# --- fleet ---------------------------------------------------------------------------------------

FLEET_TTL: Final = 30.0
FLEET_RENEW_EVERY: Final = 10.0
"""A host's lease in the shared database, and how often it is renewed: two renewals may fail before anybody
doubts it, and a machine that is gone is doubted within half a minute."""

FLEET_LOCK_DELAY: Final = 15.0
"""How long after the end of a host's lease its claims stay closed to others: longer than any answer of that
host can be on its way, so that nobody still acts on one."""

FLEET_CALL_WITHIN: Final = 4.0
"""One transaction with the shared database. It takes milliseconds; a client waits for us five seconds, and
should hear from us why it gets no answer."""

FLEET_IDLE_WITHIN: Final = 8.0
"""After this long the database itself ends a transaction of ours of which nothing is heard: a host that is
cut off in the middle of one must not keep rows locked for the others."""

FLEET_REREAD_EVERY: Final = 2.0
"""Whoever waits for a shared item looks again this often. A notification comes in milliseconds; behind a pooler
it may never come, and this is the net."""

FLEET_ROSTER_EVERY: Final = 1.0
"""Changed sessions are sent to the shared database at most this often: others look at them with human eyes."""

FLEET_RETRY_FIRST: Final = 0.25
FLEET_RETRY_MOST: Final = 5.0
"""The shared database is tried again soon, then ever slower: half of a lease's renewal, so that a short
outage costs no lease."""

FLEET_FORGET_AFTER: Final = 7 * 86_400.0
"""A host that was away for a week leaves the list of hosts, if it holds nothing: machines come and go."""

HOST_WITHIN: Final = 8.0
"""How long another host's answer over ssh is waited for: a handshake over a slow line takes two seconds."""

HOST_RETRY_EVERY: Final = 5.0
"""How often `watch --host` tries a host again that does not answer."""
