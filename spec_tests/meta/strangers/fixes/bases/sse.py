"""Server-sent events, as the standard says: lines end with CR, LF or CRLF, several `data` lines are one event."""

import codecs
import re

LINE_END = re.compile(r"\r\n|\n|\r")


class Events:
    """Takes bytes as they come and gives the data of each whole event."""

    def __init__(self):
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.rest = ""
        self.data = []
        self.begun = False

    def feed(self, piece):
        text = self.decoder.decode(piece)
        if not self.begun and text:
            self.begun = True
            text = text.removeprefix("\ufeff")
        self.rest += text
        while (end := LINE_END.search(self.rest)) and not (end.group() == "\r" and end.end() == len(self.rest)):
            line, self.rest = self.rest[: end.start()], self.rest[end.end() :]
            yield from self.line(line)

    def finish(self):
        """A carriage return at the very end was a line end after all."""
        if self.rest.endswith("\r"):
            line, self.rest = self.rest[:-1], ""
            yield from self.line(line)

    def line(self, line):
        if not line:
            if self.data:
                yield "\n".join(self.data)
            self.data = []
            return
        name, _, content = line.partition(":")
        if name == "data":
            self.data.append(content.removeprefix(" "))
