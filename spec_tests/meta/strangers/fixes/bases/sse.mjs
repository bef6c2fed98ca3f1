// Server-sent events, as the standard says: lines end with CR, LF or CRLF, several `data` lines are one event.
export async function* events(body) {
  const decoder = new TextDecoder('utf-8');
  let rest = '';
  let data = [];
  const take = function* (last) {
    for (;;) {
      const end = /\r\n|\n|\r/.exec(rest);
      if (!end || (!last && end[0] === '\r' && end.index === rest.length - 1)) return;
      const line = rest.slice(0, end.index);
      rest = rest.slice(end.index + end[0].length);
      if (line === '') {
        if (data.length) yield data.join('\n');
        data = [];
        continue;
      }
      const colon = line.indexOf(':');
      const name = colon < 0 ? line : line.slice(0, colon);
      const content = colon < 0 ? '' : line.slice(colon + 1);
      if (name === 'data') data.push(content.startsWith(' ') ? content.slice(1) : content);
    }
  };
  for await (const piece of body) {
    rest += decoder.decode(piece, { stream: true });
    yield* take(false);
  }
  yield* take(true);
}
