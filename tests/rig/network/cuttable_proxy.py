"""A line that can be cut: a TCP proxy on loopback, in front of a server.

Rules of this file
  1. Cut cleanly: both ends see the connection close, and new ones are refused by being closed.
  2. Cut silently: everything is accepted and nothing is passed on, as by a switch that lost its power. What was
     swallowed is passed on when the line is whole again, as TCP would send it again.
  3. It can be told to go silent by itself at a certain word, so that a test strikes at one moment and no other.
"""

import contextlib
import selectors
import socket
import threading

WHOLE, CLEAN, SILENT = "whole", "clean", "silent"
PIECE = 65_536


class Proxy:
    host = "127.0.0.1"

    def __init__(self, port: int) -> None:
        self._to = port
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = int(self._listener.getsockname()[1])
        self._state = WHOLE
        self._pairs: dict[socket.socket, socket.socket] = {}
        self._kept: dict[socket.socket, bytes] = {}  # to whom -> what was swallowed
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._reader, self._writer = socket.socketpair()
        self._selector.register(self._reader, selectors.EVENT_READ)
        self._lock = threading.Lock()
        self._closing = False
        self._at = b""
        self.struck = threading.Event()  # the word came
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def __enter__(self) -> "Proxy":
        return self

    def __exit__(self, *_: object) -> None:
        self._closing = True
        with contextlib.suppress(OSError):  # the thread may have seen it by itself
            self._writer.send(b"x")
        self._thread.join(10)

    def cut(self, how: str) -> None:
        with self._lock:
            self._state = how
        self._writer.send(b"x")

    def mend(self) -> None:
        self.cut(WHOLE)

    def silent_at(self, word: bytes) -> None:
        """The piece that holds that word is the first to be swallowed."""
        self.struck.clear()
        self._at = word

    # --- in the thread -------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._closing:
            for key, _ in self._selector.select():
                if key.fileobj is self._reader:
                    self._reader.recv(PIECE)
                    self._changed()
                elif key.fileobj is self._listener:
                    self._accept()
                else:
                    self._pass_on(key.fileobj)
        for each in [*self._pairs, self._listener, self._reader, self._writer]:
            each.close()
        self._selector.close()

    def _changed(self) -> None:
        if self._state == CLEAN:
            for each in list(self._pairs):
                self._drop(each)
        if self._state == WHOLE:
            for to, data in list(self._kept.items()):
                self._kept.pop(to, None)
                self._send(to, data)

    def _accept(self) -> None:
        near, _ = self._listener.accept()
        if self._state == CLEAN:
            near.close()
            return
        far = socket.socket()
        try:
            far.connect(("127.0.0.1", self._to))
        except OSError:
            near.close()
            far.close()
            return
        for one, other in ((near, far), (far, near)):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._pairs[one] = other
            self._selector.register(one, selectors.EVENT_READ)

    def _pass_on(self, one: socket.socket) -> None:
        other = self._pairs.get(one)
        if other is None:
            return
        try:
            data = one.recv(PIECE)
        except OSError:
            data = b""
        if self._at and self._at in data:
            self._at, self._state = b"", SILENT
            self.struck.set()
        if not data:
            if self._state == SILENT:  # the other end cannot hear that either
                with contextlib.suppress(KeyError, ValueError):
                    self._selector.unregister(one)
                self._kept.setdefault(other, b"")
            else:
                self._drop(one)
        elif self._state == SILENT:
            self._kept[other] = self._kept.get(other, b"") + data
        else:
            self._send(other, data)

    def _send(self, to: socket.socket, data: bytes) -> None:
        try:
            to.sendall(data)
        except OSError:
            self._drop(to)
            return
        back = self._pairs.get(to)
        if back is not None and not self._is_watched(back):  # it had closed meanwhile
            self._drop(to)

    def _is_watched(self, one: socket.socket) -> bool:
        try:
            self._selector.get_key(one)
        except (KeyError, ValueError):
            return False
        return True

    def _drop(self, one: socket.socket) -> None:
        for each in (one, self._pairs.get(one)):
            if each is None:
                continue
            self._pairs.pop(each, None)
            self._kept.pop(each, None)
            with contextlib.suppress(KeyError, ValueError):
                self._selector.unregister(each)
            each.close()
